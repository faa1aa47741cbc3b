; RUN: passes=close-loops..tidy-gangs width=16 block=64x1x1
; Of addresses that go up by multiples of their alignment the start is looked at, in front of the loop; the kernel ends
; behind it if that was bad. The one that only some threads use is looked at where they do.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: and i64 %{{.*}}, 3
; CHECK: loop:
; CHECK-NOT: and i64 %{{.*}}, 3
; CHECK: load <16 x i32>
; CHECK: call void @softgpu_rt_misaligned_access(i32
; CHECK: some.on:
; CHECK: and i64 %{{.*}}, 7
; CHECK-NOT: call void @softgpu_rt_misaligned_access
; CHECK-NOT: call void @softgpu.address
define void @kernel() {
entry:
  %params = call ptr @softgpu.params()
  %p = load ptr, ptr %params, align 1
  %second = getelementptr i8, ptr %params, i64 8
  %q = load ptr, ptr %second, align 1
  %tx = call i32 @softgpu.tid_x()
  %x = zext i32 %tx to i64
  %start = getelementptr i32, ptr %p, i64 %x
  br label %loop
loop:
  %at = phi ptr [ %start, %entry ], [ %next, %latch ]
  %i = phi i32 [ 0, %entry ], [ %more, %latch ]
  %v = load i32, ptr %at, align 4
  %odd = icmp sgt i32 %v, 3
  br i1 %odd, label %some, label %latch
some:
  %place = getelementptr i64, ptr %q, i64 %x
  store i64 1, ptr %place, align 8
  br label %latch
latch:
  %next = getelementptr i8, ptr %at, i64 256
  %more = add i32 %i, 1
  %again = icmp ult i32 %more, 10
  br i1 %again, label %loop, label %done
done:
  ret void
}
