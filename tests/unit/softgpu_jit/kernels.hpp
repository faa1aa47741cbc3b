// PTX for the tests of jit, and what they share.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/exec/pool.hpp"
#include "softgpu/jit/program.hpp"
#include "softgpu/ptx/parse.hpp"

namespace softgpu::jit {

inline constexpr std::string_view kHeader = R"(.version 8.3
.target sm_90
.address_size 64
)";

// out[i] = factor * in[i] + bias for i < n; `bias` is a module variable.
inline constexpr std::string_view kScale = R"(
.visible .global .align 4 .f32 bias;
.visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra DONE;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.u32 %rd5, %r5, 4;
  add.s64 %rd6, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [bias];
  fma.rn.f32 %f4, %f2, %f1, %f3;
  add.s64 %rd7, %rd3, %rd5;
  st.global.f32 [%rd7], %f4;
DONE:
  ret;
}
)";

// out[block] = sum of 0..ntid-1, through shared memory and a barrier: every thread adds its index, the first one
// writes.
inline constexpr std::string_view kBlockSum = R"(
.visible .entry block_sum(.param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  .shared .align 4 .b8 sum[4];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p bra READY;
  mov.u32 %r2, 0;
  st.shared.u32 [sum], %r2;
READY:
  bar.sync 0;
  atom.shared.add.u32 %r3, [sum], %r1;
  bar.sync 0;
  @%p bra DONE;
  ld.shared.u32 %r4, [sum];
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r5, %ctaid.x;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r4;
DONE:
  ret;
}
)";

inline std::shared_ptr<const Program> program_of(std::string_view kernels) {
  const std::string text = std::string(kHeader) + std::string(kernels);
  ptx::ParseResult parsed = ptx::parse(text);
  for (const ptx::Diagnostic& diagnostic : parsed.diagnostics) ADD_FAILURE() << ptx::to_string(diagnostic);
  return std::make_shared<const Program>(std::move(parsed.module.value()), text);
}

inline exec::Outcome run(exec::Pool& pool, exec::KernelCode code, const KernelFacts& facts, abi::Dim3 grid,
                         abi::Dim3 block, std::vector<std::byte> params) {
  std::atomic<bool> done = false;
  exec::Outcome result{};
  exec::GridLaunch launch{.code = code, .grid = grid, .block = block, .params = std::move(params)};
  launch.static_shared_bytes = facts.reserved_shared_bytes + facts.static_shared_bytes;
  launch.zeroed_shared_bytes = facts.reserved_shared_bytes;
  launch.kernel_name = facts.name;
  launch.on_done = [&](exec::Outcome outcome, std::string_view) {
    result = outcome;
    done = true;
  };
  pool.submit(std::move(launch));
  pool.wait_until([&] { return done.load(); });
  return result;
}

// A parameter block with each value at its natural alignment.
template <typename... Values>
std::vector<std::byte> params(Values... values) {
  std::vector<std::byte> bytes;
  const auto append = [&bytes](auto value) {
    bytes.resize((bytes.size() + sizeof value - 1) / sizeof value * sizeof value + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
  };
  (append(values), ...);
  return bytes;
}

// Runs kScale and checks every element.
inline void expect_scales(exec::Pool& pool, Image& image, const Program& program, float bias, abi::Dim3 block) {
  const std::uint32_t n = 1000;
  std::vector<float> in(n), out(n, -1.0f);
  for (std::uint32_t i = 0; i < n; ++i) in[i] = static_cast<float>(i);
  const abi::Dim3 grid{(n + block.x - 1) / block.x};
  ASSERT_EQ(run(pool, image.code(0, block), program.kernels()[0], grid, block, params(out.data(), in.data(), 2.0f, n)),
            exec::Outcome::completed);
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(out[i], 2.0f * static_cast<float>(i) + bias) << i;
}

// An empty folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/softgpu-cache-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path());
    return found;
  }

 private:
  std::string path_;
};

}  // namespace softgpu::jit
