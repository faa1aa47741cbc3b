; RUN: passes=analyse..tidy-gangs width=32 block=64x1x1
; A ballot of the whole warp is the comparison's bits, the same number in all lanes.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[P:.*]] = icmp slt <32 x i32> %{{.*}}, zeroinitializer
; CHECK: %[[BITS:.*]] = bitcast <32 x i1> %[[P]] to i32
; CHECK: %[[NEXT:.*]] = add i32 %[[BITS]], 1
; CHECK: store i32 %[[NEXT]], ptr
; CHECK-NEXT: ret void
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %v = load i32, ptr %at
  %c = icmp slt i32 %v, 0
  %b = call i32 @softgpu.vote_ballot(i1 %c, i32 -1)
  %next = add i32 %b, 1
  store i32 %next, ptr %p
  ret void
}
