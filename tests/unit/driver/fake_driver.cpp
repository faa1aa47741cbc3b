// A CUDA driver without devices' work: just enough to be found, asked and refused. Environment variables say how it
// behaves, so that tests can have drivers that are old, without devices, or broken.
#include <cudaTypedefs.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

int setting(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

std::atomic<int> initialisations{0};

// As long as FAKE_DRIVER_INIT_PIPE names a pipe, writes to it that it was called, and waits for good.
CUresult init(unsigned) {
  ++initialisations;
  if (const int pipe = setting("FAKE_DRIVER_INIT_PIPE", -1); pipe >= 0) {
    static_cast<void>(!write(pipe, "!", 1));
    pause();
  }
  return static_cast<CUresult>(setting("FAKE_DRIVER_INIT", CUDA_SUCCESS));
}

CUresult get_version(int* version) {
  *version = setting("FAKE_DRIVER_VERSION", 12020);
  return CUDA_SUCCESS;
}

CUresult get_count(int* count) {
  *count = setting("FAKE_DRIVER_DEVICES", 1);
  return CUDA_SUCCESS;
}

CUresult get_error_name(CUresult code, const char** name) {
  *name = code == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}

CUresult get_error_string(CUresult, const char** text) {
  *text = "the fake driver was told to say so";
  return CUDA_SUCCESS;
}

// Stands for all the rest: tells how often cuInit was called.
CUresult get_context_flags(unsigned* flags) {
  *flags = static_cast<unsigned>(initialisations.load());
  return CUDA_SUCCESS;
}

struct Function {
  const char* name;
  void* address;
};

const Function functions[] = {
    {"cuInit", reinterpret_cast<void*>(init)},
    {"cuDriverGetVersion", reinterpret_cast<void*>(get_version)},
    {"cuDeviceGetCount", reinterpret_cast<void*>(get_count)},
    {"cuGetErrorName", reinterpret_cast<void*>(get_error_name)},
    {"cuGetErrorString", reinterpret_cast<void*>(get_error_string)},
    {"cuCtxGetFlags", reinterpret_cast<void*>(get_context_flags)},
    // A driver that is asked for a newer version than it has may answer with what it has: see the test.
    {"cuKernelGetParamInfo", reinterpret_cast<void*>(get_version)},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) CUresult cuDriverGetVersion(int* version) {
  return get_version(version);
}

extern "C" __attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(const char* symbol, void** function, int,
                                                                               cuuint64_t,
                                                                               CUdriverProcAddressQueryResult* found) {
  *function = nullptr;
  for (const Function& known : functions) {
    if (std::strcmp(known.name, symbol) == 0) *function = known.address;
  }
  *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
