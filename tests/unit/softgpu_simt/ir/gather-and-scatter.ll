; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Addresses of which nothing is known are gathered from and scattered to.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[I:.*]] = load <16 x i32>
; CHECK: %[[AT:.*]] = getelementptr float, <16 x ptr> %{{.*}}, <16 x i64>
; CHECK: %[[V:.*]] = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %[[AT]], i32 4, <16 x i1> {{.*}}true
; CHECK: call void @llvm.masked.scatter.v16f32.v16p0(<16 x float> %{{.*}}, <16 x ptr> %[[AT]], i32 4,
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %from = getelementptr i32, ptr %p, i32 %tx
  %i = load i32, ptr %from
  %at = getelementptr float, ptr %p, i32 %i
  %v = load float, ptr %at
  %w = fneg float %v
  store float %w, ptr %at
  ret void
}
