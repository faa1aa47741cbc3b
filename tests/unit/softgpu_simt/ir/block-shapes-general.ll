; RUN: passes=analyse..analyse width=16 block=6x8x1
; In a block whose rows are no multiple of the gang lanes differ in x as they like.
; CHECK: %tx = {{.*}} ; varying
; CHECK: %n = {{.*}} ; uniform
; CHECK: %lane = {{.*}} ; strided 1
define void @kernel() {
entry:
  %tx = call i32 @softgpu.tid_x()
  %n = call i32 @softgpu.ntid_x()
  %lane = call i32 @softgpu.laneid()
  ret void
}
