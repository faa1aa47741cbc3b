/* A program that knows nothing but <cuda.h>: opens the driver whose path it is given, runs a kernel, checks the result.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

static const char kPtx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry square(.param .u64 data) {\n"
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [data];\n  cvta.to.global.u64 %rd1, %rd1;\n"
    "  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd2, %r1, 4;\n  add.s64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r2, [%rd3];\n  mul.lo.s32 %r3, %r2, %r2;\n  st.global.u32 [%rd3], %r3;\n"
    "  ret;\n}\n";

static void* library;

static void* entry(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s is not exported\n", name);
  return found;
}

static int failed(CUresult result, const char* call) {
  CUresult (*get_name)(CUresult, const char**);
  const char* name = "an unknown error";
  if (result == CUDA_SUCCESS) return 0;
  *(void**)&get_name = entry("cuGetErrorName");
  if (get_name != NULL) get_name(result, &name);
  fprintf(stderr, "%s: %s\n", call, name);
  return 1;
}

typedef CUresult (*Init)(unsigned);
typedef CUresult (*DeviceGet)(CUdevice*, int);
typedef CUresult (*DeviceGetName)(char*, int, CUdevice);
typedef CUresult (*PrimaryCtxRetain)(CUcontext*, CUdevice);
typedef CUresult (*CtxSetCurrent)(CUcontext);
typedef CUresult (*ModuleLoadData)(CUmodule*, const void*);
typedef CUresult (*ModuleGetFunction)(CUfunction*, CUmodule, const char*);
typedef CUresult (*MemAlloc)(CUdeviceptr*, size_t);
typedef CUresult (*MemFree)(CUdeviceptr);
typedef CUresult (*MemcpyHtoD)(CUdeviceptr, const void*, size_t);
typedef CUresult (*MemcpyDtoH)(void*, CUdeviceptr, size_t);
typedef CUresult (*LaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 CUstream, void**, void**);
typedef CUresult (*CtxSynchronize)(void);
typedef CUresult (*GetProcAddress)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

/* POSIX wants functions from dlsym to be taken this way. */
#define LOAD(type, variable, name)  \
  type variable;                    \
  *(void**)&variable = entry(name); \
  if (variable == NULL) return 1
#define TRY(call) \
  if (failed(call, #call)) return 1

static int run(void) {
  LOAD(Init, init, "cuInit");
  LOAD(DeviceGet, get_device, "cuDeviceGet");
  LOAD(DeviceGetName, get_name, "cuDeviceGetName");
  LOAD(PrimaryCtxRetain, retain, "cuDevicePrimaryCtxRetain");
  LOAD(CtxSetCurrent, set_current, "cuCtxSetCurrent");
  LOAD(ModuleLoadData, load, "cuModuleLoadData");
  LOAD(ModuleGetFunction, get_function, "cuModuleGetFunction");
  LOAD(MemAlloc, allocate, "cuMemAlloc_v2");
  LOAD(MemFree, release, "cuMemFree_v2");
  LOAD(MemcpyHtoD, copy_in, "cuMemcpyHtoD_v2");
  LOAD(MemcpyDtoH, copy_out, "cuMemcpyDtoH_v2");
  LOAD(LaunchKernel, launch, "cuLaunchKernel");
  LOAD(CtxSynchronize, synchronize, "cuCtxSynchronize");
  LOAD(GetProcAddress, get_address, "cuGetProcAddress_v2");

  /* Null pointers are refused. */
  void* address = NULL;
  if (get_address(NULL, &address, 12000, 0, NULL) != CUDA_ERROR_INVALID_VALUE ||
      get_address("cuInit", NULL, 12000, 0, NULL) != CUDA_ERROR_INVALID_VALUE) {
    fprintf(stderr, "cuGetProcAddress took a null pointer\n");
    return 1;
  }

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction square;
  CUdeviceptr data;
  char name[128];
  int values[64];
  void* parameters[] = {&data};

  TRY(init(0));
  TRY(get_device(&device, 0));
  TRY(get_name(name, sizeof name, device));
  TRY(retain(&context, device));
  TRY(set_current(context));
  TRY(load(&module, kPtx));
  TRY(get_function(&square, module, "square"));
  TRY(allocate(&data, sizeof values));
  for (int i = 0; i < 64; ++i) values[i] = i;
  TRY(copy_in(data, values, sizeof values));
  TRY(launch(square, 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
  TRY(synchronize());
  TRY(copy_out(values, data, sizeof values));
  TRY(release(data));
  for (int i = 0; i < 64; ++i) {
    if (values[i] == i * i) continue;
    fprintf(stderr, "square of %d is %d\n", i, values[i]);
    return 1;
  }
  printf("squared 64 numbers on %s\n", name);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: c_client PATH_OF_LIBCUDA\n");
    return 2;
  }
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return run();
}
