// An nvJitLink of CUDA 12.2: all its names carry the version, and nvJitLinkVersion is yet to come.
struct nvJitLink;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int __nvJitLinkCreate_12_2(nvJitLink**, unsigned options, const char* const*) { return options == 0 ? 2 : 0; }
EXPORT int __nvJitLinkDestroy_12_2(nvJitLink**) { return 0; }
