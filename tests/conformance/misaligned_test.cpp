// Accesses to addresses that are not multiples of their size end the kernel with CUDA_ERROR_MISALIGNED_ADDRESS. A
// failed context is of no more use, so each case has a process of its own.
#include <cstdlib>
#include <string>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

struct Case {
  const char* name;
  unsigned alignment;
  // Accesses memory at %a, which is `misplacement` bytes from a multiple of 64 and differs by 16 from thread to thread.
  // %o is the misplacement, %t the thread; all other registers are 0.
  const char* body;
  const char* declarations = "";
};

constexpr Case kCases[] = {
    {"u16", 2, "ld.global.u16 %h, [%a]; st.global.u16 [%a+2], %h;"},
    {"u32 load", 4, "ld.global.u32 %v0, [%a]; add.u32 %v0, %v0, 1; st.global.b8 [%a+4], %v0;"},
    {"u32 store", 4, "st.global.u32 [%a], %v0;"},
    {"generic u64", 8, "ld.u64 %w0, [%a]; st.global.u64 [%a+8], %w0;"},
    {"v2.u32", 8, "ld.global.v2.u32 {%v0, %v1}, [%a]; st.global.v2.u32 [%a], {%v1, %v0};"},
    {"v4.u32", 16, "st.global.v4.u32 [%a], {%v0, %v1, %v2, %v3};"},
    {"v4.u8", 4, "st.global.v4.u8 [%a], {%v0, %v1, %v2, %v3};"},
    {"v2.u64", 16, "ld.global.v2.u64 {%w0, %w1}, [%a]; st.global.v2.u64 [%a], {%w1, %w0};"},
    {"volatile", 4, "ld.volatile.global.u32 %v0, [%a]; st.volatile.global.u32 [%a+4], %v0;"},
    {"atomic", 4, "atom.global.add.u32 %v0, [%a], 1; st.global.u32 [%a], %v0;"},
    {"reduction", 8, "red.global.add.u64 [%a], 1;"},
    {"compare and swap", 4, "atom.global.cas.b32 %v0, [%a], 0, 1; st.global.u32 [%a], %v0;"},
    {"between barriers", 4, "bar.sync 0; st.global.u32 [%a], %v0; bar.sync 0;"},
    {"shuffles", 4, "shfl.sync.bfly.b32 %v0, %t, 1, 31, -1; st.global.u32 [%a], %v0;"},
    {"shared", 4, "mov.u32 %v1, memory; mad.lo.u32 %v1, %t, 4, %v1; add.u32 %v1, %v1, %o; st.shared.u32 [%v1], %v0;",
     ".shared .align 16 .b8 memory[1024];"},
    {"local", 4,
     "mov.u64 %w0, memory; add.u64 %w1, %w0, %m; st.local.u32 [%w1], %t; and.b32 %v1, %t, 3; "
     "mad.wide.u32 %w0, %v1, 4, %w0; ld.local.u32 %v0, [%w0]; st.global.b8 [%a], %v0;",
     ".local .align 16 .b8 memory[64];"},
    {"in a loop", 4,
     "LOOP: ld.global.u32 %v0, [%a]; add.u32 %v1, %v1, %v0; add.u64 %a, %a, 64; add.u32 %v2, %v2, 1;"
     "setp.le.u32 %p, %v2, 4; @%p bra LOOP; st.global.b8 [%a], %v1;"},
    {"in some iterations", 4,
     "LOOP: and.b32 %v3, %v2, %t; setp.ne.u32 %q, %v3, 2; @%q bra NEXT; st.global.u32 [%a], %v0;"
     "NEXT: add.u64 %a, %a, 64; add.u32 %v2, %v2, 1; setp.le.u32 %p, %v2, 4; @%p bra LOOP;"},
    {"in one thread", 4,
     "sub.u64 %b, %a, %m; setp.ne.u32 %p, %t, 9; selp.u64 %a, %b, %a, %p; st.global.u32 [%a], %v0;"},
    {"in a recursive function", 4, "call down, (%a, %t);"},
};

std::string text_of(const Case& c) {
  return std::string(R"(.version 7.0
.target sm_75
.address_size 64
.func down(.reg .b64 %a, .reg .b32 %n) {
  .reg .pred %p;
  st.global.u32 [%a], %n;
  setp.lt.u32 %p, %n, 16;
  @%p ret;
  shr.u32 %n, %n, 1;
  call down, (%a, %n);
  ret;
}
.visible .entry k(.param .u64 data, .param .u32 misplacement) {
  .reg .b64 %a, %b, %m, %w<4>; .reg .b32 %t, %o, %v<4>; .reg .b16 %h; .reg .pred %p, %q;
)") + c.declarations +
         R"(
  ld.param.u64 %a, [data];
  ld.param.u32 %o, [misplacement];
  cvt.u64.u32 %m, %o;
  mov.u32 %t, %tid.x;
  mov.u32 %v0, 0; mov.u32 %v1, 0; mov.u32 %v2, 0; mov.u32 %v3, 0; mov.u64 %w0, 0; mov.u64 %w1, 0; mov.u16 %h, 0;
  mad.wide.u32 %a, %t, 16, %a;
)" + c.body +
         "\n  ret;\n}";
}

