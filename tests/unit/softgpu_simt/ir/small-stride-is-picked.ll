; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Every third element: one load of all elements from the first lane's to the last lane's, of which each third is kept.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[ALL:.*]] = load <46 x float>, ptr %{{.*}}, align 4
; CHECK: shufflevector <46 x float> %[[ALL]], <46 x float> poison, <16 x i32> <i32 0, i32 3, i32 6,
; CHECK-NOT: gather
; CHECK: ret void
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %index = zext i32 %tx to i64
  %i = mul i64 %index, 3
  %at = getelementptr float, ptr %p, i64 %i
  %v = load float, ptr %at
  %to = getelementptr float, ptr %p, i32 %tx
  store float %v, ptr %to
  ret void
}
