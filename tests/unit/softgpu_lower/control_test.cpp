// Branches, calls, barriers, warps and special registers.
#include <array>

#include "softgpu/abi/marks.hpp"
#include "softgpu/lower/instructions.hpp"
#include "softgpu/lower/lower.hpp"
#include "softgpu/ptx/instruction_table.hpp"
#include "softgpu/ptx/parse.hpp"
#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Events = std::vector<std::string>;

std::string with_registers(const std::string& body) {
  return "{\n.reg .b32 r<16>;\n.reg .b64 w<16>;\n.reg .f32 f<8>;\n.reg .pred p<4>;\n" + body + "\n}\n";
}

// A kernel k(out, n) with `before` in front of it. Its body finds out in w1 and n in r0.
std::string kernel(const std::string& body, const std::string& before = "") {
  return module(before + "\n.visible .entry k(.param .u64 out, .param .u32 n) " +
                with_registers("ld.param.u64 w1, [out]; ld.param.u32 r0, [n];\n" + body + "\nret;"));
}

// What k stores at out for n, as lowered; the optimised code must agree.
u32 result(const std::string& text, u32 n) {
  std::array<u32, 4> plain = {}, optimised = {};
  Kernel(text, "k", false)(plain.data(), n);
  Kernel(text, "k", true)(optimised.data(), n);
  EXPECT_EQ(plain, optimised);
  return plain[0];
}

TEST(LowerControl, LoopsAndBranches) {
  // Steps of Collatz.
  const std::string text = kernel(R"(
    mov.u32 r1, 0;
  again: setp.le.u32 p0, r0, 1; @p0 bra done;
    and.b32 r2, r0, 1; setp.eq.u32 p1, r2, 0; @p1 bra even;
    mad.lo.u32 r0, r0, 3, 1; bra next;
  even: shr.u32 r0, r0, 1;
  next: add.u32 r1, r1, 1; bra.uni again;
  done: st.global.u32 [w1], r1;)");
  EXPECT_EQ(result(text, 1), 0u);
  EXPECT_EQ(result(text, 27), 111u);
}

TEST(LowerControl, IndexedBranches) {
  const std::string text = kernel(R"(
    mov.u32 r1, 9;
    targets: .branchtargets a, b, c;
    brx.idx r0, targets;
  a: mov.u32 r1, 10; bra end;
  b: mov.u32 r1, 20;
  c: add.u32 r1, r1, 5;
  end: st.global.u32 [w1], r1;)");
  EXPECT_EQ(result(text, 0), 10u);
  EXPECT_EQ(result(text, 1), 25u);
  EXPECT_EQ(result(text, 2), 14u);
}

TEST(LowerControl, GuardedReturnAndExit) {
  const std::string text = kernel(
      "st.global.u32 [w1], 1; setp.eq.u32 p0, r0, 1; @p0 ret; setp.eq.u32 p1, r0, 2; @p1 exit; st.global.u32 [w1], 2;");
  EXPECT_EQ(result(text, 1), 1u);
  EXPECT_EQ(result(text, 2), 1u);
  EXPECT_EQ(result(text, 3), 2u);
}

TEST(LowerControl, GuardedMemoryAccessIsSkipped) {
  const std::string text = kernel(
      "mov.u64 w2, 8; setp.ne.u32 p0, r0, 0; mov.u32 r1, 3; @p0 ld.global.u32 r1, [w2]; @p0 st.global.u32 [w2], r1; "
      "st.global.u32 [w1], r1;");
  EXPECT_EQ(result(text, 0), 3u);
}

TEST(LowerControl, TrapEndsTheThread) {
  const std::string text = kernel("setp.eq.u32 p0, r0, 1; @p0 trap; st.global.u32 [w1], 5;");
  EXPECT_EQ(result(text, 0), 5u);
  u32 out = 0;
  Kernel k(text);
  EXPECT_THROW(k(&out, 1u), std::runtime_error);
  EXPECT_EQ(fake_thread().events, Events{"trap"});
  EXPECT_EQ(out, 0u);
}

