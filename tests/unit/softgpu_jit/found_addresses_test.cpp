// Which kernels may find addresses in memory: they run code that asks about access where there is memory of other
// devices.
#include "softgpu/jit/kernel_compiler.hpp"
#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

struct Case {
  const char* what;
  bool finds;
  const char* body;
};

// With %out and %in, 64-bit parameters, %n, one of 32 bits, and %i, the index of the thread.
constexpr Case kCases[] = {
    {"elements of arrays", false, "mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;"},
    {"an index of 32 bits from memory", false,
     "ld.global.u32 %v, [%in]; mad.wide.u32 %a, %v, 4, %out; st.global.u32 [%a], %v;"},
    {"an index of 32 bits into bytes", false,
     "ld.global.s32 %v, [%in]; cvt.s64.s32 %a, %v; add.s64 %a, %a, %out; st.global.u8 [%a], %v;"},
    {"an index of 64 bits from memory", false,
     "ld.global.u64 %a, [%in]; shl.b64 %a, %a, 2; add.s64 %a, %a, %out; st.global.u32 [%a], %v;"},
    {"a row of a matrix", false,
     "ld.global.u64 %a, [%in]; cvt.u64.u32 %b, %n; mul.lo.s64 %a, %a, %b; add.s64 %a, %a, %out; st.global.u32 [%a], "
     "1;"},
    {"an index in a loop", false, R"(mov.u64 %a, %in;
      LOOP: ld.global.u32 %v, [%a]; add.s64 %a, %a, 4; mad.wide.u32 %b, %v, 4, %out; red.global.add.u32 [%b], 1;
      setp.ne.u32 %p, %v, 0; @%p bra LOOP;)"},
    {"a variable", false, "ld.global.u32 %v, [variable]; st.global.u32 [%out], %v;"},
    {"an element of shared memory, by an index from memory", false,
     R"(ld.global.u32 %v, [%in]; shl.b32 %v, %v, 2; mov.u32 %w, place; add.u32 %w, %w, %v; ld.shared.u32 %v, [%w];
      st.global.u32 [%out], %v;)"},
    {"one of two parameters", false,
     "setp.eq.u32 %p, %n, 0; selp.b64 %a, %in, %out, %p; ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;"},
    {"a parameter or null", false, R"(setp.eq.u32 %p, %n, 0; selp.b64 %a, %in, 0, %p; ld.global.u32 %v, [%a];
      st.global.u32 [%out], %v;)"},
    {"a number or a parameter as an index into bytes", false,
     "cvt.u64.u32 %a, %i; min.u64 %a, %a, %in; add.s64 %a, %a, %out; st.global.u8 [%a], 1;"},
    {"a word of a swizzled array", false,
     "shl.b32 %v, %i, 4; cvt.u64.u32 %a, %v; xor.b64 %a, %a, %in; ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;"},
    {"an address that is passed on", false, "ld.global.u64 %a, [%in]; st.global.u64 [%out], %a;"},

    {"an address", true, "ld.global.u64 %a, [%in]; st.global.u32 [%a], 1;"},
    {"an address of a variable's", true,
     "ld.global.u64 %a, [variable]; ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;"},
    {"an address in constant memory", true,
     "ld.const.u64 %a, [constant]; ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;"},
    {"an element behind an address", true,
     "ld.global.u64 %a, [%in]; mad.wide.u32 %a, %i, 4, %a; st.global.u32 [%a], 1;"},
    {"an address and a parameter", true, "ld.global.u64 %a, [%in]; add.s64 %a, %a, %out; st.global.u8 [%a], 1;"},
    {"an address of two halves", true,
     "ld.global.u32 %v, [%in+4]; ld.global.u32 %w, [%in]; mov.b64 %a, {%v, %w}; st.global.u32 [%a], 1;"},
    {"an address with a mark in its low bits", true,
     "ld.global.u64 %a, [%in]; and.b64 %a, %a, -8; st.global.u32 [%a], 1;"},
    {"an address in the upper bits of a word", true,
     "ld.global.u64 %a, [%in]; shr.u64 %a, %a, 16; st.global.u32 [%a], 1;"},
    {"an address in the lower bits of a word", true,
     "ld.global.u64 %a, [%in]; shl.b64 %a, %a, 16; shr.s64 %a, %a, 16; st.global.u32 [%a], 1;"},
    {"an address in units of 16 bytes", true,
     "ld.global.u64 %a, [%in]; and.b64 %a, %a, 0xfffffffffff; shl.b64 %a, %a, 4; st.global.u32 [%a], 1;"},
    {"a list of addresses in units of 16 bytes", true, R"(mov.u64 %a, %in;
      LOOP: ld.global.u64 %a, [%a]; and.b64 %a, %a, 0xfffffffffff; shl.b64 %a, %a, 4; sub.u32 %n, %n, 1;
      setp.ne.u32 %p, %n, 0; @%p bra LOOP; st.global.u32 [%a], 1;)"},
    {"an address as a floating-point number", true,
     "ld.global.f64 %d, [%in]; cvt.rzi.u64.f64 %a, %d; st.global.u32 [%a], 1;"},
    {"an address as a floating-point number, or a parameter", true, R"(ld.global.f64 %d, [%in]; cvt.rzi.u64.f64 %a, %d;
      setp.eq.u32 %p, %n, 0; selp.b64 %a, %a, %out, %p; st.global.u32 [%a], 1;)"},
    {"an address in the code", true, "ld.global.u32 %v, [0x7f0012345678]; st.global.u32 [%out], %v;"},
    {"an element behind an address in the code", true,
     "mad.wide.u32 %a, %i, 4, 0x7f0012345678; ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;"},
    {"an address in the code, or a parameter", true, R"(setp.eq.u32 %p, %n, 0; selp.b64 %a, 0x7f0012345678, %in, %p;
      ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;)"},
    {"two parameters that are an address only together", true,
     "xor.b64 %a, %in, %out; ld.global.u32 %v, [%a]; st.global.u32 [%out], %v;"},
    {"an address or a parameter", true, R"(ld.global.u64 %a, [%in]; setp.eq.u32 %p, %n, 0; selp.b64 %a, %a, %out, %p;
      st.global.u32 [%a], 1;)"},
    {"a list", true, "mov.u64 %a, %in; LOOP: ld.global.u64 %a, [%a]; setp.ne.u64 %p, %a, 0; @%p bra LOOP;"},
    {"an address that was exchanged", true, "atom.global.exch.b64 %a, [%in], 0; st.global.u32 [%a], 1;"},
    {"an address in shared memory", true, R"(ld.global.u64 %a, [%in]; st.shared.u64 [place], %a; bar.sync 0;
      ld.shared.u64 %b, [place]; st.global.u32 [%b], 1;)"},
    {"an address of another lane", true, R"(ld.global.v2.u32 {%v, %w}, [%in]; shfl.sync.idx.b32 %v, %v, 0, 31, -1;
      shfl.sync.idx.b32 %w, %w, 0, 31, -1; mov.b64 %a, {%v, %w}; st.global.u32 [%a], 1;)"},
    {"the source of a copy", true, R"(ld.global.u64 %a, [%in]; mov.u32 %v, place;
      cp.async.ca.shared.global [%v], [%a], 16; cp.async.wait_all; bar.sync 0; ld.shared.u32 %v, [place];
      st.global.u32 [%out], %v;)"},
};

