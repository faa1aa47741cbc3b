#include "conformance/texture.hpp"

namespace conformance {
namespace {

constexpr const char* kHead = R"(
.version 7.1
.target sm_75
.address_size 64
.visible .entry on_lanes(.param .u64 handle, .param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .pred %p<4>;
  .reg .b16 %s<8>;
  .reg .b32 %r<20>;
  .reg .f32 %f<4>;
  .reg .b64 %h, %d<8>;
  ld.param.u64 %h, [handle];
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  ld.param.u32 %r10, [n];
  mov.u32 %r11, %ctaid.x;
  mov.u32 %r12, %ntid.x;
  mov.u32 %r13, %tid.x;
  mad.lo.u32 %r14, %r11, %r12, %r13;
  setp.ge.u32 %p0, %r14, %r10;
  @%p0 bra DONE;
  mul.wide.u32 %d2, %r14, 16;
  add.u64 %d0, %d0, %d2;
  add.u64 %d1, %d1, %d2;
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%d0];
  mov.b32 %f0, %r0;
  mov.b32 %f1, %r1;
  mov.b32 %f2, %r2;
  mov.b32 %f3, %r3;
  mov.b32 %r4, 0;
  mov.b32 %r5, 0;
  mov.b32 %r6, 0;
  mov.b32 %r7, 0;
  )";

constexpr const char* kTail = R"(
  st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};
DONE:
  ret;
}
)";

}  // namespace

std::vector<Lanes> run_on_lanes(const std::string& ptx, std::uint64_t handle, const std::vector<Lanes>& inputs) {
  const TestModule module((kHead + ptx + kTail).c_str());
  const PinnedMemory<Lanes> in(inputs.size()), out(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i];
  const auto count = static_cast<unsigned>(inputs.size());
  constexpr unsigned kBlock = 64;
  EXPECT_SUCCESS(launch(module.function("on_lanes"), (count + kBlock - 1) / kBlock, kBlock, nullptr, handle,
                        in.device(), out.device(), count));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  return {out.data(), out.data() + inputs.size()};
}

std::vector<float> sample(const std::string& ptx, CUtexObject texture, const std::vector<Lanes>& inputs) {
  std::vector<float> values;
  for (const Lanes& result : run_on_lanes(ptx, texture, inputs)) values.push_back(as_float(result[0]));
  return values;
}

}  // namespace conformance
