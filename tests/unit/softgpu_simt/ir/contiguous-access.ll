; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Adjacent lanes at adjacent addresses: one vector load, one vector store.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK-NOT: gather
; CHECK: %[[V:.*]] = load <16 x float>, ptr %{{.*}}, align 4
; CHECK: %[[W:.*]] = fmul <16 x float> %[[V]],
; CHECK: store <16 x float> %[[W]], ptr %{{.*}}, align 4
; CHECK-NOT: scatter
; CHECK: ret void
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr float, ptr %p, i32 %tx
  %v = load float, ptr %at
  %w = fmul float %v, 3.0
  store float %w, ptr %at
  ret void
}
