; RUN: passes=analyse..analyse width=16 block=64x1x1
; Lanes that no longer get to a barrier are put first, though their side of the branch is written last: at the barrier
; nobody waits for them.
; CHECK: entry: mask=entry divergent_branch
; CHECK: next=leave{{$}}
; CHECK: leave: mask=leave when_empty=stay way_out
; CHECK: next=stay pending=stay
; CHECK: stay: mask=stay when_empty=done
; CHECK-NEXT: call void @softgpu.barrier_sync
; CHECK: next=done pending=done
define void @kernel() {
entry:
  %p = call ptr @softgpu.shared()
  %tx = call i32 @softgpu.tid_x()
  %low = icmp ult i32 %tx, 7
  br i1 %low, label %stay, label %leave
stay:
  call void @softgpu.barrier_sync(i32 0, i32 0)
  br label %done
leave:
  store i32 1, ptr %p
  br label %done
done:
  ret void
}
