; RUN: passes=analyse..make-gangs width=16 block=64x1x1
; Bits that no running lane has twice may overlap in lane 0, which may be off: its value is the sum.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: then.on:
; CHECK-NOT: or disjoint
; CHECK: %i = add i32
; CHECK-NOT: or disjoint
; CHECK: {{^[}]}}
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %block = call i32 @softgpu.ctaid_x()
  %low = icmp ult i32 %tx, 7
  br i1 %low, label %then, label %end
then:
  %i = or disjoint i32 %tx, %block
  %at = getelementptr i32, ptr %p, i32 %i
  store i32 %i, ptr %at
  br label %end
end:
  ret void
}
