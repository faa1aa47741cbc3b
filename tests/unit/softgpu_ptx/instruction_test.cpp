// Opcodes with their suffixes: what matches a row of the table, and what is said when nothing does.
#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

TEST(Instruction, KeepsModifiersTypesAndSpace) {
  const Instruction add = parsed_instruction("add.rz.ftz.sat.f32 %f1, %f2, %f3;");
  EXPECT_EQ(add.opcode, Opcode::add);
  EXPECT_EQ(add.modifiers, (decltype(add.modifiers){Modifier::rz, Modifier::ftz, Modifier::sat}));
  EXPECT_EQ(add.types, (decltype(add.types){Type::f32}));
  EXPECT_EQ(add.text, "add.rz.ftz.sat.f32");
  EXPECT_EQ(add.where.line, 12u);
  EXPECT_EQ(add.where.column, 1u);
  EXPECT_FALSE(add.space);

  const Instruction cvt = parsed_instruction("cvt.rn.f32.s32 %f1, %r1;");
  EXPECT_EQ(cvt.types, (decltype(cvt.types){Type::f32, Type::s32}));

  const Instruction load =
      parsed_instruction("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];");
  EXPECT_EQ(load.space, Space::global);
  EXPECT_EQ(load.vector_width, 4);
  EXPECT_TRUE(load.has(Modifier::nc));
  EXPECT_TRUE(load.has(Modifier::l2_128b));
}

TEST(Instruction, NamesSpacesInBothSpellings) {
  EXPECT_EQ(parsed_instruction("ld.shared::cta.u32 %r1, [scratch];").space, Space::shared);
  EXPECT_EQ(parsed_instruction("ld.param::entry.u64 %d1, [pointer];").space, Space::param);
  EXPECT_EQ(parsed_instruction("cvta.to.global.u64 %d1, %d2;").space, Space::global);
}

TEST(Instruction, TakesItsModifiersInAnyOrder) {
  for (const char* text :
       {"atom.relaxed.gpu.global.add.u32", "atom.add.relaxed.gpu.global.u32", "atom.global.add.gpu.relaxed.u32"})
    EXPECT_TRUE(parsed_instruction(std::string(text) + " %r1, [%d1], %r2;").has(Modifier::relaxed)) << text;
  EXPECT_EQ(parsed_instruction("ld.global.acquire.gpu.b32 %r1, [%d1];").space, Space::global);
  EXPECT_EQ(kernel_error("add.ftz.rn.f32 %f1, %f2, %f3;"), "");
  EXPECT_EQ(kernel_error("vote.ballot.sync.b32 %r1, %p1, -1;"), "");
}

TEST(Instruction, TakesItsTypesInOneOrder) {
  EXPECT_EQ(parsed_instruction("set.f32.lt.s32 %f1, %r1, %r2;").types.back(), Type::s32);
  EXPECT_EQ(kernel_error("set.lt.s64.f32 %f1, %d1, %d2;").substr(0, 67),
            "line 12, column 7: error: unexpected '.s64' in 'set.lt.s64.f32'; ex");
}

TEST(Instruction, MayHaveBlanksBeforeItsSuffixes) {
  EXPECT_EQ(parsed_instruction("add .u32 %r1, %r2, %r3;").text, "add.u32");
  EXPECT_EQ(parsed_instruction("ld.global .u32 %r1, [%d1];").text, "ld.global.u32");
}

TEST(Instruction, MayBeGuarded) {
  const Instruction plain = parsed_instruction("@%p3 mov.u32 %r1, 1;");
  ASSERT_TRUE(plain.guard);
  EXPECT_FALSE(plain.guard->negated);
  EXPECT_TRUE(parsed_instruction("@!%p3 mov.u32 %r1, 1;").guard->negated);
  EXPECT_EQ(kernel_error("@%r1 mov.u32 %r1, 1;"),
            "line 12, column 2: error: '%r1' is a .u32 register; '@' needs a .pred one");
  EXPECT_EQ(kernel_error("@%q mov.u32 %r1, 1;"), "line 12, column 2: error: '%q' is not declared");
  EXPECT_EQ(kernel_error("@%p1;"), "line 12, column 5: error: expected an instruction behind the predicate, found ';'");
}

TEST(Instruction, ThatIsUnknownGetsASuggestion) {
  EXPECT_EQ(kernel_error("addd.f32 %f1, %f2, %f3;"),
            "line 12, column 1: error: unknown instruction 'addd.f32'; did you mean 'add'?");
  EXPECT_EQ(kernel_error("frobnicate.u32 %r1;"), "line 12, column 1: error: unknown instruction 'frobnicate.u32'");
  EXPECT_EQ(kernel_error("add.f33 %f1, %f2, %f3;"),
            "line 12, column 4: error: unknown suffix '.f33' in 'add.f33'; did you mean '.f32'?");
}

TEST(Instruction, ThatIsIncompleteSaysHowItGoesOn) {
  EXPECT_EQ(kernel_error("mul.u32 %r1, %r2, %r3;"),
            "line 12, column 4: error: unexpected '.u32' in 'mul.u32'; expected one of .rn .rz .rm .rp .ftz .sat .lo "
            ".hi .wide .f16 "
            ".f16x2 .bf16 .bf16x2 .f32 .f64");
  EXPECT_EQ(kernel_error("setp.lt %p1, %r2, %r3;").substr(0, 59),
            "line 12, column 1: error: 'setp.lt' is not complete; it goe");
  EXPECT_EQ(kernel_error("cvt.f32.s32 %f1, %r2;"),
            "line 12, column 8: error: unexpected '.s32' in 'cvt.f32.s32'; expected one of .f16 .bf16 .f32");
  EXPECT_EQ(kernel_error("exit.uni;"),
            "line 12, column 5: error: unexpected '.uni' in 'exit.uni'; nothing can follow here");
}

