; RUN: passes=close-loops..analyse width=16 block=64x1x1
; Lanes leave a loop through two exits and meet behind them: a join, though no branch outside the loop is divergent.
; CHECK: loop: {{.*}} divergent_loop
; CHECK: next=missed,latch pending=missed,found
; CHECK: missed: mask=missed when_empty=found join
; CHECK: found: mask=found when_empty=done join
; CHECK: done: mask=entry join
; CHECK-NEXT: %status = phi i32 {{.*}} ; varying
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %limit = call i32 @softgpu.ctaid_x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %hit = icmp eq i32 %i, %limit
  br i1 %hit, label %found, label %latch
latch:
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %tx
  br i1 %more, label %loop, label %missed
found:
  %old = atomicrmw or ptr %p, i32 1 monotonic
  br label %done
missed:
  %count = atomicrmw add ptr %p, i32 2 monotonic
  br label %done
done:
  %status = phi i32 [ 2, %found ], [ 1, %missed ]
  %at = getelementptr i32, ptr %p, i32 %tx
  store i32 %status, ptr %at
  ret void
}
