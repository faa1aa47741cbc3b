// Loads and stores in all state spaces, of all widths, and vectors.
#include <numeric>

#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using Memory = PtxTest;

std::vector<std::uint8_t> bytes(std::size_t count) {
  std::vector<std::uint8_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint8_t>(i * 37 + 129);
  return values;
}

// Copies the first half of the array to the second, each thread `width * size` bytes.
void check_copy(const std::string& load, const std::string& save, unsigned size, unsigned width) {
  const unsigned threads = 64, piece = size * width, half = threads * piece;
  const char* names[] = {"%h0, %h1, %h2, %h3", "%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7", "%d0, %d1, %d2, %d3"};
  const std::size_t kind = size <= 2 ? 0 : size == 4 ? 1 : 2;
  std::string registers = names[kind];
  std::size_t end = 0;
  for (unsigned i = 0; i < width; ++i) end = registers.find(',', end + 1);
  registers = registers.substr(0, end);
  if (width > 1) registers = "{" + registers + "}";
  const std::string suffix = (width > 1 ? ".v" + std::to_string(width) : "") + ".b" + std::to_string(8 * size);
  const std::string text = kernel_text(own_element(piece) + load + suffix + " " + registers + ", [%d31];\n" + save +
                                       suffix + " [%d31+" + std::to_string(half) + "], " + registers + ";");
  auto data = bytes(2 * half);
  const auto result = run_kernel(text, data, {.block_x = threads});
  std::copy_n(data.begin(), half, data.begin() + half);
  EXPECT_EQ(result, data) << load << suffix << ", " << save << suffix;
}

TEST_F(Memory, CopiesAllWidths) {
  for (const unsigned size : {1u, 2u, 4u, 8u})
    for (const unsigned width : {1u, 2u, 4u})
      if (size * width <= 16) check_copy("ld.global", "st.global", size, width);
}

// As Triton writes every access of a single value.
// Moves with braces around one value are no PTX; ptxas takes them and moves the low byte.
TEST_F(Memory, CopiesOneValueInBraces) {
  std::vector<U> data(128), expected(128);
  std::iota(data.begin(), data.end(), 1000);
  std::iota(expected.begin(), expected.begin() + 64, 1000);
  std::iota(expected.begin() + 64, expected.end(), 1000);
  const std::string text = kernel_text(
      own_element(4) +
          "ld.global.b32 { %r0 }, [ %d31 + 0 ]; st.shared.b32 [ cells ], { 7 }; st.global.b32 [ %d31 + 256 ], { %r0 };",
      ".shared .align 4 .b8 cells[4];\n");
  EXPECT_EQ(run_kernel(text, data, {.block_x = 64}), expected);
}

TEST_F(Memory, StoresSpecialRegistersInBraces) {
  const std::string text = kernel_text(
      own_element(8) + "mov.u32 %r0, 7; st.global.u32 [%d31], {%tid.x}; st.global.v2.u16 [%d31+4], {%ntid.x, %r0};");
  std::vector<U> expected(128);
  for (U t = 0; t < 64; ++t) {
    expected[2 * t] = t;
    expected[2 * t + 1] = 64 + (7 << 16);
  }
  EXPECT_EQ(run_kernel(text, std::vector<U>(128), {.block_x = 64}), expected);
}

TEST_F(Memory, CopiesWithAllModifiers) {
  for (const char* load : {"ld", "ld.global.nc", "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu",
                           "ld.global.cv", "ld.volatile.global", "ld.relaxed.gpu.global", "ld.acquire.sys.global",
                           "ld.weak.global", "ld.global.L1::evict_last", "ld.global.nc.L1::no_allocate.L2::128B",
                           "ldu.global", "ld.mmio.relaxed.sys.global"})
    check_copy(load, "st.global", 4, 1);
  for (const char* save :
       {"st", "st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt", "st.volatile.global",
        "st.relaxed.cta.global", "st.release.gpu.global", "st.global.L1::no_allocate", "st.mmio.relaxed.sys.global"})
    check_copy("ld.global", save, 4, 1);
}

TEST_F(Memory, ExtendsWhatIsNarrowerThanTheRegister) {
  const auto data = bytes(256);
  const std::string load = "cvt.u64.u32 %d0, %t; shl.b64 %d1, %d0, 2; add.u64 %d1, %data, %d1;\n";
  const auto check = [&](const std::string& type, auto value) {
    const std::string text =
        kernel_text("shl.b32 %r1, %t, 2; cvt.u64.u32 %d1, %r1; add.u64 %d1, %data, %d1; ld.global" + type +
                    " %r0, [%d1]; bar.sync 0; st.global.b32 [%d1], %r0;");
    const auto result = run_kernel(text, data, {.block_x = 64});
    for (std::size_t i = 0; i < 64; ++i) {
      U got, expected = static_cast<U>(value(&data[4 * i]));
      std::memcpy(&got, &result[4 * i], 4);
      EXPECT_EQ(got, expected) << type << " " << i;
    }
  };
  check(".u8", [](const std::uint8_t* p) { return *p; });
  check(".s8", [](const std::uint8_t* p) { return static_cast<int>(static_cast<std::int8_t>(*p)); });
  check(".u16", [](const std::uint8_t* p) { return p[0] | p[1] << 8; });
  check(".s16", [](const std::uint8_t* p) { return static_cast<int>(static_cast<std::int16_t>(p[0] | p[1] << 8)); });
}

