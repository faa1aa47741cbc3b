// Runs lowered code as one thread: compiles PTX, resolves the marked functions to functions of the test, and calls the
// kernel. Everything runs twice, as lowered and after LLVM's -O2, and must give the same: an undefined value that
// slipped into the code would show.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace softgpu::test {

// What the marked functions answer, and what they were asked.
struct FakeThread {
  std::vector<std::byte> params;
  alignas(64) std::byte shared[4096] = {};
  std::vector<std::string> events;  // "barrier_sync 0 0", "trap", …, in order
};
FakeThread& fake_thread();

// Parses and lowers; throws std::runtime_error with the parser's or the lowering's words.
class Kernel {
 public:
  explicit Kernel(const std::string& ptx, const std::string& name = "k", bool optimised = false);
  ~Kernel();
  // Calls the kernel with its parameters laid out one after the other, each aligned to its size. `variables` of the
  // module are zero at first, or have the initial value of the PTX.
  template <typename... Arguments>
  void operator()(Arguments... arguments) {
    std::vector<std::byte> params;
    (append(params, arguments), ...);
    run(params);
  }
  void* variable(const std::string& name);
  const std::string& ir() const { return ir_; }

 private:
  template <typename T>
  static void append(std::vector<std::byte>& params, T value) {
    params.resize((params.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    params.resize(params.size() + sizeof(T));
    std::memcpy(params.data() + params.size() - sizeof(T), &value, sizeof(T));
  }
  void run(const std::vector<std::byte>& params);

  struct Impl;
  Impl* impl_;
  std::string ir_;
};

// PTX of a module with the given text behind the header.
std::string module(const std::string& text);

// `code` is applied to each row of `inputs`: the registers a, b and c hold a row's values, d is the result. Types are
// those of the registers, such as "b32". More registers: pred p, q; b32 r0 to r3; b64 w0 to w3.
struct Snippet {
  std::string code, d, a, b = "b32", c = "b32";
};
struct Row {
  std::uint64_t a = 0, b = 0, c = 0;
};
std::vector<std::uint64_t> evaluate(const Snippet&, const std::vector<Row>& inputs);

// Interesting values of a width in bits, and all combinations of them.
std::vector<std::uint64_t> integers(unsigned bits);
std::vector<Row> pairs(const std::vector<std::uint64_t>&, const std::vector<std::uint64_t>&);
std::vector<Row> triples(const std::vector<std::uint64_t>&, const std::vector<std::uint64_t>&,
                         const std::vector<std::uint64_t>&);

}  // namespace softgpu::test
