"""nvidia-ml-py: every function that asks for something is called. None ends the process; each answers or says why not."""

import inspect

import pynvml

# What wants more than handles and numbers, or something that is there.
ELSEWHERE = {"nvmlDeviceGetHandleByUUID", "nvmlDeviceGetHandleByUUIDV", "nvmlDeviceGetHandleByPciBusId",
             "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleBySerial", "nvmlSystemGetProcessName"}
REFUSALS = (pynvml.NVMLError_NotSupported, pynvml.NVMLError_InvalidArgument, pynvml.NVMLError_NotFound,
            pynvml.NVMLError_ArgumentVersionMismatch)


def getters():
    for name, function in vars(pynvml).items():
        if name.startswith("nvml") and "Get" in name and inspect.isfunction(function) and name not in ELSEWHERE:
            yield name, function


def arguments(function, device):
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not inspect.Parameter.empty:
            return
        yield device if parameter.name in ("handle", "device", "device1", "device2", "gpuHandle") else 0


pynvml.nvmlInit()
assert pynvml.nvmlDeviceGetCount() >= 1
device = pynvml.nvmlDeviceGetHandleByIndex(0)
answered, refused, not_called = set(), set(), set()
for name, function in getters():
    try:
        function(*arguments(function, device))
        answered.add(name)
    except REFUSALS:
        refused.add(name)
    except pynvml.NVMLError as error:
        raise AssertionError(f"{name}: {error!r}") from error
    except Exception as error:  # what the package itself makes of numbers where it wants structs
        not_called.add((name, type(error).__name__))

print(f"{len(answered)} answered, {len(refused)} refused, {len(not_called)} not called: {sorted(not_called)}")
assert len(answered) >= 40, sorted(answered)
assert len(refused) >= 200
assert len(not_called) <= 40, sorted(not_called)

uuid = pynvml.nvmlDeviceGetUUID(device)
assert pynvml.nvmlDeviceGetIndex(pynvml.nvmlDeviceGetHandleByUUID(uuid)) == 0
place = pynvml.nvmlDeviceGetPciInfo(device).busId
assert pynvml.nvmlDeviceGetIndex(pynvml.nvmlDeviceGetHandleByPciBusId(place)) == 0
memory = pynvml.nvmlDeviceGetMemoryInfo(device)
assert memory.total == memory.free + memory.used
pynvml.nvmlShutdown()
