// Chains of additions, subtractions and products that are wider than a register.
#include "ptx/batch.hpp"

namespace ptx_test {
namespace {

using U = std::uint64_t;
using Wide = UInt128;
using CarryChain = PtxTest;

// 128-bit results: the sources are the high words, the low words are made of them.
TEST_F(CarryChain, AddsAndSubtracts128Bits) {
  Batch<U, U, U> batch(edge_values<U>(), edge_values<U>());
  const auto low = [](U high) { return ~high * 3; };
  const auto whole = [=](U high) { return static_cast<Wide>(high) << 64 | low(high); };
  const std::string lows = "not.b64 l, a; mul.lo.u64 l, l, 3; not.b64 l2, b; mul.lo.u64 l2, l2, 3; ";
  batch.add(lows + "add.cc.u64 l, l, l2; addc.u64 d, a, b;",
            [=](U a, U b) { return static_cast<U>((whole(a) + whole(b)) >> 64); });
  batch.add(lows + "sub.cc.u64 l, l, l2; subc.u64 d, a, b;",
            [=](U a, U b) { return static_cast<U>((whole(a) - whole(b)) >> 64); });
  batch.run();
}

TEST_F(CarryChain, GoesOverSeveralWords) {
  Batch<U, U, U> batch(edge_values<U>(), edge_values<U>());
  // 64-bit arithmetic in 32-bit words, and the carry out of it.
  const std::string words = ".reg .b32 al, ah, bl, bh, o; mov.b64 {al, ah}, a; mov.b64 {bl, bh}, b; ";
  batch.add("{" + words +
                "add.cc.u32 r, al, bl; addc.cc.u32 r2, ah, bh; addc.u32 o, 0, 0; mov.b64 d, {r, r2}; cvt.u64.u32 l, o; "
                "add.u64 d, d, l; }",
            [](U a, U b) { return a + b + (a + b < a ? 1 : 0); });
  batch.add("{" + words +
                "sub.cc.u32 r, al, bl; subc.cc.u32 r2, ah, bh; subc.u32 o, 0, 0; mov.b64 d, {r, r2}; cvt.s64.s32 l, o; "
                "xor.b64 d, d, l; }",
            [](U a, U b) { return (a - b) ^ (a < b ? ~U{0} : 0); });
  batch.run();
}

// As NVIDIA's division of 128-bit integers reads it.
TEST_F(CarryChain, IsSetWhereASubtractionBorrowedNothing) {
  Batch<U, U, U> batch(edge_values<U>(), edge_values<U>());
  batch.add("sub.cc.u64 l, a, b; addc.u64 d, 0, 0;", [](U a, U b) { return a >= b ? 1 : 0; });
  batch.add("sub.cc.u64 l, a, b; subc.cc.u64 l, b, a; addc.u64 d, 0, 0;",
            [](U a, U b) { return (a >= b ? b >= a : b > a) ? 1 : 0; });
  batch.run();
}

TEST_F(CarryChain, MultipliesAndAdds) {
  Batch<U, U, U> batch(edge_values<U>(), edge_values<U>());
  const auto product = [](U a, U b) { return static_cast<Wide>(a) * b; };
  // a * b + (b : a), of which the high word.
  batch.add("mad.lo.cc.u64 l, a, b, a; madc.hi.u64 d, a, b, b;",
            [=](U a, U b) { return static_cast<U>((product(a, b) + (static_cast<Wide>(b) << 64 | a)) >> 64); });
  batch.add("mad.lo.cc.u64 l, a, b, a; madc.hi.cc.u64 l2, a, b, b; addc.u64 d, 0, 0;", [=](U a, U b) {
    const Wide addend = static_cast<Wide>(b) << 64 | a, sum = product(a, b) + addend;
    return U{sum < addend ? 1u : 0u};
  });
  batch.add("add.cc.u64 l, a, b; madc.lo.u64 d, a, b, b;", [](U a, U b) { return a * b + b + (a + b < a ? 1 : 0); });
  batch.run();
}

}  // namespace
}  // namespace ptx_test
