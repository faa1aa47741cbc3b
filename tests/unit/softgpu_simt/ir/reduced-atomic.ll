; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Lanes that add to one place and don't look at what was there add up first, those that are off nothing.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[V:.*]] = load <16 x i32>
; CHECK: %[[ODD:.*]] = trunc <16 x i32> %[[V]] to <16 x i1>
; CHECK: %[[ADDED:.*]] = select <16 x i1> %[[ODD]], <16 x i32> %[[V]], <16 x i32> zeroinitializer
; CHECK: %[[SUM:.*]] = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %[[ADDED]])
; CHECK-NEXT: atomicrmw add ptr %{{.*}}, i32 %[[SUM]] monotonic
; CHECK-NOT: atomicrmw
; CHECK: {{^[}]}}
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %v = load i32, ptr %at
  %odd = trunc i32 %v to i1
  br i1 %odd, label %then, label %end
then:
  %old = atomicrmw add ptr %p, i32 %v monotonic
  br label %end
end:
  ret void
}
