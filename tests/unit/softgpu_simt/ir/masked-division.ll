; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Lanes that are off divide by 1: what they hold may be 0, and a division by 0 would stop the gang.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[D:.*]] = load <16 x i32>
; CHECK: %[[SAFE:.*]] = icmp ne <16 x i32> %[[D]], zeroinitializer
; CHECK: %[[BY:.*]] = select <16 x i1> %[[SAFE]], <16 x i32> %[[D]], <16 x i32> <i32 1, i32 1,
; CHECK: udiv <16 x i32> <i32 1000, {{.*}}>, %[[BY]]
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %d = load i32, ptr %at
  %safe = icmp ne i32 %d, 0
  br i1 %safe, label %then, label %end
then:
  %q = udiv i32 1000, %d
  store i32 %q, ptr %at
  br label %end
end:
  ret void
}