class FoundAddresses : public testing::TestWithParam<Case> {};

TEST_P(FoundAddresses, AreKnown) {
  const std::string text = std::string(kHeader) +
                           ".visible .global .align 8 .u64 variable; .visible .const .align 8 .u64 constant;\n"
                           ".visible .entry k(.param .u64 p_out, .param .u64 p_in, .param .u32 p_n) {\n"
                           ".shared .align 16 .b8 place[64];\n"
                           ".reg .b64 %out, %in, %a, %b; .reg .b32 %n, %i, %v, %w; .reg .f64 %d; .reg .pred %p;\n"
                           "ld.param.u64 %out, [p_out]; ld.param.u64 %in, [p_in]; ld.param.u32 %n, [p_n];\n"
                           "mov.u32 %i, %tid.x; mov.u32 %v, 0;\n" +
                           GetParam().body + "\nret;\n}";
  const ptx::ParseResult parsed = ptx::parse(text);
  ASSERT_TRUE(parsed.module) << text;
  for (const bool checks : {false, true})
    for (const unsigned width : {1u, 8u}) {
      KernelCompiler compiler(*parsed.module, parsed.module->functions.front(), {.width = width});
      EXPECT_EQ(compiler.compile({abi::BlockShape::rows, checks}).finds_addresses, GetParam().finds)
          << GetParam().what << ", with gangs of " << width;
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, FoundAddresses, testing::ValuesIn(kCases));

}  // namespace
}  // namespace softgpu::jit
