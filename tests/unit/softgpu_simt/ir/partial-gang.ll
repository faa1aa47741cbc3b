; RUN: passes=analyse..tidy-gangs width=16 block=40x1x1
; The end of a block that is no multiple of the gang has a version of its own: the last gang, with the threads that are
; there as its mask. In full gangs nothing is masked.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK-NOT: <16 x i1>
; CHECK: store <16 x i32>
; CHECK-NOT: <16 x i1>
; CHECK-LABEL: define internal void @kernel.last_gang(
; CHECK-SAME: i32 %[[LANES:[0-9]+]])
; CHECK: insertelement <16 x i32> poison, i32 %[[LANES]], i64 0
; CHECK: %threads_on = icmp ugt <16 x i32> %{{.*}}, <i32 0, i32 1,
; CHECK: call void @llvm.masked.store.v16i32.p0({{.*}}, <16 x i1> %threads_on)
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  store i32 %tx, ptr %at
  ret void
}
