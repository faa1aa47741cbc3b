; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; One address in all lanes: one scalar load. Of the values that lanes store there the last lane's stays.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[U:.*]] = load float, ptr %{{.*}}, align 4
; CHECK: %[[V:.*]] = load <16 x float>
; CHECK: %[[LAST:.*]] = extractelement <16 x float> %[[V]], i64 15
; CHECK: %[[W:.*]] = fadd float %[[LAST]], %[[U]]
; CHECK: store float %[[W]], ptr
; CHECK-NOT: store
; CHECK: ret void
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr float, ptr %p, i32 %tx
  %u = load float, ptr %p
  %v = load float, ptr %at
  %w = fadd float %v, %u
  %to = getelementptr float, ptr %p, i32 -1
  store float %w, ptr %to
  ret void
}
