"""gpustat and nvitop, which people run in terminals, see softgpu's device, and this process on it."""

import json
import os
import subprocess
import sys

from cuda.bindings import driver


def checked(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result
    return result[1] if len(result) > 1 else None


checked(driver.cuInit(0))
context = checked(driver.cuDevicePrimaryCtxRetain(0))
checked(driver.cuCtxSetCurrent(context))
memory = checked(driver.cuMemAlloc(64 << 20))

report = json.loads(subprocess.run([sys.executable, "-m", "gpustat", "--json"], check=True, capture_output=True, text=True).stdout)
device = report["gpus"][0]
assert "softgpu" in device["name"], device
assert device["memory.used"] >= 64, device
assert os.getpid() in [process["pid"] for process in device["processes"]], device

table = subprocess.run([sys.executable, "-m", "nvitop", "-1", "--ascii"], capture_output=True, text=True,
                       env={**os.environ, "COLUMNS": "120", "TERM": "dumb"})
assert table.returncode == 0, table.stderr
assert "00000000:01:00.0" in table.stdout, table.stdout
assert "64.00MiB" in table.stdout, table.stdout
assert str(os.getpid()) in table.stdout, table.stdout
checked(driver.cuMemFree(memory))
checked(driver.cuDevicePrimaryCtxRelease(0))
