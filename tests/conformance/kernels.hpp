// PTX of the kernels that the tests launch.
#pragma once

namespace conformance {

// increment(int* data, int n): data[i] += 1
// add_value(int* data, int n, int value)
// scale_struct({float factor, pad, float* data}, int n): a structure by value
// wait_for(volatile int* flag): until *flag is not 0
// reverse(int* data): one block, through dynamic shared memory
// read_symbols(int* out): counter, table[2], and through a pointer that is initialised with a variable's address
// store_to(int* address), trap_now(), bounded(): faults, and a kernel for at most 64 threads
inline constexpr const char* kKernels = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};
.visible .global .align 8 .u64 pointer = counter;
.extern .shared .align 4 .b8 buffer[];

.visible .entry increment(.param .u64 data, .param .u32 n) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p bra DONE;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r1, [%rd3];
  add.s32 %r1, %r1, 1;
  st.global.u32 [%rd3], %r1;
DONE:
  ret;
}

.visible .entry add_value(.param .u64 data, .param .u32 n, .param .u32 value) {
  .reg .pred %p;
  .reg .b32 %r<7>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r6, [value];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p bra DONE;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r1, [%rd3];
  add.s32 %r1, %r1, %r6;
  st.global.u32 [%rd3], %r1;
DONE:
  ret;
}

.visible .entry scale_struct(.param .align 8 .b8 s[16], .param .u32 n) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.f32 %f1, [s];
  ld.param.u64 %rd1, [s+8];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p bra DONE;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
DONE:
  ret;
}

.visible .entry wait_for(.param .u64 flag) {
  .reg .pred %p;
  .reg .b32 %r1;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [flag];
  cvta.to.global.u64 %rd1, %rd1;
AGAIN:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.s32 %p, %r1, 0;
  @%p bra AGAIN;
  ret;
}

.visible .entry reverse(.param .u64 data) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mov.u32 %r4, buffer;
  shl.b32 %r5, %r1, 2;
  add.s32 %r5, %r4, %r5;
  st.shared.u32 [%r5], %r3;
  bar.sync 0;
  sub.s32 %r6, %r2, %r1;
  sub.s32 %r6, %r6, 1;
  shl.b32 %r6, %r6, 2;
  add.s32 %r6, %r4, %r6;
  ld.shared.u32 %r7, [%r6];
  st.global.u32 [%rd3], %r7;
  ret;
}

.visible .entry read_symbols(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.global.u32 %r1, [counter];
  ld.const.u32 %r2, [table+8];
  ld.global.u64 %rd2, [pointer];
  ld.global.u32 %r3, [%rd2];
  st.global.u32 [%rd1], %r1;
  st.global.u32 [%rd1+4], %r2;
  st.global.u32 [%rd1+8], %r3;
  ret;
}

.visible .entry store_to(.param .u64 address) {
  .reg .b32 %r1;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [address];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}

.visible .entry trap_now() {
  trap;
  ret;
}

.visible .entry bounded() .maxntid 64, 1, 1 {
  ret;
}
)";

}  // namespace conformance