TEST(Instruction, ChecksItsStateSpace) {
  EXPECT_EQ(kernel_error("st.const.u32 [fixed], %r1;"),
            "line 12, column 1: error: 'st.const.u32' can't have the state space .const");
  EXPECT_EQ(kernel_error("cvta.u64 %d1, %d2;"), "line 12, column 1: error: 'cvta.u64' needs a state space");
  EXPECT_EQ(kernel_error("add.global.u32 %r1, %r2, %r3;"),
            "line 12, column 1: error: 'add.global.u32' can't have the state space .global");
}

TEST(Instruction, ChecksTheSizeOfVectors) {
  EXPECT_EQ(kernel_error("ld.global.v8.u64 {%d1,%d2,%d3,%d4,%d5,%d6,%d7,%d8}, [%d1];"),
            "line 12, column 1: error: 'ld.global.v8.u64' is too large: vectors have up to 128 bits, or 256 of 32-bit "
            "or 64-bit elements");
}

struct Refused {
  const char* statement;
  const char* message;
};

class RefusedInstruction : public testing::TestWithParam<Refused> {};

TEST_P(RefusedInstruction, IsNamedWithItsLineAndTheReason) {
  const ParseResult result = parse(kernel_with(GetParam().statement));
  ASSERT_EQ(result.diagnostics.size(), 1u) << all_messages(result);
  EXPECT_EQ(result.diagnostics[0].cause, Diagnostic::Cause::unsupported);
  EXPECT_EQ(to_string(result.diagnostics[0]),
            "line 12, column 1: error: softgpu does not run " + std::string(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Ptx, RefusedInstruction,
    testing::Values(
        Refused{"tex.2d.v4.f16.f32 {%h1,%h2,%h3,%h4}, [%d1, {%f1,%f2}];",
                "'tex.2d.v4.f16.f32' (half-precision texels)"},
        Refused{"sured.b.add.1d.u32.trap [%d1, {%r2}], %r1;", "'sured.b.add.1d.u32.trap' (surface reductions)"},
        Refused{"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2}, [%d1], %r3;",
                "'wmma.load.a.sync.aligned.row.m16n16k16.shared.f16' (tensor cores)"},
        Refused{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
                "{%f1,%f2,%f3,%f4};",
                "'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32' (tensor cores)"},
        Refused{"wgmma.fence.sync.aligned;", "'wgmma.fence.sync.aligned' (tensor cores)"},
        Refused{"tcgen05.wait::ld.sync.aligned;", "'tcgen05.wait::ld.sync.aligned' (tensor cores)"},
        Refused{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [scratch];",
                "'ldmatrix.sync.aligned.m8n8.x1.shared.b16' (tensor cores)"},
        Refused{"cp.async.bulk.prefetch.L2.global [%d1], %r1;",
                "'cp.async.bulk.prefetch.L2.global' (asynchronous copies)"},
        Refused{"multimem.ld_reduce.global.add.f32 %f1, [%d1];",
                "'multimem.ld_reduce.global.add.f32' (multicast memory)"},
        Refused{"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
                "'st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32' (asynchronous copies)"},
        Refused{"createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;",
                "'createpolicy.fractional.L2::evict_last.b64' (cache policies)"},
        Refused{"setmaxnreg.inc.sync.aligned.u32 24;", "'setmaxnreg.inc.sync.aligned.u32' (register reallocation)"},
        Refused{"vadd.s32.s32.s32 %r1, %r2, %r3, %r4;", "'vadd.s32.s32.s32' (video instructions)"},
        Refused{"vadd4.s32.s32.s32 %r1.b10, %r2, %r3, %r4;", "'vadd4.s32.s32.s32' (parts of operands: '.b10')"},
        Refused{"vmin2.u32.u32.u32 %r1, %r2.h01, %r3, %r4;", "'vmin2.u32.u32.u32' (parts of operands: '.h01')"},
        Refused{"alloca.u64 %d1, %d2;", "'alloca.u64' (stack allocation of a size known at run time)"},
        Refused{"cvt.rn.satfinite.e2m1x2.f32 %h1, %f1, %f2;", "'cvt.rn.satfinite.e2m1x2.f32' (4-bit floating point)"},
        Refused{"add.rn.f32x2 %d1, %d2, %d3;", "'add.rn.f32x2' (packed single precision)"},
        Refused{"fence.proxy.tensormap::generic.release.gpu;",
                "'fence.proxy.tensormap::generic.release.gpu' (proxy fences)"},
        Refused{"redux.sync.min.abs.f32 %f1, %f2, -1;", "'redux.sync.min.abs.f32' (floating-point warp reductions)"},
        Refused{"atom.global.v2.f32.add {%f1,%f2}, [%d1], {%f3,%f4};", "'atom.global.v2.f32.add' (vector atomics)"},
        Refused{"ld.global.b128 %d1, [%d2];", "'ld.global.b128' (128-bit values)"}));

}  // namespace
}  // namespace softgpu::ptx