const char* const kTwice = R"(
.func (.param .b32 result) twice(.param .b32 x) {
  .reg .b32 a; ld.param.b32 a, [x]; add.u32 a, a, a; st.param.b32 [result], a; ret;
}
.func (.param .b32 result) square(.param .b32 x) {
  .reg .b32 a; ld.param.b32 a, [x]; mul.lo.u32 a, a, a; st.param.b32 [result], a; ret;
}
)";

const char* const kCallTwice =
    R"({ .param .b32 x; .param .b32 y; st.param.b32 [x], r0; call.uni (y), twice, (x); ld.param.b32 r1, [y]; }
  st.global.u32 [w1], r1;)";

TEST(LowerCall, ScalarsByParameterSpace) { EXPECT_EQ(result(kernel(kCallTwice, kTwice), 21), 42u); }

TEST(LowerCall, ScalarsByRegister) {
  const std::string text = kernel("call (r1), g, (r0); st.global.u32 [w1], r1;",
                                  ".func (.reg .b32 d) g(.reg .b32 a) { add.u32 d, a, 1; ret; }");
  EXPECT_EQ(result(text, 6), 7u);
}

TEST(LowerCall, StructuresByValue) {
  const std::string text = kernel(R"(
    { .param .align 8 .b8 x[16]; .param .align 8 .b8 y[16];
      st.param.b32 [x], r0; st.param.b32 [x+4], 100; st.param.b64 [x+8], 7;
      call (y), swap, (x);
      ld.param.b32 r1, [y]; ld.param.b32 r2, [y+4]; ld.param.b64 w2, [y+8]; ld.param.b32 r3, [x]; }
    cvt.u32.u64 r4, w2; mad.lo.u32 r1, r1, 1000, r2; mad.lo.u32 r1, r1, 10, r4; add.u32 r1, r1, r3; st.global.u32 [w1], r1;)",
                                  R"(.func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 x[16]) {
      .reg .b32 a, b; .reg .b64 c; ld.param.b32 a, [x]; ld.param.b32 b, [x+4]; ld.param.b64 c, [x+8];
      st.param.b32 [result], b; st.param.b32 [result+4], a; add.u64 c, c, 1; st.param.b64 [result+8], c; ret; })");
  EXPECT_EQ(result(text, 5), (100u * 1000 + 5) * 10 + 8 + 5);
}

TEST(LowerCall, Recursion) {
  const std::string text = kernel(
      "{ .param .b32 x; .param .b32 y; st.param.b32 [x], r0; call (y), fib, (x); ld.param.b32 r1, [y]; } st.global.u32 "
      "[w1], r1;",
      R"(.func (.param .b32 result) fib(.param .b32 x) {
      .reg .b32 a, b, c, d; .reg .pred p; ld.param.b32 a, [x]; mov.u32 d, a; setp.lt.u32 p, a, 2; @p bra end;
      { .param .b32 m; .param .b32 n; sub.u32 b, a, 1; st.param.b32 [m], b; call (n), fib, (m); ld.param.b32 c, [n]; }
      { .param .b32 m; .param .b32 n; sub.u32 b, a, 2; st.param.b32 [m], b; call (n), fib, (m); ld.param.b32 d, [n]; }
      add.u32 d, d, c;
      end: st.param.b32 [result], d; ret; })");
  EXPECT_EQ(result(text, 10), 55u);
  const std::string ir = Kernel(text).ir();
  EXPECT_EQ(ir.find("alwaysinline"), std::string::npos) << ir;
}

