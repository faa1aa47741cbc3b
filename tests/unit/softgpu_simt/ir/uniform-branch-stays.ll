; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; A branch that all lanes agree on stays a branch: no mask, no test for lanes.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK-NOT: <16 x i1>
; CHECK: %[[C:.*]] = icmp eq i32 %{{.*}}, 0
; CHECK-NEXT: br i1 %[[C]],
; CHECK-NOT: <16 x i1>
; CHECK: store <16 x i32> %{{.*}}, ptr %{{.*}}, align 4
; CHECK-NOT: <16 x i1>
; CHECK: {{^[}]}}
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %block = call i32 @softgpu.ctaid_x()
  %first = icmp eq i32 %block, 0
  br i1 %first, label %then, label %end
then:
  store i32 %tx, ptr %at
  br label %end
end:
  ret void
}