TEST_F(Memory, StoresTheLowPartOfWiderRegisters) {
  const auto result = run_threads(
      "mul.lo.u32 %r0, %t, 0x01020304; st.global.u32 [%d31], -1; st.global.u8 [%d31], %r0; st.global.u16 [%d31+2], "
      "%r0;",
      32);
  EXPECT_EQ(result,
            each_thread(32, [](unsigned i) { return (i * 0x01020304 & 0xff) | 0xff00 | (i * 0x01020304) << 16; }));
}

// Lanes of which some are off read and write narrow elements in no order, up to the last one of the array's last page.
void check_narrow_elements(unsigned size) {
  constexpr unsigned threads = 64, half = 65536;
  const std::string bits = std::to_string(8 * size);
  const std::string text = kernel_text(
      "mul.lo.u32 %r0, %t, 37; and.b32 %r0, %r0, 63; sub.u32 %r1, " + std::to_string(half / size - 1) + ", %r0;\n" +
      "mul.wide.u32 %d0, %r1, " + std::to_string(size) + "; add.u64 %d0, %data, %d0;\n" +
      "and.b32 %r2, %r0, 5; setp.eq.u32 %p0, %r2, 1; @%p0 bra DONE;\n" + "ld.global.u" + bits + " %r3, [%d0+" +
      std::to_string(half) + "]; add.u32 %r3, %r3, %t;\n" + "st.global.u" + bits + " [%d0], %r3;\nDONE:");
  auto data = bytes(2 * half);
  const auto result = run_kernel(text, data, {.block_x = threads});
  for (unsigned t = 0; t < threads; ++t) {
    const unsigned n = t * 37 % 64, place = half - size * (n + 1);
    if ((n & 5) == 1) continue;
    U value = 0;
    std::memcpy(&value, &data[half + place], size);
    value += t;
    std::memcpy(&data[place], &value, size);
  }
  EXPECT_EQ(result, data) << size;
}

TEST_F(Memory, NarrowElementsAreAccessedInAnyOrderUnderAMask) {
  check_narrow_elements(1);
  check_narrow_elements(2);
}

// Four lanes write the same byte, others its neighbours.
TEST_F(Memory, OneOfSeveralThreadsWritesAByte) {
  const auto result = run_kernel(
      kernel_text("shr.u32 %r0, %t, 2; xor.b32 %r0, %r0, 5; cvt.u64.u32 %d0, %r0; add.u64 %d0, %data, %d0;\n"
                  "and.b32 %r1, %t, 3; setp.eq.u32 %p0, %r1, 3; add.u32 %r2, %t, 100; @!%p0 st.global.u8 [%d0], %r2;"),
      std::vector<std::uint8_t>(20, 7), {.block_x = 64});
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned first = 100 + 4 * (i ^ 5);
    EXPECT_GE(result[i], first) << i;
    EXPECT_LE(result[i], first + 2) << i;
  }
  for (unsigned i = 16; i < 20; ++i) EXPECT_EQ(result[i], 7) << i;
}

TEST_F(Memory, OfABlockIsShared) {
  const std::string module = ".shared .align 16 .b32 first[64];\n.extern .shared .align 16 .b8 dynamic[];\n";
  const std::string statements =
      own_element() +
      ".shared .align 8 .b64 second[64];\n"
      "shl.b32 %r0, %t, 2; mov.u32 %r1, first; add.u32 %r1, %r1, %r0; st.shared.u32 [%r1], %t;\n"
      "mov.u32 %r2, dynamic; add.u32 %r2, %r2, %r0; add.u32 %r3, %t, 100; st.shared.u32 [%r2], %r3;\n"
      "shl.b32 %r4, %t, 3; mov.u32 %r5, second; add.u32 %r5, %r5, %r4; cvt.u64.u32 %d0, %t; shl.b64 %d0, %d0, 33; "
      "st.shared.u64 [%r5], %d0;\n"
      "bar.sync 0;\n"
      "sub.u32 %r6, 63, %t; shl.b32 %r7, %r6, 2; mov.u32 %r8, first; add.u32 %r8, %r8, %r7; ld.shared.u32 %r9, [%r8];\n"
      "mov.u32 %r10, dynamic; add.u32 %r10, %r10, %r7; ld.shared.u32 %r11, [%r10]; shl.b32 %r7, %r6, 3; mov.u32 %r12, "
      "second; add.u32 %r12, %r12, %r7;\n"
      "ld.shared.v2.u32 {%r13, %r14}, [%r12]; mad.lo.u32 %r9, %r9, 1000, %r11; add.u32 %r9, %r9, %r14;\n" +
      store("%r9");
  const auto result = run_kernel(kernel_text(statements, module), std::vector<U>(128),
                                 {.grid_x = 2, .block_x = 64, .dynamic_shared = 256});
  EXPECT_EQ(result, each_thread(128, [](unsigned i) {
              const unsigned j = 63 - i % 64;
              return j * 1000 + j + 100 + 2 * j;
            }));
}

