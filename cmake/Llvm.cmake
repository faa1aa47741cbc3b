# LLVM 19, linked statically with its symbols hidden; only the host's target.
find_package(LLVM 19.1 CONFIG HINTS /usr/lib/llvm-19 QUIET)
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM 19 was not found: install llvm-19-dev, or configure with -DCUPRUM_SOFTGPU=OFF")
endif()
add_library(cuprum_llvm INTERFACE)
target_include_directories(cuprum_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(cuprum_llvm INTERFACE ${_llvm_definitions})
llvm_map_components_to_libnames(_llvm_libraries core support analysis passes orcjit native nativecodegen coroutines irreader)
target_link_libraries(cuprum_llvm INTERFACE ${_llvm_libraries})
target_link_options(cuprum_llvm INTERFACE -Wl,--as-needed)  # LLVM's CMake files name libz3 and others that we never reach
