; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; A branch that lanes disagree on becomes a mask for each side, and a side without lanes is jumped over.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[ODD:.*]] = trunc <16 x i32> %{{.*}} to <16 x i1>
; CHECK: %[[BITS:.*]] = bitcast <16 x i1> %[[ODD]] to i16
; CHECK: %[[NONE:.*]] = icmp eq i16 %[[BITS]], 0
; CHECK: br i1 %[[NONE]], label %[[END:.*]], label %[[THEN:.*]]
; CHECK: [[END]]:
; CHECK-NEXT: ret void
; CHECK: [[THEN]]:
; CHECK: call void @llvm.masked.store.v16i32.p0(<16 x i32> %{{.*}}, ptr %{{.*}}, i32 4, <16 x i1> %[[ODD]])
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %v = load i32, ptr %at
  %odd = trunc i32 %v to i1
  br i1 %odd, label %then, label %end
then:
  store i32 %tx, ptr %at
  br label %end
end:
  ret void
}