class Misaligned : public testing::Test {
 protected:
  static void use_a_fresh_context() {
    CUcontext context = nullptr;
    ASSERT_SUCCESS(CU(cuInit)(0));
    if (is_softgpu()) {
      ASSERT_SUCCESS(CU(cuDevicePrimaryCtxReset)(0));
    }
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  }

  static CUresult run(const std::string& ptx, unsigned misplacement, unsigned threads) {
    const TestModule module(ptx.c_str());
    CUdeviceptr memory = 0;
    EXPECT_SUCCESS(CU(cuMemAlloc)(&memory, 4096));
    EXPECT_SUCCESS(CU(cuMemsetD8)(memory, 0, 4096));
    EXPECT_SUCCESS(launch(module.function("k"), 2, threads, nullptr, memory + misplacement, misplacement));
    return CU(cuCtxSynchronize)();
  }

  static void check(const Case& c) {
    for (const unsigned threads : {64u, 50u}) {
      SCOPED_TRACE(std::string(c.name) + ", blocks of " + std::to_string(threads));
      use_a_fresh_context();
      EXPECT_SUCCESS(run(text_of(c), c.alignment, threads));
      EXPECT_CUDA_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, run(text_of(c), c.alignment / 2, threads));
      EXPECT_CUDA_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, CU(cuCtxSynchronize)());
      CUdeviceptr memory = 0;
      EXPECT_CUDA_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, CU(cuMemAlloc)(&memory, 4096));
      if (!is_softgpu()) return;  // a GPU needs a new process
    }
  }
};

TEST_F(Misaligned, DISABLED_All) {
  for (const Case& c : kCases) check(c);
}
TEST_F(Misaligned, DISABLED_One) { check(kCases[std::atoi(std::getenv("CONFORMANCE_CASE"))]); }

void run_all_in_children(const std::vector<std::string>& settings = {}) {
  if (is_softgpu()) {
    EXPECT_EQ(run_in_child("Misaligned.DISABLED_All", settings), 0);
    return;
  }
  for (std::size_t i = 0; i < std::size(kCases); ++i)
    EXPECT_EQ(run_in_child("Misaligned.DISABLED_One", {"CONFORMANCE_CASE=" + std::to_string(i)}), 0) << kCases[i].name;
}

TEST(MisalignedAccess, EndsTheKernel) { run_all_in_children(); }
TEST(MisalignedAccess, EndsTheKernelOfSingleThreads) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU has no such mode";
  run_all_in_children({"SOFTGPU_WIDTH=1"});
}

// What is not accessed need not be aligned, and what nobody reaches is no access.
TEST_F(Misaligned, DISABLED_NotAccessed) {
  use_a_fresh_context();
  for (const char* body :
       {"setp.gt.u32 %p, %t, 100; @%p st.global.u32 [%a], %v0;", "sub.u64 %a, %a, %m; st.global.u32 [%a], %v0;",
        "and.b64 %a, %a, -16; st.global.v4.u32 [%a], {%v0, %v1, %v2, %v3};",
        "ld.global.u8 %v0, [%a]; st.global.u8 [%a+1], %v0;",
        "LOOP: setp.ge.u32 %p, %v2, %v3; @%p bra OUT; st.global.u32 [%a], %v0; add.u32 %v2, %v2, 1;"
        "bra LOOP; OUT:"}) {
    EXPECT_SUCCESS(run(text_of({"", 4, body}), 1, 64)) << body;
  }
}
TEST(MisalignedAccess, IsNoneThatNobodyMakes) { EXPECT_EQ(run_in_child("Misaligned.DISABLED_NotAccessed"), 0); }

TEST_F(Misaligned, DISABLED_SaysWhere) {
  use_a_fresh_context();
  testing::internal::CaptureStderr();
  EXPECT_CUDA_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS,
                    run(text_of({"", 4,
                                 "setp.eq.u32 %p, %t, 40;\n st.global.u32 [%a+2], %v0;\n @%p st.global.u32 [%a], "
                                 "%v0;"}),
                        2, 64));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("kernel k, block ("), std::string::npos) << said;
  EXPECT_NE(said.find("not a multiple of its size, in line 24 of the PTX"), std::string::npos) << said;
  EXPECT_EQ(said.find("softgpu:"), said.rfind("softgpu:")) << said;
}
TEST(MisalignedAccess, SaysWhere) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU needs a tool for that";
  EXPECT_EQ(run_in_child("Misaligned.DISABLED_SaysWhere"), 0);
}

}  // namespace
}  // namespace conformance
