; RUN: passes=analyse..analyse width=16 block=64x1x1
; A gang starts at a multiple of 16, so its index does not wrap where lanes count up from there. An unknown offset may
; make it wrap once, which can be tested for: guarded. A stride that wraps more often inside the gang is none behind
; an extension.
; CHECK: %tx = {{.*}} ; strided 1 aligned 2^4
; CHECK: %index = {{.*}} ; strided 1 aligned 2^4
; CHECK: %exact = {{.*}} ; strided 1 aligned 2^4
; CHECK: %moved = {{.*}} ; strided 1{{$}}
; CHECK: %unsure = {{.*}} ; strided 1 guarded{{$}}
; CHECK: %bytes = {{.*}} ; strided 4 guarded
; CHECK: %steep = {{.*}} ; strided 1073741824
; CHECK: %lost = {{.*}} ; varying
; CHECK: %back = {{.*}} ; strided -1
; CHECK: %square = {{.*}} ; varying
define void @kernel() {
entry:
  %tx = call i32 @softgpu.tid_x()
  %n = call i32 @softgpu.ntid_x()
  %block = call i32 @softgpu.ctaid_x()
  %start = mul i32 %block, %n
  %index = add i32 %start, %tx
  %exact = zext i32 %index to i64
  %moved = add i32 %index, %block
  %unsure = sext i32 %moved to i64
  %bytes = shl i64 %unsure, 2
  %steep = shl i32 %tx, 30
  %lost = zext i32 %steep to i64
  %back = sub i32 %block, %tx
  %square = mul i32 %tx, %tx
  ret void
}
