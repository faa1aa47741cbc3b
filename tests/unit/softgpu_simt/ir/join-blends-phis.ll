; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Where lanes of both sides meet, a phi takes each lane's value from the side that the lane came from.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[V:.*]] = load <16 x i32>
; CHECK: %[[NEGATIVE:.*]] = icmp slt <16 x i32> %[[V]], zeroinitializer
; CHECK: join:
; CHECK-NEXT: %[[R:.*]] = phi <16 x i32> [ %[[BOTH:.*]], %then.on ], [ %[[V]], %gang ]
; CHECK-NEXT: store <16 x i32> %[[R]], ptr %{{.*}}, align 4
; CHECK: then.on:
; CHECK: %[[W:.*]] = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr %{{.*}}, i32 4, <16 x i1> %[[NEGATIVE]], <16 x i32> poison)
; CHECK-NEXT: %[[BOTH]] = select <16 x i1> %[[NEGATIVE]], <16 x i32> %[[W]], <16 x i32> %[[V]]
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %v = load i32, ptr %at
  %negative = icmp slt i32 %v, 0
  br i1 %negative, label %then, label %join
then:
  %other = getelementptr i32, ptr %at, i64 1000
  %w = load i32, ptr %other
  br label %join
join:
  %r = phi i32 [ %v, %entry ], [ %w, %then ]
  store i32 %r, ptr %at
  ret void
}
