"""Ten minutes to Cuprum in Python: talk to a device, compile a kernel, run it, time it, use several streams, make a graph.

The program runs on an NVIDIA GPU if there is one and on softgpu, a CUDA device in software, if there is none. Read it from
top to bottom; each step prints what it did and checks that it is right. It needs no NumPy: memory is a memoryview here.
"""

import ctypes
import sys

from cuprum import CUDAError, Device, LaunchConfig, PinnedMemoryResource, Program, ProgramOptions, launch

failures = 0


def check(is_right, what):
    global failures
    print("  ok:" if is_right else "  WRONG:", what)
    failures += not is_right


# 1. Selecting a device
#
# Device is the entry point. Making one costs little; set_current() sets up CUDA on this thread. Device(1) would be the
# second device, and Device(0) is always the same object on one thread.
device = Device()
device.set_current()
print(f"Running on {device.name}, compute capability {device.compute_capability}")
check(Device(device.device_id) is device, "a device is one object per thread")

# 2. Compiling a kernel
#
# CUDA C++ is compiled while the program runs. The options say which C++; the architecture is the current device's unless
# given. extern "C" makes the kernel's name just "scale".
print("Compiling a kernel")
source = r"""
extern "C" __global__ void scale(float* data, float factor, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) data[i] *= factor;
}
"""
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
scale = Program(source, code_type="c++", options=options).compile("cubin").get_kernel("scale")
check(scale.num_arguments == 3, "the kernel takes three arguments")

# What goes wrong is told by exceptions. That of a compilation has the compiler's log.
try:
    Program('extern "C" __global__ void k() { not_a_real_symbol; }', "c++", options).compile("cubin")
    check(False, "a program with an error is refused")
except CUDAError as error:
    check("not_a_real_symbol" in error.log, "the compiler's log says what is wrong")

# 3. Streams and memory
#
# A stream is an ordered queue of work. Memory comes from memory resources: the device has one of its own, and a
# PinnedMemoryResource gives memory of the host that the device can copy quickly, and Python can look at.
print("Allocating and copying")
n = 1024
stream = device.create_stream()
host = PinnedMemoryResource().allocate(n * 4, stream=stream)
data = device.allocate(n * 4, stream=stream)
check(host.is_host_accessible and host.size == 4096, "the host can access the 4096 bytes of pinned memory")
check(data.is_device_accessible, "the device can access its own")

numbers = [float(i) for i in range(n)]
values = memoryview(host).cast("B").cast("f")  # no copy; numpy.from_dlpack(host) gives NumPy's view of it


def fill_with_numbers():
    values[:] = memoryview((ctypes.c_float * n)(*numbers)).cast("B").cast("f")


def are_numbers_times(factor):
    return all(found == number * factor for found, number in zip(values, numbers))


# 4. Copying and launching
#
# All of this is only queued; sync() waits until it is done. A buffer is passed for a pointer. An int takes the width that
# the kernel declares; a float of 4 bytes has to say so: ctypes.c_float, or numpy.float32.
print("Launching")
fill_with_numbers()
config = LaunchConfig(grid=(n + 255) // 256, block=256)
data.copy_from(host, stream=stream)
launch(stream, config, scale, data, ctypes.c_float(3), n)
data.copy_to(host, stream=stream)
stream.sync()
check(are_numbers_times(3), "every number was multiplied by 3")

try:
    launch(stream, config, scale, data, 3.0, n)
    check(False, "an argument of 8 bytes is refused where the kernel has 4")
except TypeError as error:
    check("float32" in str(error), "an argument of 8 bytes is refused where the kernel has 4")

# 5. Timing with events
#
# An event marks a point in a stream. The difference of two is the time between them, in milliseconds.
print("Timing")
start = stream.record(options={"timing_enabled": True})
for _ in range(100):
    launch(stream, config, scale, data, ctypes.c_float(1), n)
end = stream.record(options={"timing_enabled": True})
end.sync()
print(f"  100 launches took {end - start:.3f} ms")
check(end - start > 0, "time has passed")

# 6. Two streams
#
# Work on different streams may overlap. wait() makes one stream wait for what is queued on another.
print("Two streams")
stream_a, stream_b = device.create_stream(), device.create_stream()
data_a, data_b = (device.allocate(n * 4, stream=each) for each in (stream_a, stream_b))
fill_with_numbers()
data_a.copy_from(host, stream=stream_a)
launch(stream_a, config, scale, data_a, ctypes.c_float(2), n)
stream_b.wait(stream_a)
data_b.copy_from(data_a, stream=stream_b)
data_b.copy_to(host, stream=stream_b)
stream_b.sync()
check(are_numbers_times(2), "stream b has seen what stream a computed")

# 7. A graph
#
# What is launched again and again can be captured once. Wherever a stream is taken, a graph builder is, too.
print("A graph")
fill_with_numbers()
builder = stream.create_graph_builder().begin_building()
data.copy_from(host, stream=builder)
launch(builder, config, scale, data, ctypes.c_float(2), n)
launch(builder, config, scale, data, ctypes.c_float(3), n)
data.copy_to(host, stream=builder)
graph = builder.end_building().complete()
graph.launch(stream)
stream.sync()
check(are_numbers_times(6), "two launches and two copies, replayed in one shot")

# 8. Cleaning up
#
# Objects are released when Python lets go of them, or at close(). Buffers are context managers, too.
with device.allocate(n, stream=stream) as scratch:
    check(scratch.size == n, "a buffer for a while")
graph.close()
values.release()
host.close(stream)

print("All checks passed." if failures == 0 else f"{failures} checks failed.")
sys.exit(failures != 0)
