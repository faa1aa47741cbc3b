// Pieces of kernels in LLVM IR that the tests share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "unit/softgpu_simt/harness.hpp"

namespace softgpu::simt::test {

// %p0, %p1, … are the 64-bit parameters, %a0, %a1, … the same as pointers; %tx is %tid.x, %i the thread's global index
// in x as i32, %i64 the same extended.
inline std::string kernel(unsigned params, const std::string& body, const std::string& more = "") {
  std::string text = "define void @kernel() {\nentry:\n  %params = call ptr @softgpu.params()\n";
  for (unsigned p = 0; p < params; ++p) {
    const std::string n = std::to_string(p);
    text += "  %q" + n + " = getelementptr i8, ptr %params, i64 " + std::to_string(8 * p) + "\n  %p" + n +
            " = load i64, ptr %q" + n + ", !invariant.load !{}\n  %a" + n + " = inttoptr i64 %p" + n + " to ptr\n";
  }
  text +=
      "  %tx = call i32 @softgpu.tid_x()\n  %nx = call i32 @softgpu.ntid_x()\n  %bx = call i32 @softgpu.ctaid_x()\n"
      "  %start = mul i32 %bx, %nx\n  %i = add i32 %start, %tx\n  %i64 = zext i32 %i to i64\n";
  return text + body + "}\n" + more;
}

template <typename T>
std::uint64_t address(std::vector<T>& values) {
  return reinterpret_cast<std::uint64_t>(values.data());
}

}  // namespace softgpu::simt::test
