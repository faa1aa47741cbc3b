# Which interface libcuprum has: in its SONAME, in the version of its symbols and in their names (CUPRUM_ABI). A program
# that was compiled for another one does not start. Before 1.0 a minor version may change it.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(CUPRUM_ABI_VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
  set(CUPRUM_ABI_VERSION ${PROJECT_VERSION_MAJOR})
endif()
string(REPLACE . _ CUPRUM_ABI_NAMESPACE v${CUPRUM_ABI_VERSION})

file(STRINGS ${PROJECT_SOURCE_DIR}/include/cuprum/detail/export.hpp _abi REGEX "^#define CUPRUM_ABI ")
if(NOT _abi STREQUAL "#define CUPRUM_ABI ${CUPRUM_ABI_NAMESPACE}")
  message(FATAL_ERROR "include/cuprum/detail/export.hpp says '${_abi}'; version ${PROJECT_VERSION} needs '#define CUPRUM_ABI ${CUPRUM_ABI_NAMESPACE}'")
endif()
