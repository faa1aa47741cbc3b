// A CUDA program that compiles to machine code, as others write them. How it gets at the libraries is decided when it
// is compiled: LINKED to NVRTC, nvJitLink and the driver, or with them OPENED, by the names that its arguments have.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is used of the libraries, as NVIDIA's headers declare it.
typedef void *nvrtcProgram, *nvJitLinkHandle, *CUcontext, *CUmodule, *CUfunction, *CUstream;
typedef unsigned long long CUdeviceptr;

#define FUNCTIONS(X)                                                                                                   \
  X(nvrtc, nvrtcCreateProgram, (nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(nvrtc, nvrtcCompileProgram, (nvrtcProgram, int, const char* const*))                                               \
  X(nvrtc, nvrtcGetCUBINSize, (nvrtcProgram, size_t*))                                                                 \
  X(nvrtc, nvrtcGetCUBIN, (nvrtcProgram, char*))                                                                       \
  X(nvrtc, nvrtcGetPTXSize, (nvrtcProgram, size_t*))                                                                   \
  X(nvrtc, nvrtcGetPTX, (nvrtcProgram, char*))                                                                         \
  X(nvrtc, nvrtcGetLTOIRSize, (nvrtcProgram, size_t*))                                                                 \
  X(nvrtc, nvrtcGetLTOIR, (nvrtcProgram, char*))                                                                       \
  X(nvrtc, nvrtcDestroyProgram, (nvrtcProgram*))                                                                       \
  X(nvjitlink, __nvJitLinkCreate_13_0, (nvJitLinkHandle*, unsigned, const char**))                                     \
  X(nvjitlink, __nvJitLinkAddData_13_0, (nvJitLinkHandle, int, const void*, size_t, const char*))                      \
  X(nvjitlink, __nvJitLinkAddFile_13_0, (nvJitLinkHandle, int, const char*))                                           \
  X(nvjitlink, __nvJitLinkComplete_13_0, (nvJitLinkHandle))                                                            \
  X(nvjitlink, __nvJitLinkGetLinkedCubinSize_13_0, (nvJitLinkHandle, size_t*))                                         \
  X(nvjitlink, __nvJitLinkGetLinkedCubin_13_0, (nvJitLinkHandle, void*))                                               \
  X(nvjitlink, __nvJitLinkDestroy_13_0, (nvJitLinkHandle*))                                                            \
  X(cuda, cuInit, (unsigned))                                                                                          \
  X(cuda, cuDevicePrimaryCtxRetain, (CUcontext*, int))                                                                 \
  X(cuda, cuCtxSetCurrent, (CUcontext))                                                                                \
  X(cuda, cuModuleLoadData, (CUmodule*, const void*))                                                                  \
  X(cuda, cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                                                   \
  X(cuda, cuMemAlloc_v2, (CUdeviceptr*, size_t))                                                                       \
  X(cuda, cuMemcpyDtoH_v2, (void*, CUdeviceptr, size_t))                                                               \
  X(cuda, cuLaunchKernel,                                                                                              \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**))

#ifdef LINKED
  #define DECLARE(library, name, parameters) int name parameters;
FUNCTIONS(DECLARE)
static void open_libraries(char** names) { (void)names; }
#else
  #define DECLARE(library, name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

static void* open_library(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) exit((fprintf(stderr, "%s\n", dlerror()), 3));
  return library;
}

static void open_libraries(char** names) {
  void* nvrtc = open_library(names[0]);
  void* nvjitlink = open_library(names[1]);
  void* cuda = open_library(names[2]);
  #define LOOK_UP(library, name, parameters) *(void**)&name = dlsym(library, #name);
  FUNCTIONS(LOOK_UP)
}
#endif

#define CHECK(call)                                       \
  do {                                                    \
    int code = (call);                                    \
    if (code) exit((printf("%s: %d\n", #call, code), 1)); \
  } while (0)

typedef struct {
  void* data;
  size_t size;
} Image;

// The numbers are nvJitLink's.
enum Kind { cubin = 1, ptx = 2, ltoir = 3 };

static Image compile(const char* source, const char* option, enum Kind kind) {
  const char* options[] = {"-arch=sm_90", option};
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, "client.cu", 0, NULL, NULL));
  CHECK(nvrtcCompileProgram(program, 2, options));
  Image image;
  CHECK((kind == cubin ? nvrtcGetCUBINSize : kind == ptx ? nvrtcGetPTXSize : nvrtcGetLTOIRSize)(program, &image.size));
  image.data = malloc(image.size);
  CHECK((kind == cubin ? nvrtcGetCUBIN : kind == ptx ? nvrtcGetPTX : nvrtcGetLTOIR)(program, image.data));
  CHECK(nvrtcDestroyProgram(&program));
  return image;
}

static Image link_parts(Image first, enum Kind first_kind, Image second, enum Kind second_kind) {
  const char* options[] = {"-arch=sm_90", "-lto"};
  nvJitLinkHandle link;
  CHECK(__nvJitLinkCreate_13_0(&link, second_kind == ltoir ? 2 : 1, options));
  CHECK(__nvJitLinkAddData_13_0(link, first_kind, first.data, first.size, "first"));
  const char* name = "second";  // the other one goes by way of a file
  FILE* file = fopen(name, "wb");
  if (!file || fwrite(second.data, 1, second.size, file) != second.size || fclose(file)) exit(4);
  CHECK(__nvJitLinkAddFile_13_0(link, second_kind, name));
  CHECK(__nvJitLinkComplete_13_0(link));
  Image image;
  CHECK(__nvJitLinkGetLinkedCubinSize_13_0(link, &image.size));
  image.data = malloc(image.size);
  CHECK(__nvJitLinkGetLinkedCubin_13_0(link, image.data));
  CHECK(__nvJitLinkDestroy_13_0(&link));
  free(first.data);
  free(second.data);
  return image;
}

static Image read_file(const char* name) {
  FILE* file = fopen(name, "rb");
  if (!file) exit((printf("%s can't be read\n", name), 4));
  Image image = {malloc(1 << 20), 0};
  image.size = fread(image.data, 1, 1 << 20, file);
  fclose(file);
  return image;
}

// Launches the kernel `fill` with 32 threads, each of which is to write its square.
static void run(Image image) {
  CUmodule module;
  CUfunction function;
  CUdeviceptr memory;
  int results[32];
  void* arguments[] = {&memory};
  CHECK(cuModuleLoadData(&module, image.data));
  CHECK(cuModuleGetFunction(&function, module, "fill"));
  CHECK(cuMemAlloc_v2(&memory, sizeof results));
  CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuMemcpyDtoH_v2(results, memory, sizeof results));
  for (int i = 0; i < 32; ++i) {
    if (results[i] != i * i) exit((printf("%d squared is %d\n", i, results[i]), 1));
  }
  free(image.data);
}

#ifndef ENTRY
  #define ENTRY main
#endif

// Behind the names of the libraries there may be a file with a kernel.
int ENTRY(int count, char** words) {
  open_libraries(words + 1);
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  if (count > 4) {
    run(read_file(words[4]));
    puts("loaded and run");
    return 0;
  }
  run(compile("extern \"C\" __global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x * threadIdx.x; }",
              "-rdc=false", cubin));
  puts("compiled and run");
  const char* kernel =
      "extern __device__ int square(int);\n"
      "extern \"C\" __global__ void fill(int* data) { data[threadIdx.x] = square(threadIdx.x); }";
  const char* function = "__device__ int square(int i) { return i * i; }";
  run(link_parts(compile(kernel, "-rdc=true", cubin), cubin, compile(function, "-rdc=true", cubin), cubin));
  puts("linked and run");
  // The LTO-IR has no use for its function itself.
  run(link_parts(compile(kernel, "-rdc=true", ptx), ptx, compile(function, "-dlto", ltoir), ltoir));
  puts("optimised and run");
  return 0;
}
