// What the CUDA 13 compiler makes of this kernel, with -lineinfo, for the tests to take apart:
//
//   #include <cstdio>
//   struct Shape { int rows; double weights[3]; char tag; };
//   __constant__ float coefficients[4] = {1.0f, 0.5f, 0.25f, 0.125f};
//   __device__ int counter = 7;
//   __device__ const int* position = &counter;
//   __device__ __noinline__ float polynomial(float x, int degree) {
//     float sum = 0;
//     for (int i = 0; i <= degree; ++i) sum = fmaf(sum, x, coefficients[i & 3]);
//     return sum;
//   }
//   extern "C" __global__ void __launch_bounds__(256) reduce(const float* in, float* out, int n, Shape shape) {
//     __shared__ float partial[256];
//     extern __shared__ double dynamic[];
//     int i = blockIdx.x * blockDim.x + threadIdx.x;
//     partial[threadIdx.x] = i < n ? polynomial(in[i], shape.rows) : 0.0f;
//     __syncthreads();
//     for (int step = blockDim.x / 2; step > 0; step /= 2) {
//       if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
//       __syncthreads();
//     }
//     if (threadIdx.x == 0) {
//       atomicAdd(out, partial[0] + (float)(dynamic[0] * shape.weights[2]));
//       if (atomicAdd(&counter, 1) < 0) printf("%d\n", *position + shape.tag);
//     }
//   }
#pragma once

#include <string_view>

namespace softgpu::ptx {

inline constexpr std::string_view kNvrtcOutput = R"PTX(.version 9.0
.target sm_90
.address_size 64

.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.const .align 4 .b8 coefficients[16] = {0, 0, 128, 63, 0, 0, 0, 63, 0, 0, 128, 62, 0, 0, 0, 62};
.global .align 4 .u32 counter = 7;
.global .align 8 .u64 position = generic(counter);
// _ZZ6reduceE7partial has been demoted
.extern .shared .align 16 .b8 dynamic[];
.global .align 1 .b8 $str[4] = {37, 100, 10};

.func  (.param .b32 func_retval0) _Z10polynomialfi(
	.param .b32 _Z10polynomialfi_param_0,
	.param .b32 _Z10polynomialfi_param_1
)
{
	.reg .pred 	%p<6>;
	.reg .f32 	%f<26>;
	.reg .b32 	%r<22>;
	.reg .b64 	%rd<5>;
	.loc	1 6 0


	ld.param.f32 	%f12, [_Z10polynomialfi_param_0];
	ld.param.u32 	%r12, [_Z10polynomialfi_param_1];
	.loc	1 8 3
	setp.lt.s32 	%p1, %r12, 0;
	mov.f32 	%f25, 0f00000000;
	@%p1 bra 	$L__BB0_7;

	add.s32 	%r14, %r12, 1;
	and.b32  	%r21, %r14, 3;
	setp.lt.u32 	%p2, %r12, 3;
	mov.f32 	%f25, 0f00000000;
	mov.u32 	%r19, 0;
	@%p2 bra 	$L__BB0_4;

	ld.const.f32 	%f1, [coefficients];
	ld.const.f32 	%f2, [coefficients+4];
	ld.const.f32 	%f3, [coefficients+8];
	ld.const.f32 	%f4, [coefficients+12];
	sub.s32 	%r17, %r12, %r21;
	mov.f32 	%f25, 0f00000000;
	mov.u32 	%r19, 0;

$L__BB0_3:
	fma.rn.f32 	%f17, %f25, %f12, %f1;
	fma.rn.f32 	%f18, %f17, %f12, %f2;
	fma.rn.f32 	%f19, %f18, %f12, %f3;
	fma.rn.f32 	%f25, %f19, %f12, %f4;
	add.s32 	%r19, %r19, 4;
	add.s32 	%r17, %r17, -4;
	setp.ne.s32 	%p3, %r17, -1;
	@%p3 bra 	$L__BB0_3;

$L__BB0_4:
	setp.eq.s32 	%p4, %r21, 0;
	@%p4 bra 	$L__BB0_7;

	.loc	1 0 3
	mov.u64 	%rd3, coefficients;

$L__BB0_6:
	.pragma "nounroll";
	.loc	1 8 3
	shl.b32 	%r16, %r19, 2;
	cvt.u64.u32 	%rd1, %r16;
	and.b64  	%rd2, %rd1, 12;
	add.s64 	%rd4, %rd3, %rd2;
	ld.const.f32 	%f20, [%rd4];
	fma.rn.f32 	%f25, %f25, %f12, %f20;
	add.s32 	%r19, %r19, 1;
	add.s32 	%r21, %r21, -1;
	setp.ne.s32 	%p5, %r21, 0;
	@%p5 bra 	$L__BB0_6;

$L__BB0_7:
	.loc	1 9 3
	st.param.f32 	[func_retval0+0], %f25;
	ret;

}
	// .globl	reduce
.visible .entry reduce(
	.param .u64 reduce_param_0,
	.param .u64 reduce_param_1,
	.param .u32 reduce_param_2,
	.param .align 8 .b8 reduce_param_3[40]
)
.maxntid 256, 1, 1
{
	.local .align 8 .b8 	__local_depot1[8];
	.reg .b64 	%SP;
	.reg .b64 	%SPL;
	.reg .pred 	%p<7>;
	.reg .b16 	%rs<17>;
	.reg .f32 	%f<13>;
	.reg .b32 	%r<22>;
	.reg .f64 	%fd<6>;
	.reg .b64 	%rd<13>;
	.loc	1 11 0
	// demoted variable
	.shared .align 4 .b8 _ZZ6reduceE7partial[1024];

	mov.u64 	%SPL, __local_depot1;
	cvta.local.u64 	%SP, %SPL;
	ld.param.u64 	%rd1, [reduce_param_0];
	ld.param.u64 	%rd2, [reduce_param_1];
	ld.param.u32 	%r9, [reduce_param_2];
	ld.param.v4.u8 	{%rs9, %rs10, %rs11, %rs12}, [reduce_param_3+32];
	ld.param.f64 	%fd3, [reduce_param_3+24];
	ld.param.u32 	%r8, [reduce_param_3];
	.loc	1 14 3
	mov.u32 	%r1, %ntid.x;
	mov.u32 	%r10, %ctaid.x;
	mov.u32 	%r2, %tid.x;
	mad.lo.s32 	%r3, %r10, %r1, %r2;
	.loc	1 15 3
	setp.ge.s32 	%p1, %r3, %r9;
	mov.f32 	%f12, 0f00000000;
	@%p1 bra 	$L__BB1_2;

	.loc	1 0 3
	cvta.to.global.u64 	%rd3, %rd1;
	.loc	1 15 3
	mul.wide.s32 	%rd4, %r3, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.f32 	%f4, [%rd5];
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.f32 	[param0+0], %f4;
	.param .b32 param1;
	st.param.b32 	[param1+0], %r8;
	.param .b32 retval0;
	call.uni (retval0),
	_Z10polynomialfi,
	(
	param0,
	param1
	);
	ld.param.f32 	%f12, [retval0+0];
	} // callseq 0

$L__BB1_2:
	shl.b32 	%r11, %r2, 2;
	mov.u32 	%r12, _ZZ6reduceE7partial;
	add.s32 	%r4, %r12, %r11;
	st.shared.f32 	[%r4], %f12;
	.loc	1 16 3
	bar.sync 	0;
	.loc	1 17 3
	shr.u32 	%r21, %r1, 1;
	setp.eq.s32 	%p2, %r21, 0;
	@%p2 bra 	$L__BB1_6;

$L__BB1_3:
	.loc	1 18 5
	setp.ge.u32 	%p3, %r2, %r21;
	@%p3 bra 	$L__BB1_5;

