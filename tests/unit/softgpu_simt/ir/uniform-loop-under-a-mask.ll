; RUN: passes=close-loops..analyse width=16 block=64x1x1
; A loop that all lanes in it leave together keeps the mask that it was entered with, and its counter uniform.
; CHECK: pre: mask=pre
; CHECK: loop: mask=pre uniform_loop
; CHECK-NEXT: %k = phi i32 {{.*}} ; uniform
; CHECK: out: mask=pre
; CHECK-NOT: join
; CHECK: %last = phi i32 {{.*}} ; uniform
; CHECK: end: mask=entry join
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %n = call i32 @softgpu.ctaid_x()
  %tx = call i32 @softgpu.tid_x()
  %low = icmp ult i32 %tx, 7
  br i1 %low, label %pre, label %end
pre:
  br label %loop
loop:
  %k = phi i32 [ 0, %pre ], [ %k1, %loop ]
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %loop, label %out
out:
  %last = phi i32 [ %k1, %loop ]
  store i32 %last, ptr %p
  br label %end
end:
  ret void
}
