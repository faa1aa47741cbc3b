// Loads, stores, state spaces, addresses and atomics.
#include <algorithm>
#include <array>

#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using testing::Test;

std::string kernel(const std::string& parameters, const std::string& body, const std::string& before = "") {
  return module(before + "\n.visible .entry k(" + parameters +
                ") {\n.reg .b16 h<8>;\n.reg .b32 r<16>;\n.reg .b64 w<16>;\n"
                ".reg .f32 f<8>;\n.reg .f64 g<8>;\n.reg .pred p<4>;\n" +
                body + "\nret;\n}\n");
}

// As lowered and optimised.
template <typename Check>
void both(const std::string& text, Check check) {
  for (bool optimised : {false, true}) {
    Kernel k(text, "k", optimised);
    check(k);
  }
}

TEST(LowerMemory, NarrowLoadsExtendIntoWideRegisters) {
  const std::string text = kernel(".param .u64 x, .param .u64 out", R"(
    ld.param.u64 w0, [x]; ld.param.u64 w1, [out];
    ld.global.s8 r0, [w0]; st.global.u32 [w1], r0;
    ld.global.u8 r0, [w0]; st.global.u32 [w1+4], r0;
    ld.global.s16 r0, [w0+2]; st.global.u32 [w1+8], r0;
    ld.global.s32 w2, [w0+4]; st.global.u64 [w1+16], w2;
    ld.global.u8 h0, [w0+1]; st.global.u8 [w1+24], h0;)");
  both(text, [](Kernel& k) {
    const std::array<std::uint8_t, 8> in = {0x80, 0x7f, 0x01, 0x80, 0, 0, 0, 0x80};
    alignas(8) std::array<u32, 8> out = {};
    k(in.data(), out.data());
    EXPECT_EQ(out[0], 0xffffff80);
    EXPECT_EQ(out[1], 0x80u);
    EXPECT_EQ(out[2], 0xffff8001);
    EXPECT_EQ((u64{out[5]} << 32 | out[4]), 0xffffffff80000000);
    EXPECT_EQ(out[6], 0x7fu);
  });
}

TEST(LowerMemory, VectorsAreTheirElements) {
  const std::string text = kernel(".param .u64 x, .param .u64 out", R"(
    ld.param.u64 w0, [x]; ld.param.u64 w1, [out];
    ld.global.v4.f32 {f0, f1, f2, f3}, [w0];
    st.global.v4.f32 [w1], {f3, f2, f1, f0};
    ld.global.v2.u64 {w0, w2}, [w0];
    st.global.v2.u64 [w1+16], {w2, w0};)");  // the first destination is the address
  both(text, [](Kernel& k) {
    alignas(16) const std::array<float, 4> in = {1, 2, 3, 4};
    alignas(16) std::array<float, 8> out = {};
    k(in.data(), out.data());
    EXPECT_EQ(out, (std::array<float, 8>{4, 3, 2, 1, 3, 4, 1, 2}));
  });
}

TEST(LowerMemory, ParametersKeepTheirLayout) {
  const std::string text = kernel(".param .u8 a, .param .align 8 .b8 s[12], .param .f64 b, .param .u64 out", R"(
    ld.param.u64 w1, [out]; ld.param.u8 r0, [a]; ld.param.u32 r1, [s+8]; ld.param.f64 g0, [b];
    mov.b64 w2, s; ld.param.u32 r2, [w2+4];
    st.global.u32 [w1], r0; st.global.u32 [w1+4], r1; st.global.f64 [w1+8], g0; st.global.u32 [w1+16], r2;)");
  struct Struct {
    alignas(8) u32 x[3];
  };
  both(text, [](Kernel& k) {
    alignas(8) std::array<u32, 6> out = {};
    // The struct takes 12 bytes in PTX, 16 in C++; the next parameter is at 24 either way.
    k(std::uint8_t{200}, Struct{{1, 2, 3}}, 2.5, out.data());
    EXPECT_EQ(out[0], 200u);
    EXPECT_EQ(out[1], 3u);
    EXPECT_EQ(as<double>(u64{out[3]} << 32 | out[2]), 2.5);
    EXPECT_EQ(out[4], 2u);
  });
}