	shl.b32 	%r13, %r21, 2;
	add.s32 	%r14, %r4, %r13;
	ld.shared.f32 	%f5, [%r4];
	ld.shared.f32 	%f6, [%r14];
	add.f32 	%f7, %f6, %f5;
	st.shared.f32 	[%r4], %f7;

$L__BB1_5:
	.loc	1 19 5
	bar.sync 	0;
	.loc	1 17 3
	shr.u32 	%r21, %r21, 1;
	setp.ne.s32 	%p4, %r21, 0;
	@%p4 bra 	$L__BB1_3;

$L__BB1_6:
	.loc	1 21 3
	setp.ne.s32 	%p5, %r2, 0;
	@%p5 bra 	$L__BB1_9;

	.loc	1 22 5
	ld.shared.f32 	%f8, [_ZZ6reduceE7partial];
	ld.shared.f64 	%fd4, [dynamic];
	mul.f64 	%fd5, %fd3, %fd4;
	cvt.rn.f32.f64 	%f9, %fd5;
	add.f32 	%f10, %f8, %f9;
	cvta.to.global.u64 	%rd6, %rd2;
	.loc	1 22 5
	.loc	2 84 3, function_name $L__info_string0, inlined_at 1 22 5
	atom.global.add.f32 	%f11, [%rd6], %f10;
	.loc	1 23 5
	.loc	3 107 3, function_name $L__info_string1, inlined_at 1 23 5
	mov.u64 	%rd7, counter;
	atom.global.add.u32 	%r15, [%rd7], 1;
	.loc	1 23 5
	setp.gt.s32 	%p6, %r15, -1;
	@%p6 bra 	$L__BB1_9;

	.loc	1 0 5
	cvt.u32.u16 	%r16, %rs9;
	.loc	1 23 5
	cvt.s32.s8 	%r17, %r16;
	ld.global.u64 	%rd8, [position];
	ld.u32 	%r18, [%rd8];
	add.s32 	%r19, %r18, %r17;
	add.u64 	%rd9, %SP, 0;
	add.u64 	%rd10, %SPL, 0;
	st.local.u32 	[%rd10], %r19;
	mov.u64 	%rd11, $str;
	cvta.global.u64 	%rd12, %rd11;
	{ // callseq 1, 0
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd12;
	.param .b64 param1;
	st.param.b64 	[param1+0], %rd9;
	.param .b32 retval0;
	call.uni (retval0),
	vprintf,
	(
	param0,
	param1
	);
	ld.param.b32 	%r20, [retval0+0];
	} // callseq 1

$L__BB1_9:
	.loc	1 25 1
	ret;

}
	.file	1 "sample.cu"
	.file	2 "sm_20_atomic_functions.hpp"
	.file	3 "device_atomic_functions.hpp"
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,78,51,57,95,73,78,84,69,82,78,65,76,95,54,55,98,53,56,50,99,53,95,57,95,115,97,109,112,108,101,95,99,117,95,50,49,56,52
.b8 57,56,100,101,57,97,116,111,109,105,99,65,100,100,69,80,102,102,0
$L__info_string1:
.b8 95,90,78,51,57,95,73,78,84,69,82,78,65,76,95,54,55,98,53,56,50,99,53,95,57,95,115,97,109,112,108,101,95,99,117,95,50,49,56,52
.b8 57,56,100,101,57,97,116,111,109,105,99,65,100,100,69,80,105,105,0

	}
)PTX";

}  // namespace softgpu::ptx
