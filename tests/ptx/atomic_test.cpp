// atom and red: all operations and types, in global and shared memory.
#include <algorithm>
#include <set>

#include "ptx/reference.hpp"
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using L = std::uint64_t;

template <typename T>
std::string type_name() {
  return (std::is_floating_point_v<T> ? ".f" : std::is_signed_v<T> ? ".s" : ".u") + std::to_string(8 * sizeof(T));
}
std::string bits_name(std::size_t size) { return ".b" + std::to_string(8 * size); }

// What thread i of the grid applies to the one place.
template <typename T>
T operand_of(unsigned i) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(i % 8) * T(0.25);
  else
    return static_cast<T>((L{i} * 0x9E3779B97F4A7C15) >> 3);
}

// The operation must not depend on the order of the threads. Array: the place, then an operand for each thread.
template <typename T>
void check_reduction(const std::string& operation, const std::string& type, T start, T (*apply)(T, T)) {
  constexpr unsigned kThreads = 192;
  std::vector<T> array = {start};
  for (unsigned i = 0; i < kThreads; ++i) array.push_back(operand_of<T>(i));
  T expected = start;
  for (unsigned i = 0; i < kThreads; ++i) expected = apply(expected, operand_of<T>(i));

  const unsigned size = sizeof(T);
  const std::string r = size == 4 ? "%r0" : "%d0", old = size == 4 ? "%r1" : "%d1";
  const std::string load =
      own_element(size) + "ld.global" + bits_name(size) + " " + r + ", [%d31+" + std::to_string(size) + "];\n";
  for (const std::string& instruction :
       {"atom.global." + operation + type + " " + old + ", [%data], " + r,
        "atom." + operation + type + " _, [%data], " + r, "red.global." + operation + type + " [%data], " + r,
        "red.relaxed.gpu.global." + operation + type + " [%data], " + r,
        "atom.acq_rel.sys.global." + operation + type + " " + old + ", [%data], " + r})
    EXPECT_EQ(bits_of(run_kernel(kernel_text(load + instruction + ";"), array, {.grid_x = 3, .block_x = 64})[0]),
              bits_of(expected))
        << instruction;

  // In shared memory, by one block; the result goes to the first place.
  for (const std::string& instruction : {"atom.shared." + operation + type + " " + old + ", [place], " + r,
                                         "red.shared." + operation + type + " [place], " + r}) {
    const std::string text = kernel_text(
        load + "setp.eq.u32 %p0, %t, 0; ld.global" + bits_name(size) + " " + old + ", [%data]; @%p0 st.shared" +
            bits_name(size) + " [place], " + old + ";\nbar.sync 0;\n" + instruction + ";\nbar.sync 0;\nld.shared" +
            bits_name(size) + " " + old + ", [place]; @%p0 st.global" + bits_name(size) + " [%data], " + old + ";",
        ".shared .align 8 .b64 place;\n");
    EXPECT_EQ(bits_of(run_kernel(text, array, {.block_x = kThreads})[0]), bits_of(expected)) << instruction;
  }
}

using Atomic = PtxTest;

TEST_F(Atomic, Adds) {
  check_reduction<U>("add", ".u32", 5, [](U a, U b) { return a + b; });
  check_reduction<U>("add", ".s32", 5, [](U a, U b) { return a + b; });
  check_reduction<L>("add", ".u64", 5, [](L a, L b) { return a + b; });
  check_reduction<float>("add", ".f32", 5, [](float a, float b) { return a + b; });
  check_reduction<double>("add", ".f64", 5, [](double a, double b) { return a + b; });
}

template <typename T>
void check_limits(T start) {
  check_reduction<T>("min", type_name<T>(), start, [](T a, T b) { return std::min(a, b); });
  check_reduction<T>("max", type_name<T>(), start, [](T a, T b) { return std::max(a, b); });
}

TEST_F(Atomic, FindsLimits) {
  check_limits<U>(1u << 31);
  check_limits<std::int32_t>(-7);
  check_limits<L>(L{1} << 63);
  check_limits<std::int64_t>(-7);
}

template <typename T>
void check_logic(T start) {
  check_reduction<T>("and", bits_name(sizeof(T)), start, [](T a, T b) { return a & b; });
  check_reduction<T>("or", bits_name(sizeof(T)), start, [](T a, T b) { return a | b; });
  check_reduction<T>("xor", bits_name(sizeof(T)), start, [](T a, T b) { return a ^ b; });
}

