; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Lanes that do look at what was there go one after the other.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: lane:
; CHECK: %[[LANE:.*]] = {{.*}}call {{.*}}i32 @llvm.cttz.i32(
; CHECK: %[[OLD:.*]] = atomicrmw add ptr %{{.*}}, i32 1 monotonic
; CHECK: insertelement <16 x i32> %{{.*}}, i32 %[[OLD]], i32 %[[LANE]]
; CHECK: br i1 %{{.*}}, label %lanes_done, label %lane
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %old = atomicrmw add ptr %p, i32 1 monotonic
  store i32 %old, ptr %at
  ret void
}