TEST(LowerCall, ThroughPointers) {
  const std::string before = std::string(kTwice) + ".global .align 8 .u64 table[2] = {twice, square};\n";
  const std::string call = R"({ .param .b32 x; .param .b32 y; st.param.b32 [x], r0;
      proto: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (y), w2, (x), proto; ld.param.b32 r1, [y]; } st.global.u32 [w1], r1;)";
  const std::string by_index = kernel(
      "and.b32 r2, r0, 1; mul.wide.u32 w3, r2, 8; mov.u64 w4, table; add.u64 w3, w3, w4; ld.global.u64 w2, [w3];" +
          call,
      before);
  EXPECT_EQ(result(by_index, 6), 12u);
  EXPECT_EQ(result(by_index, 7), 49u);
  EXPECT_EQ(result(kernel("mov.u64 w2, square;" + call, before), 9), 81u);
  Kernel broken(kernel("mov.u64 w2, 12345;" + call, before));
  u32 out = 0;
  EXPECT_THROW(broken(&out, 1u), std::runtime_error);
  EXPECT_EQ(fake_thread().events, Events{"trap"});
}

TEST(LowerCall, ExitInAFunctionEndsTheThread) {
  const std::string text = kernel("call f, (); st.global.u32 [w1], 5;", ".func f() { exit; }");
  Kernel k(text);
  u32 out = 0;
  EXPECT_THROW(k(&out, 1u), std::runtime_error);
  EXPECT_EQ(fake_thread().events, Events{"exit"});
  EXPECT_EQ(out, 0u);
}

const char* const kProvided = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.extern .func (.param .b64 p) malloc(.param .b64 s);
.extern .func free(.param .b64 p);
.global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};
)";

TEST(LowerCall, PrintfMallocFree) {
  const std::string text = kernel(R"(
    .local .align 8 .b8 arguments[8]; mov.u64 w4, arguments; st.local.u32 [arguments], r0; mov.u64 w5, text;
    { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], w5; st.param.b64 [b], w4; call.uni (c), vprintf, (a, b); ld.param.b32 r1, [c]; }
    { .param .b64 a; .param .b64 b; st.param.b64 [a], 48; call (b), malloc, (a); ld.param.b64 w6, [b]; }
    { .param .b64 a; st.param.b64 [a], w6; call free, (a); }
    st.global.u32 [w1], r1;)",
                                  kProvided);
  EXPECT_EQ(result(text, 77), 3u);
  EXPECT_EQ(fake_thread().events, (Events{"printf hello 77", "malloc 48", "free 4096"}));
}

TEST(LowerCall, PrintfDeclaredWithoutItsResult) {
  const std::string text = kernel(R"(
    .local .align 8 .b8 arguments[8]; mov.u64 w4, arguments; st.local.u32 [arguments], r0; mov.u64 w5, text;
    { .param .b64 a; .param .b64 b; st.param.b64 [a], w5; st.param.b64 [b], w4; call.uni vprintf, (a, b); }
    st.global.u32 [w1], 5;)",
                                  R"(.extern .func vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[3] = {104, 105, 0};
)");
  EXPECT_EQ(result(text, 77), 5u);
  EXPECT_EQ(fake_thread().events, Events{"printf hi 77"});
}

TEST(LowerCall, AssertFail) {
  const std::string text = kernel(R"(mov.u64 w5, text;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], w5; st.param.b64 [b], w5;
      st.param.b32 [c], 123; st.param.b64 [d], w5; st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); })",
                                  kProvided);
  Kernel k(text);
  u32 out = 0;
  EXPECT_THROW(k(&out, 1u), std::runtime_error);
  EXPECT_EQ(fake_thread().events, Events{"assert hello 123"});
}

ptx::Module parsed(const std::string& text) {
  ptx::ParseResult r = ptx::parse(text);
  EXPECT_TRUE(r.module) << (r.diagnostics.empty() ? "" : to_string(r.diagnostics[0]));
  return r.module ? std::move(*r.module) : ptx::Module{};
}

TEST(LowerCall, MissingFunctionsAreNamed) {
  const std::string text = kernel("call elsewhere, ();", ".extern .func elsewhere();\n.extern .func unused();");
  const ptx::Module m = parsed(text);
  EXPECT_EQ(lower::missing_functions(lower::CallGraph(m), m.functions.back()), std::vector<std::string>{"elsewhere"});
  try {
    Kernel k(text);
    FAIL() << "lowered a call of nothing";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("'elsewhere'"), std::string::npos) << error.what();
  }
}

