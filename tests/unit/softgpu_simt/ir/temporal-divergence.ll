; RUN: passes=close-loops..analyse width=16 block=64x1x1
; A counter is the same in all lanes that are still in the loop; what lanes take out of it in different iterations varies.
; CHECK: loop: {{.*}} divergent_loop divergent_branch
; CHECK-NEXT: %k = phi i32 {{.*}} ; uniform
; CHECK: out: {{.*}}join
; CHECK-NEXT: %k1.lcssa = phi i32 {{.*}} ; varying
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %tx
  br i1 %more, label %loop, label %out
out:
  store i32 %k1, ptr %at
  ret void
}
