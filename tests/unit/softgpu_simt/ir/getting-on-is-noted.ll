; RUN: passes=analyse..make-gangs width=16 block=64x1x1
; Behind a loop in which threads wait the gang tells the scheduler whether any of them has come there.
; CHECK-LABEL: @kernel.gang(
; CHECK: {{^}}behind:
; CHECK: [[ANY:%.*]] = icmp ne i16 {{%.*}}, 0
; CHECK: [[PLACE:%.*]] = getelementptr inbounds i8, ptr {{%.*}}, i64 88
; CHECK: [[BEFORE:%.*]] = load i32, ptr [[PLACE]]
; CHECK: [[NOTE:%.*]] = zext i1 [[ANY]] to i32
; CHECK: or i32 [[BEFORE]], [[NOTE]]
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %low = icmp ult i32 %tx, 7
  br i1 %low, label %again, label %done
again:
  %v = load volatile i32, ptr %p
  %more = icmp eq i32 %v, 0
  call void @softgpu.spin()
  br i1 %more, label %again, label %behind
behind:
  call void @softgpu.spun()
  br label %done
done:
  ret void
}