TEST_F(Atomic, HasLogic) {
  check_logic<U>(0xffff00ff);
  check_logic<L>(0xffff00ffffff00ff);
}

// Every thread gets a value of its own back.
TEST_F(Atomic, GivesTheOldValue) {
  const std::string text =
      kernel_text(own_element() + "atom.global.add.u32 %r0, [%data], 1;\nst.global.u32 [%d31+4], %r0;");
  const auto result = run_kernel(text, std::vector<U>(1 + 512), {.grid_x = 4, .block_x = 128});
  EXPECT_EQ(result[0], 512u);
  EXPECT_EQ(std::set<U>(result.begin() + 1, result.end()).size(), 512u);
  EXPECT_EQ(*std::max_element(result.begin() + 1, result.end()), 511u);
}

TEST_F(Atomic, CountsUpAndDownInACircle) {
  const auto count = [](const std::string& operation, U start) {
    return run_kernel(kernel_text("atom.global." + operation + ".u32 %r0, [%data], 9;"), std::vector<U>{start},
                      {.grid_x = 2, .block_x = 16})[0];
  };
  EXPECT_EQ(count("inc", 0), 32u % 10);
  EXPECT_EQ(count("inc", 50), 31u % 10);  // above the limit: the first goes to 0
  EXPECT_EQ(count("dec", 0), (10u - 32 % 10) % 10);
  EXPECT_EQ(count("dec", 50), 9u - 31 % 10);
}

TEST_F(Atomic, ExchangesAndCompares) {
  const auto exchange = run_kernel(
      kernel_text(own_element() +
                  "add.u32 %r1, %r31, 100; atom.global.exch.b32 %r0, [%data], %r1; st.global.u32 [%d31+4], %r0;"),
      std::vector<U>(65, 7), {.block_x = 64});
  // The first value, and all but the last that was put there, came out again.
  std::multiset<U> values(exchange.begin(), exchange.end());
  EXPECT_EQ(values.count(7), 1u);
  for (U i = 0; i < 64; ++i) EXPECT_EQ(values.count(i + 100), 1u) << i;

  const std::string add_by_compare =
      own_element() +
      "ld.global.u32 %r0, [%data];\nAGAIN: mov.u32 %r1, %r0; add.u32 %r2, %r1, 3; atom.global.cas.b32 %r0, [%data], "
      "%r1, %r2; setp.ne.u32 %p0, %r0, %r1; @%p0 bra AGAIN;";
  EXPECT_EQ(run_kernel(kernel_text(add_by_compare), std::vector<U>{1}, {.grid_x = 3, .block_x = 40})[0], 1u + 3 * 120);

  const auto wide = run_kernel(kernel_text("mov.u64 %d1, 5; mov.u64 %d2, 0x123456789abcdef0; atom.global.cas.b64 %d0, "
                                           "[%data], %d1, %d2; st.global.u64 [%data+8], %d0;"),
                               std::vector<L>{5, 0}, {.block_x = 1});
  EXPECT_EQ(wide, (std::vector<L>{0x123456789abcdef0, 5}));
  const auto narrow = run_kernel(kernel_text("mov.b16 %h1, 5; mov.b16 %h2, 77; atom.global.cas.b16 %h0, [%data+2], "
                                             "%h1, %h2; st.global.u16 [%data+4], %h0;"),
                                 std::vector<std::uint16_t>{1, 5, 0, 9}, {.block_x = 1});
  EXPECT_EQ(narrow, (std::vector<std::uint16_t>{1, 77, 5, 9}));
}

TEST_F(Atomic, AddsHalfPrecision) {
  const auto add = [](const std::string& type, std::uint16_t one, std::uint16_t expected) {
    const std::string text =
        kernel_text("ld.global.b16 %h0, [%data+2]; atom.global.add.noftz" + type + " %h1, [%data], %h0;");
    EXPECT_EQ(run_kernel(text, std::vector<std::uint16_t>{0, one}, {.block_x = 64})[0], expected) << type;
  };
  add(".f16", to_half(0.5).bits, to_half(32).bits);
  add(".bf16", to_bfloat(0.5).bits, to_bfloat(32).bits);
  const auto pairs = [](const std::string& type, U ones, U expected) {
    const std::string text =
        kernel_text("ld.global.b32 %r0, [%data+4]; red.global.add.noftz" + type + " [%data], %r0;");
    EXPECT_EQ(run_kernel(text, std::vector<U>{0, ones}, {.block_x = 64})[0], expected) << type;
  };
  pairs(".f16x2", to_half(0.5).bits | U{to_half(2).bits} << 16, to_half(32).bits | U{to_half(128).bits} << 16);
  pairs(".bf16x2", to_bfloat(0.5).bits | U{to_bfloat(2).bits} << 16, to_bfloat(32).bits | U{to_bfloat(128).bits} << 16);
}