TEST(LowerMemory, SharedAddressesAreOffsets) {
  const std::string text = kernel(".param .u64 out", R"(
    .shared .align 4 .b8 s[16]; .shared .align 8 .u64 t[2];
    ld.param.u64 w1, [out];
    st.shared.u32 [s+4], 11; st.shared.u64 [t+8], 22;
    mov.u32 r0, s; ld.shared.u32 r1, [r0+4]; st.global.u32 [w1], r1;
    mov.u64 w2, t; cvta.shared.u64 w3, w2; ld.u64 w4, [w3+8]; st.global.u64 [w1+8], w4;
    cvta.to.shared.u64 w5, w3; sub.u64 w5, w5, w2; st.global.u64 [w1+16], w5;
    isspacep.shared p0, w3; isspacep.global p1, w3; isspacep.shared p2, w1; isspacep.global p3, w1;
    selp.u32 r2, 1, 0, p0; selp.u32 r3, 2, 0, p1; selp.u32 r4, 4, 0, p2; selp.u32 r5, 8, 0, p3;
    or.b32 r2, r2, r3; or.b32 r2, r2, r4; or.b32 r2, r2, r5; st.global.u32 [w1+24], r2;
    mov.u32 r6, dyn; sub.u32 r6, r6, 4; st.shared.u32 [r6+4], 33; ld.shared.u32 r7, [dyn]; st.global.u32 [w1+28], r7;)",
                                  ".extern .shared .align 4 .b8 dyn[];");
  both(text, [](Kernel& k) {
    alignas(8) std::array<u32, 8> out = {};
    k(out.data());
    EXPECT_EQ(out[0], 11u);
    EXPECT_EQ(out[2], 22u);
    EXPECT_EQ(out[4], 0u);
    EXPECT_EQ(out[6], 1u | 8u);
    EXPECT_EQ(out[7], 33u);
  });
}

TEST(LowerMemory, ModuleVariables) {
  const std::string text = kernel(
      ".param .u64 out", R"(
    ld.param.u64 w1, [out];
    ld.const.f32 f0, [c+4]; st.global.f32 [w1], f0;
    ld.global.u32 r0, [v]; add.u32 r0, r0, 1; st.global.u32 [v], r0;
    mov.u64 w2, v; cvta.global.u64 w3, w2; ld.u32 r1, [w3]; st.global.u32 [w1+4], r1;
    ld.global.u64 w4, [at]; ld.u32 r2, [w4]; st.global.u32 [w1+8], r2;
    isspacep.const p0, w4; selp.u32 r3, 1, 0, p0; st.global.u32 [w1+12], r3;)",
      ".const .align 4 .f32 c[2] = {1.0, 2.5};\n.global .align 4 .u32 v = 41;\n.global .align 8 .u64 at = generic(v);");
  both(text, [](Kernel& k) {
    alignas(8) std::array<u32, 4> out = {};
    k(out.data());
    EXPECT_EQ(as<float>(out[0]), 2.5f);
    EXPECT_EQ(out[1], 42u);
    EXPECT_EQ(out[2], 42u);
    EXPECT_EQ(out[3], 0u);
    EXPECT_EQ(*static_cast<u32*>(k.variable("v")), 42u);
  });
}

TEST(LowerMemory, LocalArraysWithComputedIndices) {
  const std::string text = kernel(".param .u64 out, .param .u32 n", R"(
    .local .align 4 .b8 a[64];
    ld.param.u64 w1, [out]; ld.param.u32 r0, [n];
    mov.u64 w2, a; cvta.local.u64 w3, w2; mov.u32 r1, 0;
  fill: mul.wide.u32 w4, r1, 4; add.u64 w5, w2, w4; mul.lo.u32 r2, r1, r1; st.local.u32 [w5], r2;
    add.u32 r1, r1, 1; setp.lt.u32 p0, r1, 16; @p0 bra fill;
    mul.wide.u32 w4, r0, 4; add.u64 w5, w3, w4; ld.u32 r3, [w5]; st.global.u32 [w1], r3;
    ld.local.u32 r4, [a+12]; st.global.u32 [w1+4], r4;
    isspacep.local p1, w5; selp.u32 r5, 1, 0, p1; st.global.u32 [w1+8], r5;)");
  both(text, [](Kernel& k) {
    std::array<u32, 3> out = {};
    k(out.data(), u32{7});
    EXPECT_EQ(out, (std::array<u32, 3>{49, 9, 1}));
  });
}

