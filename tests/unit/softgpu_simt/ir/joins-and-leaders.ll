; RUN: passes=analyse..analyse width=16 block=64x1x1
; Both sides of a divergent branch have masks of their own; where they meet it is the mask of before again, and so is
; the mask behind an inner branch that of the side around it. A phi at a join varies though each side's value is uniform.
; CHECK: entry: mask=entry divergent_branch
; CHECK: next=else{{$}}
; CHECK: else: mask=else when_empty=then{{$}}
; CHECK: next=then pending=then
; CHECK: then: mask=then when_empty=join{{$}}
; CHECK: next=inner,meet pending=join
; CHECK: inner: mask=then{{$}}
; CHECK: meet: mask=then{{$}}
; CHECK-NEXT: %a = phi i32 {{.*}} ; uniform
; CHECK: next=join
; CHECK: join: mask=entry join
; CHECK: %r = phi i32 {{.*}} ; varying
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %low = icmp ult i32 %tx, 7
  br i1 %low, label %then, label %else
then:
  %n = call i32 @softgpu.ctaid_x()
  %c = icmp eq i32 %n, 0
  br i1 %c, label %inner, label %meet
inner:
  store i32 1, ptr %p
  br label %meet
meet:
  %a = phi i32 [ 1, %then ], [ %n, %inner ]
  br label %join
else:
  store i32 2, ptr %p
  br label %join
join:
  %r = phi i32 [ %a, %meet ], [ 5, %else ]
  store i32 %r, ptr %p
  ret void
}
