; RUN: passes=analyse..analyse width=16 block=64x1x1
; The values of a gang lie in one interval that starts at a multiple of 16: they compare alike with a multiple of 16, have
; their upper bits in common, and take a multiple of 16 in by `or` as by `add`.
; CHECK: %alike = {{.*}} ; uniform
; CHECK: %apart = {{.*}} ; varying
; CHECK: %equal = {{.*}} ; varying
; CHECK: %gang = {{.*}} ; uniform
; CHECK: %half = {{.*}} ; varying
; CHECK: %low = {{.*}} ; strided 1
; CHECK: %high = {{.*}} ; uniform
; CHECK: %together = {{.*}} ; strided 1
; CHECK: %disjoint = {{.*}} ; strided 1
; CHECK: %mixed = {{.*}} ; varying
define void @kernel() {
entry:
  %tx = call i32 @softgpu.tid_x()
  %block = call i32 @softgpu.ctaid_x()
  %alike = icmp ult i32 %tx, 32
  %apart = icmp ult i32 %tx, 33
  %equal = icmp eq i32 %tx, 32
  %gang = lshr i32 %tx, 4
  %half = lshr i32 %tx, 3
  %low = and i32 %tx, 15
  %high = and i32 %tx, 48
  %big = shl i32 %block, 4
  %together = or i32 %tx, %big
  %disjoint = or disjoint i32 %tx, %block
  %mixed = or i32 %tx, %block
  ret void
}