TEST(LowerMemory, LocalArraysArePromoted) {
  // Addresses that go through registers and cvta still become values of the optimiser.
  const std::string text = kernel(".param .u64 out, .param .u32 n", R"(
    .local .align 8 .b8 a[16]; .reg .b64 SP, SPL;
    mov.u64 SPL, a; cvta.local.u64 SP, SPL; add.u64 w2, SP, 8; ld.param.u32 r0, [n]; st.u32 [w2], r0;
    ld.param.u64 w1, [out]; ld.u32 r1, [w2]; st.global.u32 [w1], r1;)");
  Kernel k(text, "k", true);
  u32 out = 0;
  k(&out, u32{5});
  EXPECT_EQ(out, 5u);
  EXPECT_EQ(k.ir().find("inttoptr i64 %SP"), std::string::npos) << k.ir();
}

TEST(LowerMemory, OrderAndInvariance) {
  const std::string text = kernel(".param .u64 x", R"(
    ld.param.u64 w0, [x];
    ld.volatile.global.u32 r0, [w0]; ld.relaxed.gpu.global.u32 r1, [w0]; ld.acquire.sys.u32 r2, [w0];
    ld.global.nc.u32 r3, [w0+4];
    st.release.gpu.global.u32 [w0], r3; st.volatile.u32 [w0], r0; st.relaxed.cta.u32 [w0], r1;
    fence.acq_rel.gpu; fence.sc.sys; membar.cta; membar.gl; fence.sc.cta;)");
  const std::string ir = Kernel(text, "k").ir();
  for (const char* expected :
       {"load volatile i32", "load atomic i32, ptr %", "monotonic, align 4", "acquire, align 4", "!invariant.load",
        "store atomic i32", "release, align 4", "store volatile i32", "syncscope(\"singlethread\") monotonic",
        "fence acq_rel", "fence seq_cst", "fence syncscope(\"singlethread\") seq_cst"})
    EXPECT_NE(ir.find(expected), std::string::npos) << expected << "\nis missing in\n" << ir;
}

struct AtomicCase {
  const char *name, *type;
  u64 memory, operand, expected;
};

const AtomicCase kAtomics[] = {
    {"add", "u32", 5, 0xffffffff, 4},
    {"add", "u64", 5, 0x100000000, 0x100000005},
    {"add", "s32", 5, 3, 8},
    {"add", "f32", 0x3f800000, 0x40000000, 0x40400000},
    {"add", "f64", 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000},
    {"min", "s32", 5, 0xfffffffe, 0xfffffffe},
    {"min", "u32", 5, 0xfffffffe, 5},
    {"max", "s64", 5, 0xfffffffffffffffe, 5},
    {"max", "u64", 5, 0xfffffffffffffffe, 0xfffffffffffffffe},
    {"and", "b32", 0xff, 0x3c, 0x3c},
    {"or", "b64", 0xf0, 0x0f, 0xff},
    {"xor", "b32", 0xff, 0x0f, 0xf0},
    {"exch", "b64", 1, 2, 2},
    {"inc", "u32", 7, 7, 0},
    {"inc", "u32", 6, 7, 7},
    {"inc", "u32", 9, 7, 0},
    {"dec", "u32", 0, 7, 7},
    {"dec", "u32", 5, 7, 4},
    {"dec", "u32", 9, 7, 7},
    {"add.noftz", "f16", 0x3c00, 0x4000, 0x4200},
    {"add.noftz", "bf16", 0x3f80, 0x4000, 0x4040},
    {"add.noftz", "f16x2", 0x3c004000, 0x40004000, 0x42004400},
    {"add.noftz", "bf16x2", 0x3f804000, 0x40004000, 0x40404080},
};

