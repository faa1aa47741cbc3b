// Random structured programs, run thread by thread and in gangs: what they leave in memory must be the same.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "unit/softgpu_simt/harness.hpp"

namespace softgpu::simt::test {
namespace {

constexpr unsigned kVariables = 5;
constexpr unsigned kInputs = 64;

// Writes the body of a kernel over i32 variables: assignments, ifs, counted loops with breaks and continues, early
// returns, loads from a table and stores to the thread's own row. Every loop ends by its counter.
class ProgramWriter {
 public:
  ProgramWriter(unsigned seed, bool barriers) : random_(seed), barriers_(barriers) {}

  std::string write() {
    statements(4, 0);
    for (unsigned v = 0; v < kVariables; ++v) store_result(v, variable(v));
    body_ << "  br label %end\nend:\n  ret void\n}\n";
    std::ostringstream kernel;
    kernel << "define void @kernel() {\nentry:\n";
    for (unsigned v = 0; v < kVariables; ++v) kernel << "  %v" << v << " = alloca i32\n";
    for (unsigned c = 0; c < counters_; ++c) kernel << "  %c" << c << " = alloca i32\n";
    kernel
        << "  %params = call ptr @softgpu.params()\n"
           "  %in = load ptr, ptr %params\n  %outp = getelementptr i8, ptr %params, i64 8\n  %out = load ptr, ptr "
           "%outp\n"
           "  %tx = call i32 @softgpu.tid_x()\n  %ty = call i32 @softgpu.tid_y()\n  %nx = call i32 @softgpu.ntid_x()\n"
           "  %bx = call i32 @softgpu.ctaid_x()\n"
           "  %row = mul i32 %ty, %nx\n  %id = add i32 %row, %tx\n  %id64 = zext i32 %id to i64\n"
           "  %base = mul i64 %id64, "
        << kVariables * 4 << "\n  %mine = getelementptr i8, ptr %out, i64 %base\n";
    for (unsigned v = 0; v < kVariables; ++v) {
      const char* start[] = {"%tx", "%bx", "7", "%id", "%ty"};
      kernel << "  store i32 " << start[v] << ", ptr %v" << v << "\n";
    }
    kernel << body_.str();
    return kernel.str();
  }

 private:
  unsigned pick(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random_); }
  std::string fresh(const char* prefix) { return std::string("%") + prefix + std::to_string(names_++); }
  std::string label(const char* prefix) { return std::string(prefix) + std::to_string(names_++); }

  std::string variable(unsigned v) {
    const std::string name = fresh("t");
    body_ << "  " << name << " = load i32, ptr %v" << v << "\n";
    return name;
  }
  std::string operand() {
    switch (pick(6)) {
      case 0: return std::to_string(pick(20));
      case 1: return "%tx";
      case 2: return "%bx";
      default: return variable(pick(kVariables));
    }
  }
  std::string expression() {
    const char* operations[] = {"add", "sub", "mul", "and", "or", "xor"};
    std::string a = operand(), b = operand(), result = fresh("e");
    if (pick(5) == 0) {
      const std::string masked = fresh("i"), wide = fresh("w"), address = fresh("a");
      body_ << "  " << masked << " = and i32 " << a << ", " << kInputs - 1 << "\n  " << wide << " = zext i32 " << masked
            << " to i64\n  " << address << " = getelementptr i32, ptr %in, i64 " << wide << "\n  " << result
            << " = load i32, ptr " << address << "\n";
      return result;
    }
    body_ << "  " << result << " = " << operations[pick(6)] << " i32 " << a << ", " << b << "\n";
    return result;
  }
  std::string condition() {
    const char* comparisons[] = {"eq", "ne", "ult", "sgt", "sle"};
    std::string a = expression(), small = fresh("m"), result = fresh("q");
    body_ << "  " << small << " = and i32 " << a << ", 7\n  " << result << " = icmp " << comparisons[pick(5)] << " i32 "
          << small << ", " << pick(7) << "\n";
    return result;
  }
  std::string uniform_condition() {
    const std::string masked = fresh("m"), result = fresh("q");
    body_ << "  " << masked << " = and i32 %bx, " << 1 + pick(3) << "\n  " << result << " = icmp eq i32 " << masked
          << ", 0\n";
    return result;
  }
  void store_result(unsigned slot, const std::string& value) {
    const std::string address = fresh("a");
    body_ << "  " << address << " = getelementptr i8, ptr %mine, i64 " << slot * 4 << "\n  store i32 " << value
          << ", ptr " << address << "\n";
  }

