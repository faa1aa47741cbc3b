// A host object with relocatable device code in it, laid out as nvcc -rdc=true does: a fatbin with one entry of PTX,
//   extern "C" __device__ int from_object(int x) { return x + 30; }
// and the structure that points to it.
#include <cstdint>

namespace {

#define FUNCTION                                                        \
  ".version 7.0\n.target sm_70\n.address_size 64\n"                     \
  ".visible .func (.param .b32 result) from_object(.param .b32 x)\n{\n" \
  "  .reg .b32 %r<3>;\n"                                                \
  "  ld.param.b32 %r1, [x];\n"                                          \
  "  add.s32 %r2, %r1, 30;\n"                                           \
  "  st.param.b32 [result], %r2;\n"                                     \
  "  ret;\n}\n"

struct Fatbin {
  std::uint32_t magic = 0xba55ed50;
  std::uint16_t version = 1, header_bytes = 16;
  std::uint64_t bytes = sizeof(Fatbin) - 16;
  // The entry; its offsets count from here.
  std::uint16_t kind = 1, entry_version = 0x101;
  std::uint32_t entry_header_bytes = 96;
  std::uint64_t payload_bytes = sizeof(Fatbin::ptx);
  std::uint32_t compressed_bytes = 0, options_offset = 64;
  std::uint16_t ptx_minor = 0, ptx_major = 7;
  std::uint32_t architecture = 70, identifier_offset = 0, identifier_bytes = 0;
  std::uint64_t flags = 0x11, scramble_key = 0, decompressed_bytes = 0;
  std::uint32_t options_text_offset = 72, options_bytes = 16;
  char options[24] = "--compile-only  ";
  alignas(8) char ptx[(sizeof(FUNCTION) + 7) / 8 * 8] = FUNCTION;
};

struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* fatbin = nullptr;
  const void* unused = nullptr;
};

[[gnu::section("__nv_relfatbin"), gnu::used]] constinit const Fatbin fatbin;
[[gnu::section(".nvFatBinSegment"), gnu::used]] constinit Wrapper wrapper = {.fatbin = &fatbin};

}  // namespace
