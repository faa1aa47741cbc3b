# <dlpack/dlpack.h>, 1.1 or newer, to build the library: users of the installed library do without. Debian 12 has version
# 0.6, which knows no versioned tensors, so set-up takes it from a PyPI package into the project's folder.
# CUPRUM_DLPACK_INCLUDE overrides that.
find_path(CUPRUM_DLPACK_INCLUDE dlpack/dlpack.h HINTS ${PROJECT_SOURCE_DIR}/.deps/dlpack/include
  DOC "Folder of dlpack/dlpack.h")
if(NOT CUPRUM_DLPACK_INCLUDE)
  message(FATAL_ERROR "DLPack's header was not found: run ./tour, which fetches it, or pass -DCUPRUM_DLPACK_INCLUDE=/folder (the one that has dlpack/dlpack.h, 1.1 or newer)")
endif()
add_library(cuprum_dlpack_header INTERFACE)
target_include_directories(cuprum_dlpack_header SYSTEM INTERFACE ${CUPRUM_DLPACK_INCLUDE})
