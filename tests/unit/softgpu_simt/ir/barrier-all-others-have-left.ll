; RUN: passes=analyse..tidy-gangs width=16 block=64x1x1
; Lanes that are not at a barrier have passed a way out, which is known while the code is made: no test for lanes that
; are elsewhere, and only the lanes that are there arrive.
; CHECK-LABEL: define internal void @kernel.gang(
; CHECK: %[[LOW:.*]] = icmp ult <16 x i32> %{{.*}}, <i32 7,
; CHECK-NOT: softgpu_rt_divergent_barrier
; CHECK: %[[HERE:.*]] = bitcast <16 x i1> %[[LOW]] to i16
; CHECK: %[[COUNT:.*]] = call {{.*}}i16 @llvm.ctpop.i16(i16 %[[HERE]])
; CHECK: %[[ARRIVED:.*]] = zext nneg i16 %[[COUNT]] to i32
; CHECK: store i32 %[[ARRIVED]], ptr
; CHECK-NOT: softgpu_rt_divergent_barrier
; CHECK: call void @softgpu.suspend()
; CHECK-NOT: softgpu_rt_divergent_barrier
; CHECK: {{^[}]}}
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %at = getelementptr i32, ptr %p, i32 %tx
  %v = load i32, ptr %at
  %low = icmp ult i32 %v, 7
  br i1 %low, label %stay, label %leave
stay:
  call void @softgpu.barrier_sync(i32 0, i32 0)
  br label %done
leave:
  store i32 1, ptr %at
  br label %done
done:
  ret void
}