TEST(LowerBarriers, BecomeMarksWithTheirLine) {
  const std::string text = kernel(R"(
    bar.sync 0; bar.sync 1, 64; bar.arrive 2, 32; barrier.sync 3; barrier.sync.aligned 4; bar.warp.sync 0xf; barrier.cta.arrive 5, 96;
    setp.eq.u32 p0, r0, 1; bar.red.popc.u32 r1, 6, p0; bar.red.and.pred p1, 7, 64, !p0; barrier.red.or.pred p2, 8, p0;
    nanosleep.u32 100; selp.u32 r2, 10, 0, p1; selp.u32 r3, 100, 0, p2; add.u32 r1, r1, r2; add.u32 r1, r1, r3; st.global.u32 [w1], r1;)");
  EXPECT_EQ(result(text, 1), 107u);
  EXPECT_EQ(fake_thread().events,
            (Events{"barrier_sync 0 0", "barrier_sync 1 64", "barrier_arrive 2 32", "barrier_sync_unaligned 3 0",
                    "barrier_sync 4 0", "warp_sync 15", "barrier_arrive_unaligned 5 96", "barrier_red_popc 6 0 1",
                    "barrier_red_and 7 64 0", "barrier_red_or_unaligned 8 0 1", "nanosleep 100"}));
  const std::string ir = Kernel(text).ir();
  const std::size_t barrier = ir.find("call void @softgpu.barrier_sync(i32 0, i32 0), !");
  ASSERT_NE(barrier, std::string::npos) << ir;
  EXPECT_LT(ir.find("!softgpu.line", barrier), ir.find("\n", barrier)) << ir;
  EXPECT_NE(ir.find("convergent"), std::string::npos);
}

TEST(LowerWarps, BecomeMarks) {
  const std::string text = kernel(R"(
    shfl.sync.bfly.b32 r1, r0, 16, 31, 0xffffffff; shfl.sync.up.b32 r2|p0, r1, 1, 0, 3; shfl.idx.b32 r2, r0, 1, 2;
    setp.ne.u32 p1, r0, 0; vote.sync.all.pred p2, p1, 7; vote.sync.any.pred p2, !p1, 7; vote.sync.ballot.b32 r3, p1, 12; vote.uni.pred p2, p1;
    match.any.sync.b32 r4, r0, 6; match.all.sync.b32 r5|p3, r0, 9; redux.sync.add.s32 r6, r0, 1; redux.sync.min.s32 r6, r0, 1;
    redux.sync.max.u32 r6, r0, 1; redux.sync.xor.b32 r6, r0, 1; activemask.b32 r7; elect.sync r8|p3, 32;
    selp.u32 r9, 100000, 0, p3; add.u32 r9, r9, r8; mad.lo.u32 r9, r7, 10, r9; add.u32 r9, r9, r5; add.u32 r9, r9, r3; st.global.u32 [w1], r9;)");
  EXPECT_EQ(result(text, 4), 100000u + 5 + 2550 + 9 + 12);
  EXPECT_EQ(fake_thread().events,
            (Events{"softgpu.shfl_bfly 4 16 31 4294967295", "softgpu.shfl_up 5 1 0 3", "softgpu.shfl_idx 4 1 2 255",
                    "softgpu.vote_all 1 7", "softgpu.vote_any 0 7", "vote_ballot 1 12", "softgpu.vote_uni 1 255",
                    "match_any_32 4 6", "match_all_32 4 9", "softgpu.redux_add 4 1", "softgpu.redux_min_s 4 1",
                    "softgpu.redux_max_u 4 1", "softgpu.redux_xor 4 1", "warp_sync 32"}));
}