  void statements(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) statement(depth);
  }
  void statement(unsigned depth) {
    const unsigned kind = pick(depth < 3 ? 10 : 4);
    if (kind < 4) {
      const std::string value = expression();
      body_ << "  store i32 " << value << ", ptr %v" << pick(kVariables) << "\n";
      if (kind == 0) store_result(pick(kVariables), value);
    } else if (kind < 7) {
      branch(depth);
    } else if (kind < 9) {
      loop(depth);
    } else {
      leave(depth);
    }
  }
  void branch(unsigned depth) {
    const std::string c = pick(4) == 0 ? uniform_condition() : condition();
    const std::string then = label("then"), other = label("else"), behind = label("behind");
    body_ << "  br i1 " << c << ", label %" << then << ", label %" << other << "\n" << then << ":\n";
    statements(1 + pick(2), depth + 1);
    body_ << "  br label %" << behind << "\n" << other << ":\n";
    if (pick(2)) statements(1 + pick(2), depth + 1);
    body_ << "  br label %" << behind << "\n" << behind << ":\n";
    if (barriers_ && depth == 0) body_ << "  call void @softgpu.barrier_sync(i32 0, i32 0)\n";
  }
  void loop(unsigned depth) {
    const std::string counter = "%c" + std::to_string(counters_++);
    const std::string head = label("head"), in = label("body"), latch = label("latch"), behind = label("behind");
    std::string limit = std::to_string(1 + pick(5));
    if (pick(2)) {
      const std::string value = expression();
      limit = fresh("n");
      body_ << "  " << limit << " = and i32 " << value << ", 3\n";
    }
    body_ << "  store i32 0, ptr " << counter << "\n  br label %" << head << "\n" << head << ":\n";
    const std::string count = fresh("n"), more = fresh("q");
    body_ << "  " << count << " = load i32, ptr " << counter << "\n  " << more << " = icmp ult i32 " << count << ", "
          << limit << "\n  br i1 " << more << ", label %" << in << ", label %" << behind << "\n"
          << in << ":\n";
    loops_.push_back({latch, behind});
    statements(1 + pick(3), depth + 1);
    loops_.pop_back();
    const std::string old = fresh("n"), next = fresh("n");
    body_ << "  br label %" << latch << "\n"
          << latch << ":\n  " << old << " = load i32, ptr " << counter << "\n  " << next << " = add i32 " << old
          << ", 1\n  store i32 " << next << ", ptr " << counter << "\n  br label %" << head << "\n"
          << behind << ":\n";
  }
  // break, continue or return, under a condition.
  void leave(unsigned) {
    const std::string c = condition(), stay = label("stay"), go = label("go");
    std::string target = "end";
    if (!loops_.empty() && pick(4) != 0) target = pick(2) ? loops_.back().first : loops_.back().second;
    if (target == "end" && barriers_) return;
    body_ << "  br i1 " << c << ", label %" << go << ", label %" << stay << "\n"
          << go << ":\n  br label %" << target << "\n"
          << stay << ":\n";
  }

  std::mt19937 random_;
  bool barriers_;
  std::ostringstream body_;
  unsigned names_ = 0, counters_ = 0;
  std::vector<std::pair<std::string, std::string>> loops_;
};

std::vector<std::uint32_t> results_of(const std::string& ir, unsigned width, abi::Dim3 block) {
  std::vector<std::uint32_t> in(kInputs), out(block.x * block.y * block.z * kVariables, 0xdeadbeef);
  for (unsigned i = 0; i < kInputs; ++i) in[i] = i * 2654435761U >> 16;
  Run options{.width = width, .block = block, .grid = {3, 1, 1}};
  options.params = {reinterpret_cast<std::uint64_t>(in.data()), reinterpret_cast<std::uint64_t>(out.data())};
  const Ran ran = run(ir, options);
  EXPECT_FALSE(ran.divergent_barrier);
  EXPECT_FALSE(ran.deadlock);
  return out;
}

class RandomPrograms : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPrograms, GangsComputeWhatSingleThreadsCompute) {
  for (unsigned i = 0; i < 6; ++i) {
    const unsigned seed = GetParam() * 100 + i;
    const std::string ir = ProgramWriter(seed, i % 3 == 2).write();
    const unsigned width = seed % 2 ? 8 : 16;
    for (const abi::Dim3 block : {abi::Dim3{32, 2, 1}, abi::Dim3{37, 1, 1}, abi::Dim3{5, 7, 1}})
      ASSERT_EQ(results_of(ir, 1, block), results_of(ir, width, block))
          << "seed " << seed << ", block " << block.x << "x" << block.y << "\n"
          << ir;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(0U, 12U));

}  // namespace
}  // namespace softgpu::simt::test
