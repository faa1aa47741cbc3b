# cmake --install: the headers, libcuprum, softgpu in a folder of its own, and how CMake and pkg-config find them.
include(CMakePackageConfigHelpers)

set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cuprum)
set(_softgpu_dir ${CMAKE_INSTALL_LIBDIR}/${CUPRUM_SOFTGPU_SUBDIR})

install(TARGETS cuprum EXPORT cuprum-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cuprum DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET softgpu)
  install(TARGETS softgpu softgpu_nvml softgpu_forward LIBRARY DESTINATION ${_softgpu_dir})
  install(FILES $<TARGET_FILE_DIR:softgpu>/libcuda.so DESTINATION ${_softgpu_dir})  # a link
endif()

if(TARGET cuprum_command)
  install(TARGETS cuprum_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/cuprum.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

install(EXPORT cuprum-targets NAMESPACE cuprum:: DESTINATION ${_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cuprum-config.cmake.in ${PROJECT_BINARY_DIR}/cuprum-config.cmake
  INSTALL_DESTINATION ${_package_dir}
  PATH_VARS _softgpu_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cuprum-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cuprum-config.cmake ${PROJECT_BINARY_DIR}/cuprum-config-version.cmake
  DESTINATION ${_package_dir})

file(RELATIVE_PATH _pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/cuprum.pc.in ${PROJECT_BINARY_DIR}/cuprum.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cuprum.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# ---- cpack -G DEB: one package, for the Debian or Ubuntu that it is built on ----
set(CPACK_PACKAGE_NAME cuprum)
set(CPACK_PACKAGE_VENDOR "The Cuprum project")
set(CPACK_PACKAGE_CONTACT "The Cuprum project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # asks what the libraries were linked with
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")
include(CPack)
