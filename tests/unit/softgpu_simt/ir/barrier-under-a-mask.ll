; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Lanes may be elsewhere and come later: the kernel is stopped when the lanes at the barrier are not all that are left.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[HERE:.*]] = bitcast <16 x i1> %{{.*}} to i16
; CHECK: switch i16 %[[HERE]], label %[[STOP:.*]] [
; CHECK-NEXT: i16 0, label %join
; CHECK-NEXT: i16 -1, label %[[MEET:.*]]
; CHECK: [[STOP]]:
; CHECK-NEXT: call void @softgpu_rt_divergent_barrier(i32 0)
; CHECK: [[MEET]]:
; CHECK: call void @softgpu.suspend()
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %v = load i32, ptr %at
  %low = icmp ult i32 %v, 7
  br i1 %low, label %then, label %join
then:
  call void @softgpu.barrier_sync(i32 0, i32 0)
  br label %join
join:
  call void @softgpu.barrier_sync(i32 0, i32 0)
  ret void
}