TEST_F(Memory, OfABlockIsAlignedAsAskedFor) {
  for (const unsigned alignment : {128, 256, 1024}) {
    const std::string declared = ".shared .align " + std::to_string(alignment) + " .b8 cells[40];\n";
    const auto result =
        run_threads("mov.u64 %d0, cells; cvta.shared.u64 %d0, %d0; cvt.u32.u64 %r0, %d0; and.b32 %r0, %r0, " +
                        std::to_string(alignment - 1) + ";" + store("%r0"),
                    64, declared);
    EXPECT_EQ(result, std::vector<std::uint32_t>(64, 0)) << alignment;
  }
}

TEST_F(Memory, OfAThreadIsItsOwn) {
  const auto result = run_threads(
      ".local .align 16 .b32 list[32];\nmov.u64 %d0, list; mov.u32 %r0, 0;\n"
      "FILL: mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1; mad.lo.u32 %r1, %r0, %r0, %t; st.local.u32 [%d1], %r1; "
      "add.u32 %r0, %r0, 1;\n"
      "setp.lt.u32 %p0, %r0, 32; @%p0 bra FILL;\n"
      "mul.wide.u32 %d1, %lane, 4; add.u64 %d1, %d0, %d1; ld.local.u32 %r2, [%d1]; ld.local.v4.u32 {%r3, %r4, %r5, "
      "%r6}, [list+16]; add.u32 %r2, %r2, %r6;\n" +
          store("%r2"),
      96);
  EXPECT_EQ(result, each_thread(96, [](unsigned i) { return (i % 32) * (i % 32) + i + 49 + i; }));
}

TEST_F(Memory, OfConstantsAndGlobalsIsInitialised) {
  const auto result = run_threads(
      "and.b32 %r0, %t, 3; mul.wide.u32 %d0, %r0, 8; mov.u64 %d1, fixed; add.u64 %d1, %d1, %d0; ld.const.u64 %d2, "
      "[%d1]; cvt.u32.u64 %r1, %d2;\n"
      "ld.global.f32 %f0, [number]; cvt.rzi.u32.f32 %r2, %f0; ld.global.u32 %r3, [zero]; ld.global.s8 %r4, [bytes+1]; "
      "ld.const.u16 %r5, [fixed+8];\n"
      "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5;" +
          store("%r1"),
      32,
      ".const .u64 fixed[4] = {10, 20, 30, 40};\n.global .f32 number = 0f42C80000;\n.global .u32 zero;\n.global .b8 "
      "bytes[4] = {1, 255, 3};\n");
  EXPECT_EQ(result, each_thread(32, [](unsigned i) { return 10 * (i % 4 + 1) + 100 + 0 - 1 + 20; }));
}

TEST_F(Memory, OfParametersHoldsStructures) {
  const std::string text =
      std::string(kHeader) +
      ".visible .entry k(.param .u8 small, .param .align 8 .b8 block[24], .param .f64 number, .param .u64 array)\n{\n"
      ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f64 %e<2>; .reg .b16 %h<2>;\n"
      "ld.param.u64 %d0, [array]; ld.param.u8 %h0, [small]; ld.param.v2.u32 {%r0, %r1}, [block+8]; ld.param.u64 %d1, "
      "[block+16]; ld.param.f64 %e0, [number];\n"
      "ld.param.u16 %r2, [block+2];\n"
      "st.global.u8 [%d0], %h0; st.global.v2.u32 [%d0+8], {%r0, %r1}; st.global.u64 [%d0+16], %d1; st.global.f64 "
      "[%d0+24], %e0; st.global.u32 [%d0+32], %r2;\nret;\n}\n";
  conformance::TestModule module(text.c_str());
  CUfunction kernel = module.function("k");
  ASSERT_NE(kernel, nullptr);
  conformance::DeviceMemory memory(64);
  ASSERT_SUCCESS(CU(cuMemsetD8)(memory.get(), 0, 64));
  std::uint8_t small = 200;
  auto block = bytes(24);
  double number = 1.25;
  CUdeviceptr pointer = memory.get();
  void* parameters[] = {&small, block.data(), &number, &pointer};
  ASSERT_SUCCESS(CU(cuLaunchKernel)(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  std::vector<std::uint8_t> got(64), expected(64);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(got.data(), pointer, 64));
  expected[0] = small;
  std::copy_n(block.begin() + 8, 16, expected.begin() + 8);
  std::memcpy(&expected[24], &number, 8);
  std::copy_n(block.begin() + 2, 2, expected.begin() + 32);
  EXPECT_EQ(got, expected);
}

TEST_F(Memory, HintsDoNothing) {
  const auto result = run_threads(
      "prefetch.global.L1 [%d31]; prefetch.global.L2 [%d31]; prefetchu.L1 [%d31]; prefetch.global.L2::evict_last "
      "[%d31];" +
          store("%t"),
      32);
  EXPECT_EQ(result, each_thread(32, [](unsigned i) { return i; }));
}

}  // namespace
}  // namespace ptx_test
