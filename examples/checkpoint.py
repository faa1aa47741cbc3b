"""Checkpoints: another process gives its device memory away while it is locked, and goes on as if nothing had happened.

The script starts itself a second time. The child fills memory and then doubles what is there whenever it is told. Meanwhile
the parent locks it, takes its device memory, gives it back and unlocks it; the child's numbers are as they should be. On
NVIDIA's driver this needs CUDA 12.8 or later.
"""

import array
import subprocess
import sys

from cuprum import CUDAError, Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuprum.checkpoint import Process

COUNT = 1 << 16

SOURCE = r"""
extern "C" __global__ void double_all(float* data, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) data[i] *= 2;
}
"""


def child_process():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(SOURCE, "c++", ProgramOptions(std="c++17")).compile("cubin")
    double_all = code.get_kernel("double_all")
    numbers = array.array("f", range(COUNT))
    # Not of a pool: what those have on the host is lost with NVIDIA's driver of CUDA 13.0.
    host = LegacyPinnedMemoryResource().allocate(4 * COUNT, stream=stream)
    view = memoryview(host).cast("B").cast("f")
    view[:] = memoryview(numbers).cast("B").cast("f")
    data = device.allocate(4 * COUNT, stream=stream)
    data.copy_from(host, stream=stream)
    stream.sync()
    print("ready", flush=True)

    # It knows nothing of checkpoints: while it is locked, the launch waits.
    for line in sys.stdin:
        if line.strip() != "double":
            break
        launch(stream, LaunchConfig(grid=COUNT // 256, block=256), double_all, data, COUNT)
        data.copy_to(host, stream=stream)
        stream.sync()
        numbers = array.array("f", (2 * number for number in numbers))
        print("right" if view.tolist() == numbers.tolist() else "wrong", flush=True)


def parent_process():
    failures = 0

    def check(is_right, what):
        nonlocal failures
        print("  ok:" if is_right else "  WRONG:", what)
        failures += not is_right

    child = subprocess.Popen([sys.executable, __file__, "child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def is_right():
        child.stdin.write("double\n")
        child.stdin.flush()
        return child.stdout.readline().strip() == "right"

    child.stdout.readline()
    check(is_right(), "the child computes")

    process = Process(child.pid)
    print(process, "is", process.state)
    process.lock(timeout_ms=10_000)
    check(process.state == "locked", "it is locked: its work is done, and its calls wait")
    process.checkpoint()
    check(process.state == "checkpointed", "it is checkpointed: its device memory is free for others")
    process.restore()
    check(process.state == "locked", "it is restored, and still locked")
    process.unlock()
    check(process.state == "running", "it runs again")
    check(is_right(), "its numbers are as they should be")

    try:
        process.unlock()
        check(False, "a process that runs can't be unlocked")
    except CUDAError as error:
        print(error)
        check("CUDA_ERROR_ILLEGAL_STATE" in str(error), "a process that runs can't be unlocked")
    child.communicate("end\n")
    check(child.returncode == 0, "the child ended well")
    return failures != 0


if __name__ == "__main__":
    sys.exit(child_process() if sys.argv[1:] else parent_process())
