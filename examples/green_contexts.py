"""Green contexts: two parts of one device, each with work of its own. A long kernel on one part does not hold up short ones
on the other, which would wait behind it on the whole device.
"""

import ctypes
import sys

from cuprum import ContextOptions, Device, LaunchConfig, PinnedMemoryResource, Program, SMResourceOptions, launch

SOURCE = r"""
// Waits for the host, on as many multiprocessors as there are blocks for.
extern "C" __global__ void wait_for_host(volatile int* is_open) { while (!*is_open) __nanosleep(1000); }
extern "C" __global__ void add(int* value, int amount) { *value += amount; }
"""

failures = 0


def check(is_right, what):
    global failures
    print("  ok:" if is_right else "  WRONG:", what)
    failures += not is_right


device = Device()
device.set_current()
sm = device.resources.sm
print(f"{sm.sm_count} multiprocessors; groups have {sm.min_partition_size} or more")

# Two equal parts, if the device is large enough; else one context gets all of it, and the other one too.
half = sm.sm_count // 2 // sm.coscheduled_alignment * sm.coscheduled_alignment
parts = [sm, sm]
if half >= sm.min_partition_size:
    parts, remainder = sm.split(SMResourceOptions(count=(half, half)))
    print(f"two parts of {parts[0].sm_count}, and {remainder.sm_count} that are left")
left, right = (device.create_context(ContextOptions(resources=[part])) for part in parts)
check(left.is_green and right.is_green, "contexts that were given a part are green")
check(left.resources.sm.sm_count == parts[0].sm_count, "a context knows what it was given")

# Memory and code are the device's, and shared by all its green contexts.
code = Program(SOURCE, code_type="c++").compile("cubin")
wait_for_host, add = code.get_kernel("wait_for_host"), code.get_kernel("add")
slow, quick = left.create_stream(), right.create_stream()
shared = PinnedMemoryResource().allocate(8, stream=quick)
values = memoryview(shared).cast("B").cast("i")
values[0] = values[1] = 0

launch(slow, LaunchConfig(grid=4, block=1), wait_for_host, int(shared.handle))
for i in range(10):
    launch(quick, LaunchConfig(grid=1, block=1), add, int(shared.handle) + 4, ctypes.c_int(i))
quick.sync()
check(values[1] == 45, "the right part did its work, while the left part is busy")
values[0] = 1
slow.sync()
check(slow.resources.sm.sm_count == parts[0].sm_count, "a stream has the resources of its context")

for stream in (slow, quick):
    stream.close()
left.close()
right.close()
check(left.handle is None and not left.is_green, "closed contexts are none")
sys.exit(1 if failures else 0)
