// mov, packing and unpacking, addresses, and address conversions.
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using L = std::uint64_t;
using Move = PtxTest;

TEST_F(Move, BetweenTypesOfOneSize) {
  Batch<U, U> batch(edge_values<U>());
  batch.add("mov.b32 d, a;", [](U a) { return a; });
  batch.add("mov.b32 x, a; mov.b32 d, x;", [](U a) { return a; });
  batch.add("mov.f32 x, a; mov.f32 d, x;", [](U a) { return a; });
  batch.add("mov.b32 d, 0f3F800000;", [](U) { return 0x3F800000u; });
  batch.add("mov.f32 x, 1.5; mov.b32 d, x;", [](U) { return 0x3FC00000u; });
  batch.add("mov.u32 d, 0b101; add.u32 d, d, 017; add.u32 d, d, (1<<4)|WARP_SZ;", [](U) { return 5u + 15u + 48u; });
  batch.add("mov.s32 d, -2147483648;", [](U) { return 0x80000000u; });
  batch.run();
  Batch<L, L> wide(edge_values<L>());
  wide.add("mov.b64 y, a; mov.b64 d, y;", [](L a) { return a; });
  wide.add("mov.u64 d, 0xfedcba9876543210;", [](L) { return 0xfedcba9876543210; });
  wide.add("mov.f64 d, 0d3FF8000000000000;", [](L) { return 0x3FF8000000000000; });
  wide.run();
}

TEST_F(Move, PacksAndUnpacks) {
  Batch<U, U> batch(edge_values<U>());
  batch.add("mov.b32 {h, h2}, a; mov.b32 d, {h2, h};", [](U a) { return a >> 16 | a << 16; });
  batch.add("mov.b32 {_, h}, a; cvt.u32.u16 d, h;", [](U a) { return a >> 16; });
  batch.run();
  Batch<L, L> wide(edge_values<L>());
  wide.add("mov.b64 {r, r2}, a; mov.b64 d, {r2, r};", [](L a) { return a >> 32 | a << 32; });
  wide.add("{ .reg .b16 w<4>; mov.b64 {w0, w1, w2, w3}, a; mov.b64 d, {w3, w2, w1, w0}; }",
           [](L a) { return a >> 48 | (a >> 32 & 0xffff) << 16 | (a >> 16 & 0xffff) << 32 | a << 48; });
  wide.add("mov.b64 {x, x2}, a; mov.b64 d, {x, x2};", [](L a) { return a; });
  wide.add("mov.b64 {r, _}, a; cvt.u64.u32 d, r;", [](L a) { return a & 0xffffffff; });
  wide.run();
}

TEST_F(Move, GivesAddressesOfVariables) {
  const std::string variables =
      ".global .align 4 .u32 numbers[4] = {11, 22, 33, 44};\n.global .u64 pointer = numbers+8;\n.const .u32 fixed[2] = "
      "{55, 66};\n.shared .u32 shared[32];\n";
  const auto result = run_threads(
      "mov.u64 %d0, numbers; ld.global.u32 %r0, [%d0+4];\n"
      "ld.global.u64 %d1, [pointer]; ld.global.u32 %r1, [%d1];\n"
      "mov.u64 %d2, fixed; ld.const.u32 %r2, [%d2+4];\n"
      "mov.u32 %r4, shared; shl.b32 %r5, %t, 2; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %t; ld.shared.u32 %r3, "
      "[%r4];\n"
      "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, %r3;" +
          store("%r0"),
      32, variables);
  EXPECT_EQ(result, each_thread(32, [](unsigned i) { return 22 + 33 + 66 + i; }));
}

TEST_F(Move, ConvertsAddressesToGenericOnesAndBack) {
  const std::string variables = ".global .u32 in_global = 1;\n.const .u32 in_const = 2;\n.shared .u32 in_shared[32];\n";
  const auto result = run_threads(
      ".local .u32 in_local[4];\n"
      "shl.b32 %r9, %t, 2; mov.u32 %r10, in_shared; add.u32 %r10, %r10, %r9; st.shared.u32 [%r10], 4; st.local.u32 "
      "[in_local+8], 8;\n"
      "mov.u64 %d0, in_global; cvta.global.u64 %d0, %d0; ld.u32 %r0, [%d0];\n"
      "cvta.const.u64 %d1, in_const; ld.u32 %r1, [%d1];\n"
      "cvt.u64.u32 %d2, %r10; cvta.shared.u64 %d2, %d2; ld.u32 %r2, [%d2]; st.u32 [%d2], %t;\n"
      "mov.u64 %d3, in_local; cvta.local.u64 %d3, %d3; ld.u32 %r3, [%d3+8];\n"
      "cvta.to.shared.u64 %d4, %d2; ld.shared.u32 %r4, [%d4]; cvta.to.local.u64 %d5, %d3; ld.local.u32 %r5, [%d5+8];\n"
      "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, %r3; add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, "
      "%r5;" +
          store("%r0"),
      32, variables);
  EXPECT_EQ(result, each_thread(32, [](unsigned i) { return 1 + 2 + 4 + 8 + i + 8; }));
}

TEST_F(Move, TellsSpacesOfAddressesApart) {
  const std::string variables = ".global .u32 in_global;\n.shared .u32 in_shared;\n";
  const auto result = run_threads(
      ".local .u32 in_local[4];\nst.local.u32 [in_local], %t; st.shared.u32 [in_shared], 1;\n"
      "cvta.global.u64 %d0, in_global; cvta.shared.u64 %d1, in_shared; cvta.local.u64 %d2, in_local; mov.u32 %r0, 0;\n"
      "isspacep.global %p0, %d0; @%p0 or.b32 %r0, %r0, 1; isspacep.shared %p0, %d0; @%p0 or.b32 %r0, %r0, 256;\n"
      "isspacep.shared %p0, %d1; @%p0 or.b32 %r0, %r0, 2; isspacep.global %p0, %d1; @%p0 or.b32 %r0, %r0, 512;\n"
      "isspacep.local %p0, %d2; @%p0 or.b32 %r0, %r0, 4; isspacep.shared %p0, %d2; @%p0 or.b32 %r0, %r0, 1024;\n" +
          store("%r0"),
      32, variables);
  EXPECT_EQ(result, each_thread(32, [](unsigned) { return 7; }));
}

}  // namespace
}  // namespace ptx_test
