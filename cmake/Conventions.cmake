# How every target of the project is built: C++20, many warnings, hidden visibility. Warnings are errors in the project's
# own builds (CMakePresets.json); those of a compiler that is not known yet should keep nobody from installing it.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CUPRUM_CCACHE ccache)
  if(CUPRUM_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${CUPRUM_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CUPRUM_CCACHE})
  endif()
endif()

# The build tree mirrors the installed one, so that libcuprum finds softgpu the same way in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CUPRUM_SOFTGPU_SUBDIR cuprum/softgpu)  # under lib/

set(_cuprum_compile_options -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion
                            -Wno-missing-field-initializers)
if(CUPRUM_WARNINGS_ARE_ERRORS)
  list(APPEND _cuprum_compile_options -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND _cuprum_compile_options -Wno-restrict)  # g++ 12 sees overlaps in std::string's operator+ that are none
  if(CUPRUM_SANITIZE)
    list(APPEND _cuprum_compile_options -Wno-maybe-uninitialized)  # what sanitizers add hides from it what is set
  endif()
endif()
set(_cuprum_link_options)
if(CUPRUM_SANITIZE STREQUAL "address")
  # Null pointers and what is behind the end of an object AddressSanitizer finds as well, and the checks take a quarter of the compiler's time.
  list(APPEND _cuprum_compile_options -fsanitize=address,undefined -fno-sanitize=vptr,null,object-size
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  list(APPEND _cuprum_link_options -fsanitize=address,undefined)
elseif(CUPRUM_SANITIZE STREQUAL "thread")
  list(APPEND _cuprum_compile_options -fsanitize=thread -fno-omit-frame-pointer)
  list(APPEND _cuprum_link_options -fsanitize=thread)
elseif(NOT CUPRUM_SANITIZE STREQUAL "")
  message(FATAL_ERROR "CUPRUM_SANITIZE is '${CUPRUM_SANITIZE}'; it can be address, thread or empty")
endif()

# The plain build shows that every file of the libraries includes what it uses, as tools/tidy.sh does; the tests, the sanitizers'
# builds and those from scratch save time: they compile several files as one. So a library has no two helpers of the same name.
if(NOT DEFINED CMAKE_DISABLE_PRECOMPILE_HEADERS AND NOT CUPRUM_SANITIZE AND NOT CUPRUM_FROM_SCRATCH)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# cuprum_library(NAME SOURCES... [LINK libs...] [PRECOMPILE headers...]): a static part of one of the two shared libraries.
function(cuprum_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRECOMPILE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_precompile_headers(${name} PRIVATE ${arg_PRECOMPILE})
  cuprum_conventions(${name})
  cuprum_several_files_as_one(${name})
endfunction()

# In the builds that nobody goes on with.
function(cuprum_several_files_as_one name)
  if(CUPRUM_SANITIZE OR CUPRUM_FROM_SCRATCH)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    cuprum_doubts_of_gcc(${name})
  endif()
endfunction()

# What g++ 12 says of several files in one, and of precompiled ones: a type is used in one of them only; strings are too long, which are not.
function(cuprum_doubts_of_gcc name)
  target_compile_options(${name} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-stringop-overflow;-Wno-array-bounds>")
endfunction()

function(cuprum_conventions name)
  target_compile_options(${name} PRIVATE ${_cuprum_compile_options})
  target_link_options(${name} PRIVATE ${_cuprum_link_options})
endfunction()
