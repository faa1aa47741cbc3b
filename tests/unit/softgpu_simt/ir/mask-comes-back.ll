; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Behind an `if` all lanes are on again, which is known while the code is made: the store there is not masked.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: end:
; CHECK-NOT: <16 x i1>
; CHECK: store <16 x i32> %{{.*}}, ptr %{{.*}}, align 4
; CHECK-NEXT: ret void
; CHECK: then.on:
; CHECK: call void @llvm.masked.scatter
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %v = load i32, ptr %at
  %odd = trunc i32 %v to i1
  br i1 %odd, label %then, label %end
then:
  %other = getelementptr i32, ptr %p, i32 %v
  store i32 %tx, ptr %other
  br label %end
end:
  store i32 %tx, ptr %at
  ret void
}