TEST(LowerSpecialRegisters, AreMarks) {
  const auto value = [](const std::string& name) {
    return result(kernel("mov.u32 r1, " + name + "; st.global.u32 [w1], r1;"), 0);
  };
  EXPECT_EQ(value("%tid.x"), 100 + static_cast<u32>(abi::Mark::tid_x));
  EXPECT_EQ(value("%ctaid.z"), 100 + static_cast<u32>(abi::Mark::ctaid_z));
  EXPECT_EQ(value("%nctaid.y"), 100 + static_cast<u32>(abi::Mark::nctaid_y));
  EXPECT_EQ(value("%laneid"), 5u);
  EXPECT_EQ(value("%lanemask_eq"), 1u << 5);
  EXPECT_EQ(value("%lanemask_lt"), 31u);
  EXPECT_EQ(value("%lanemask_le"), 63u);
  EXPECT_EQ(value("%lanemask_gt"), ~63u);
  EXPECT_EQ(value("%lanemask_ge"), ~31u);
  EXPECT_EQ(value("%clock"), 0x90abcdefu);
  EXPECT_EQ(value("%clock_hi"), 0x12345678u);
  EXPECT_EQ(value("%total_smem_size"), 4096u);
  EXPECT_EQ(value("WARP_SZ"), 32u);
}

TEST(LowerTable, HasEveryInstructionThatTheParserTakes) {
  for (const ptx::InstructionRow& row : ptx::instruction_rows())
    EXPECT_NE(lower::row_of(row.opcode).emit, nullptr) << row.suffixes;
}

TEST(LowerSharedLayout, HoldsWhatTheKernelCanReach) {
  const ptx::Module m = parsed(module(R"(
    .shared .align 4 .b8 used[6]; .shared .align 4 .b8 unused[1000]; .extern .shared .align 32 .b8 dynamic[];
    .func f() { .shared .align 16 .b8 of_f[4]; .reg .b32 r; mov.u32 r, of_f; mov.u32 r, dynamic; ret; }
    .visible .entry k() { .shared .align 8 .u64 own; .reg .b32 r; mov.u32 r, used; mov.u32 r, own; call f, (); ret; }
    .visible .entry empty() { ret; })"));
  const auto layout = [&](const char* name) {
    for (const ptx::Function& function : m.functions)
      if (function.name == name) return lower::shared_layout(lower::CallGraph(m), function);
    return lower::SharedLayout{};
  };
  EXPECT_EQ(layout("empty").static_bytes, 0u);
  const lower::SharedLayout k = layout("k");
  std::vector<std::pair<std::string, u32>> places;
  for (const auto& entry : k.entries) places.emplace_back(entry.variable->name, entry.offset);
  EXPECT_EQ(places,
            (std::vector<std::pair<std::string, u32>>{{"used", 0}, {"of_f", 16}, {"own", 24}, {"dynamic", 32}}));
  EXPECT_EQ(k.static_bytes, 32u);
  EXPECT_EQ(k.reserved_bytes, 0u);
}

TEST(LowerSharedLayout, StartsBehindWhatIsReservedWhereTheKernelAsksForThat) {
  const ptx::Module m = parsed(module(R"(
    .shared .align 16 .b8 cells[20]; .extern .shared .align 4 .b8 dynamic[];
    .func (.reg .b32 r) place() { mov.u32 r, %reserved_smem_offset_1; ret; }
    .visible .entry asks() { .reg .b32 r; call (r), place, (); mov.u32 r, cells; mov.u32 r, dynamic; ret; })"));
  const lower::SharedLayout layout = lower::shared_layout(lower::CallGraph(m), m.functions.back());
  EXPECT_EQ(layout.reserved_bytes, 1024u);
  ASSERT_EQ(layout.entries.size(), 2u);
  EXPECT_EQ(layout.entries[0].offset, 1024u);
  EXPECT_EQ(layout.entries[1].offset, 1056u);
  EXPECT_EQ(layout.static_bytes, 1056u);
}

}  // namespace
}  // namespace softgpu::test