TEST_F(Atomic, WorksOnGenericAddressesOfSharedMemory) {
  const std::string text =
      kernel_text(own_element() +
                      "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [place], 0; bar.sync 0; cvta.shared.u64 %d0, place; "
                      "atom.add.u32 %r0, [%d0], 2; bar.sync 0; ld.shared.u32 %r1, [place];\n" +
                      store("%r1"),
                  ".shared .u32 place;\n");
  EXPECT_EQ(run_kernel(text, std::vector<U>(64), {.block_x = 64}), std::vector<U>(64, 128));
}

// Subnormal floats count in shared memory, and are zero in global memory, operand, place and sum alike.
TEST_F(Atomic, SumsOfFloatsFlushInGlobalMemoryOnly) {
  struct Sum {
    U place, operand, flushed, exact;
  };
  const Sum sums[] = {{0x200, 0x100, 0, 0x300},
                      {0x80000200, 0x80000100, 0x80000000, 0x80000300},
                      {0x00800000, 0x100, 0x00800000, 0x00800100},
                      {0x100, 0x00800000, 0x00800000, 0x00800100},
                      {0x00800001, 0x80800000, 0, 1},
                      {0x3f800000, 0x40000000, 0x40400000, 0x40400000}};
  const auto with = [](const Sum& sum, const std::string& update, bool in_shared) {
    const std::string copy = in_shared ? "st.shared.u32 [place], %r0;\n" : "";
    const std::string back = in_shared ? "ld.shared.u32 %r0, [place]; st.global.u32 [%data], %r0;\n" : "";
    const std::string text = kernel_text(
        "ld.global.u32 %r0, [%data]; ld.global.f32 %f0, [%data+4];\n" + copy + update + back, ".shared .u32 place;\n");
    return run_kernel(text, std::vector<U>{sum.place, sum.operand}, {.block_x = 1})[0];
  };
  for (const Sum& sum : sums) {
    for (const char* update : {"atom.global.add.f32 %f1, [%data], %f0;\n", "red.global.add.f32 [%data], %f0;\n",
                               "cvta.global.u64 %d0, %data; atom.add.f32 %f1, [%d0], %f0;\n"})
      EXPECT_EQ(with(sum, update, false), sum.flushed) << update << sum.place << " + " << sum.operand;
    for (const char* update : {"atom.shared.add.f32 %f1, [place], %f0;\n", "red.shared.add.f32 [place], %f0;\n",
                               "cvta.shared.u64 %d0, place; atom.add.f32 %f1, [%d0], %f0;\n"})
      EXPECT_EQ(with(sum, update, true), sum.exact) << update << sum.place << " + " << sum.operand;
  }
}

// A lock that lanes of one warp take from each other.
TEST_F(Atomic, MakesALockBetweenAllThreads) {
  const std::string text = kernel_text(
      "AGAIN: atom.acquire.gpu.global.cas.b32 %r0, [%data], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra AGAIN;\n"
      "ld.volatile.global.u32 %r1, [%data+4]; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%data+4], %r1;\n"
      "membar.gl; atom.release.gpu.global.exch.b32 %r0, [%data], 0;");
  EXPECT_EQ(run_kernel(text, std::vector<U>{0, 0}, {.grid_x = 2, .block_x = 48})[1], 96u);
}

TEST_F(Atomic, FencesAreThere) {
  EXPECT_EQ(
      run_threads(
          "membar.cta; membar.gl; membar.sys; fence.sc.gpu; fence.acq_rel.cta; fence.acq_rel.sys; fence.proxy.alias;" +
          store("%t")),
      each_thread(32, [](unsigned i) { return i; }));
}

}  // namespace
}  // namespace ptx_test
