// A driver of CUDA 12.4 with one device. It can say what they are; whatever else is asked of it fails.
#include <stdint.h>
#include <string.h>

static int succeed(void) { return 0; }
static int fail(void) { return 999; }  // CUDA_ERROR_UNKNOWN

int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}

static int get_count(int* count) {
  *count = 1;
  return 0;
}

static int get_name(char* name, int length, int device) {
  (void)device;
  strncpy(name, "made up", (size_t)length);
  return 0;
}

static int get_attribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : 0;  // compute capability 9.0
  return 0;
}

static int get_text(int code, const char** text) {
  (void)code;
  *text = "made up";
  return 0;
}

static void* entry_point(const char* name) {
  const struct {
    const char* name;
    void* function;
  } answers[] = {
      {"cuInit", (void*)(intptr_t)succeed},
      {"cuDeviceGet", (void*)(intptr_t)succeed},
      {"cuDeviceTotalMem", (void*)(intptr_t)succeed},
      {"cuDriverGetVersion", (void*)(intptr_t)cuDriverGetVersion},
      {"cuDeviceGetCount", (void*)(intptr_t)get_count},
      {"cuDeviceGetName", (void*)(intptr_t)get_name},
      {"cuDeviceGetAttribute", (void*)(intptr_t)get_attribute},
      {"cuGetErrorName", (void*)(intptr_t)get_text},
      {"cuGetErrorString", (void*)(intptr_t)get_text},
  };
  for (unsigned i = 0; i < sizeof answers / sizeof *answers; ++i) {
    if (strcmp(answers[i].name, name) == 0) return answers[i].function;
  }
  return (void*)(intptr_t)fail;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  (void)version;
  (void)flags;
  *function = entry_point(name);
  if (status) *status = 0;
  return 0;
}

int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, 0);
}
