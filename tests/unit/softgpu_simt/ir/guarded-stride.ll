; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Where an index may wrap inside a gang a scalar comparison chooses between a vector load and a gather.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[FITS:.*]] = icmp slt i32 %{{.*}}, 2147483633
; CHECK: br i1 %[[FITS]]
; CHECK: load <16 x float>
; CHECK: call <16 x float> @llvm.masked.gather.v16f32.v16p0(
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %block = call i32 @softgpu.ctaid_x()
  %i = add i32 %tx, %block
  %at = getelementptr float, ptr %p, i32 %i
  %v = load float, ptr %at
  %to = getelementptr float, ptr %p, i32 %tx
  store float %v, ptr %to
  ret void
}
