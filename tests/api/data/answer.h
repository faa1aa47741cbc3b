// Included by a kernel of program_test.cpp: found by include_path, and finds CUDA's own headers.
#include <cuda_fp16.h>
#ifdef WITH_TWO
  #define ANSWER (FORTY + 2)
#endif
using Half = __half;