unsigned width(const std::string& type) {
  if (type == "f16x2" || type == "bf16x2") return 32;
  return static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
}

TEST(LowerAtomics, EveryOperationInEverySpace) {
  for (const AtomicCase& c : kAtomics) {
    const std::string bits = std::to_string(width(c.type));
    const std::string reg = bits == "16" ? "h" : bits == "32" ? "r" : "w";
    for (const char* space : {"", ".global", ".shared"}) {
      const bool shared = std::string(space) == ".shared";
      const std::string address = shared ? "[s]" : "[w10]";
      const std::string name = std::string(space) + "." + c.name + "." + c.type;
      const bool exchange = std::string(c.name) == "exch";
      const std::string second = exchange ? "" : "red" + name + " " + address + ", " + reg + "1;";
      const std::string text = kernel(".param .u64 x, .param .u64 operand, .param .u64 old",
                                      ".shared .align 8 .b8 s[8];\nld.param.u64 w10, [x]; ld.param.b" + bits + " " +
                                          reg + "1, [operand]; ld.param.u64 w12, [old];\n" +
                                          (shared ? "ld.global.u64 w13, [w10]; st.shared.u64 [s], w13;\n" : "") +
                                          "atom" + name + " " + reg + "2, " + address + ", " + reg + "1;\n" +
                                          (shared ? "ld.shared.u64 w13, [s]; st.global.u64 [w10], w13;\n" : "") +
                                          "st.global.b" + bits + " [w12], " + reg + "2;");
      both(text, [&](Kernel& k) {
        u64 memory = c.memory, old = 0;
        k(&memory, c.operand, &old);
        EXPECT_EQ(memory, c.expected) << name;
        EXPECT_EQ(old, c.memory) << name;
      });
      if (exchange) continue;
      const std::string reduction =
          kernel(".param .u64 x, .param .u64 operand", ".shared .align 8 .b8 s[8];\nld.param.u64 w10, [x]; ld.param.b" +
                                                           bits + " " + reg + "1, [operand];\n" + second);
      if (shared) continue;
      both(reduction, [&](Kernel& k) {
        u64 memory = c.memory;
        k(&memory, c.operand);
        EXPECT_EQ(memory, c.expected) << "red" << name;
      });
    }
  }
}

TEST(LowerAtomics, CompareAndSwap) {
  for (const char* bits : {"16", "32", "64"})
    for (bool match : {false, true}) {
      const std::string reg = bits == std::string("16") ? "h" : bits == std::string("32") ? "r" : "w";
      const std::string text = kernel(
          ".param .u64 x, .param .u64 old, .param .u64 expected",
          "ld.param.u64 w10, [x]; ld.param.u64 w11, [old]; ld.param.b" + std::string(bits) + " " + reg +
              "1, [expected];\n"
              "mov.b" +
              bits + " " + reg + "2, 99;\natom.global.cas.b" + bits + " " + reg + "3, [w10], " + reg + "1, " + reg +
              "2;\n"
              "st.global.b" +
              bits + " [w11], " + reg + "3;");
      both(text, [&](Kernel& k) {
        u64 memory = 7, old = 0;
        k(&memory, &old, u64{match ? 7u : 8u});
        EXPECT_EQ(memory, match ? 99u : 7u);
        EXPECT_EQ(old, 7u);
      });
    }
}

TEST(LowerAtomics, SharedMemoryIsOfOneThread) {
  const std::string text = kernel(".param .u64 x", R"(.shared .align 4 .u32 s; ld.param.u64 w0, [x];
    atom.shared.add.u32 r0, [s], 1; atom.shared.cas.b32 r1, [s], 1, 2; atom.global.add.u32 r2, [w0], 3;)");
  const std::string ir = Kernel(text, "k").ir();
  EXPECT_NE(ir.find("i32 1 syncscope(\"singlethread\") monotonic"), std::string::npos) << ir;
  EXPECT_NE(ir.find("i32 1, i32 2 syncscope(\"singlethread\") monotonic"), std::string::npos) << ir;
  EXPECT_NE(ir.find("i32 3 monotonic"), std::string::npos) << ir;
}

}  // namespace
}  // namespace softgpu::test
