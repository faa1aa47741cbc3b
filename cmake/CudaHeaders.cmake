# <cuda.h>, <cudaTypedefs.h> and <nvrtc.h>: from an installed toolkit, or from NVIDIA's wheels that set-up
# has put into the project's folder. CUPRUM_CUDA_INCLUDE overrides both.
find_path(CUPRUM_CUDA_INCLUDE cudaTypedefs.h
  HINTS ${PROJECT_SOURCE_DIR}/.deps/cuda/include
  PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
  PATH_SUFFIXES include
  DOC "Folder of cuda.h")
if(NOT CUPRUM_CUDA_INCLUDE)
  message(FATAL_ERROR "NVIDIA's headers were not found: run ./tour, which fetches them, or pass -DCUPRUM_CUDA_INCLUDE=/folder/of/cuda.h")
endif()
add_library(cuprum_cuda_headers INTERFACE)
target_include_directories(cuprum_cuda_headers SYSTEM INTERFACE ${CUPRUM_CUDA_INCLUDE})

# The toolkit's root: tests find NVRTC and its like there.
get_filename_component(CUPRUM_CUDA_ROOT ${CUPRUM_CUDA_INCLUDE} DIRECTORY)
