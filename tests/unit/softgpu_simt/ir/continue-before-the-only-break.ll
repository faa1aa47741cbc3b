; RUN: passes=close-loops..analyse width=16 block=64x1x1
; Lanes that skip the rest of an iteration meet the others at the latch: what comes in there varies, and the mask of the
; block with the exit is not the loop's.
; CHECK: loop: {{.*}} divergent_loop divergent_branch
; CHECK: %x = phi i32 {{.*}} ; varying
; CHECK: %i = phi i32 {{.*}} ; uniform
; CHECK: rest: mask=rest
; CHECK: latch: {{.*}}join
; CHECK: %next = phi i32 {{.*}} ; varying
; CHECK: out: {{.*}}join
; CHECK: %last = phi i32 {{.*}} ; varying
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  br label %loop
loop:
  %x = phi i32 [ %tx, %entry ], [ %next, %latch ]
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %i1 = add i32 %i, 1
  %sum = add i32 %tx, %i1
  %odd = trunc i32 %sum to i1
  br i1 %odd, label %latch, label %rest
rest:
  %more = add i32 %x, %i1
  %enough = icmp ugt i32 %i1, 10
  br i1 %enough, label %out, label %latch
latch:
  %next = phi i32 [ 1, %loop ], [ 2, %rest ]
  br label %loop
out:
  %last = phi i32 [ %more, %rest ]
  store i32 %last, ptr %at
  ret void
}
