"""cuprum.system: devices for those who look at them."""

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuprum import Device as CudaDevice
from cuprum import NotSupportedError, system
from cuprum.system import _device, typing


@pytest.fixture
def watched():
    return system.Device(index=0)


def test_versions_are_numbers():
    assert len(system.get_user_mode_driver_version()) == 2
    driver = system.get_kernel_mode_driver_version()
    assert driver[0] >= 400
    assert system.get_nvml_version() == (system.get_user_mode_driver_version()[0], *driver)
    assert system.get_driver_branch()


def test_devices_are_those_of_cuda():
    assert system.get_num_devices() == len(CudaDevice.get_all_devices())
    for cuda_device in CudaDevice.get_all_devices():
        device = cuda_device.to_system_device()
        assert isinstance(device, system.Device)
        assert device.to_cuda_device() is cuda_device
        assert device.name == cuda_device.name
        assert device.uuid_without_prefix == cuda_device.uuid
        assert device.cuda_compute_capability == tuple(cuda_device.compute_capability)
        assert device.pci_bus_id[4:] == cuda_device.pci_bus_id


def test_devices_are_found_by_each_of_their_names(watched):
    for again in (
        system.Device(uuid=watched.uuid),
        system.Device(uuid=watched.uuid.encode()),
        system.Device(pci_bus_id=watched.pci_bus_id),
    ):
        assert again == watched
        assert hash(again) == hash(watched)
    assert list(system.Device.get_all_devices())[0] == watched


@pytest.mark.parametrize("arguments", [{}, {"index": 0, "uuid": "x"}, {"index": -1}])
def test_a_device_needs_exactly_one_name(arguments):
    with pytest.raises(ValueError):
        system.Device(**arguments)


def test_devices_that_there_are_not(watched):
    with pytest.raises(system.InvalidArgumentError, match="nvmlDeviceGetHandleByIndex_v2"):
        system.Device(index=1000)
    with pytest.raises(system.NotFoundError):
        system.Device(uuid="GPU-00000000-0000-0000-0000-000000000000")


def test_memory_and_processes_are_seen(stream):
    cuda_device = CudaDevice()
    device = cuda_device.to_system_device()
    before = device.memory_info.used
    buffer = cuda_device.allocate(64 << 20, stream=stream)
    stream.sync()
    info = device.memory_info
    assert info.used >= before + (32 << 20)
    assert info.free + info.used + info.reserved == info.total
    ours = [process for process in device.compute_running_processes if process.pid == os.getpid()]
    if not ours:
        pytest.skip("NVML counts processes from outside this container")
    assert ours[0].used_gpu_memory >= 32 << 20
    assert "python" in system.get_process_name(os.getpid())
    with pytest.raises(system.NotSupportedError):
        ours[0].gpu_instance_id  # noqa: B018
    buffer.close(stream)


def all_of(thing, seen=()):
    """Every property of an object, and of what those are: values, or that it is not supported."""
    for name, member in inspect.getmembers(type(thing)):
        if name.startswith("_") or not isinstance(member, property):
            continue
        try:
            value = getattr(thing, name)
        except (NotSupportedError, system.NvmlError) as error:
            yield name, error
            continue
        yield name, value
        if type(value).__module__.startswith("cuprum.system") and type(value) not in (*seen, type(thing)):
            yield from all_of(value, (*seen, type(thing)))


def test_every_property_answers_or_is_not_supported(watched):
    found = dict(all_of(watched))
    assert len(found) >= 50
    for name, value in found.items():
        if isinstance(value, Exception):
            assert isinstance(value, (system.NotSupportedError, system.InvalidArgumentError)), name


def test_functions_answer_or_are_not_supported(watched):
    calls = [
        lambda: watched.get_clock("sm").get_current_mhz(),
        lambda: watched.get_clock(typing.ClockType.MEMORY).get_max_mhz(),
        lambda: watched.get_clock("sm").get_max_customer_boost_mhz(),
        lambda: watched.get_clock("sm").get_min_max_clock_of_pstate_mhz(0),
        lambda: watched.get_clock("sm").get_offsets(0),
        lambda: [watched.get_fan(fan).speed for fan in range(watched.num_fans)],
        lambda: watched.temperature.get_sensor(),
        lambda: watched.temperature.get_threshold("shutdown"),
        lambda: watched.temperature.get_thermal_settings("all"),
        lambda: watched.inforom.get_version("oem"),
        lambda: watched.get_memory_affinity(),
        lambda: list(watched.get_nvlinks()),
        lambda: list(watched.mig.get_all_devices()),
    ]
    for call in calls:
        try:
            call()
        except (system.NotSupportedError, system.NoPermissionError):
            pass
        except system.InvalidArgumentError:  # what NVIDIA's NVML says of offsets that a device has none of
            assert os.environ.get("CUPRUM_DRIVER") == "nvidia"


def test_bad_choices_are_named(watched):
    for call, words in (
        (lambda: watched.get_clock("fast"), "Invalid clock type: fast. Must be one of"),
        (lambda: watched.get_clock("sm").get_current_mhz("then"), "Invalid clock ID"),
        (lambda: watched.get_clock("sm").get_offsets(16), "Invalid P-state"),
        (lambda: watched.get_cpu_affinity("town"), "Invalid affinity scope"),
        (lambda: list(watched.get_topology_nearest_gpus("x")), "Invalid topology level"),
        (lambda: system.get_p2p_status(watched, watched, "x"), "Invalid P2P caps index"),
        (lambda: watched.temperature.get_threshold("x"), "Invalid temperature threshold type"),
        (lambda: watched.temperature.get_thermal_settings("x"), "Invalid thermal sensor index"),
        (lambda: watched.inforom.get_version("x"), "Invalid InfoROM object"),
        (lambda: watched.register_events("x"), "Invalid event type"),
        (lambda: system.register_events(["x"]), "Invalid event type"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises((ValueError, system.NotSupportedError), match="out of range|Not Supported"):
        watched.get_nvlink(-1)
    for fan in (-1, 1000, 1 << 40):
        with pytest.raises((ValueError, system.NotSupportedError), match=rf"Fan index {fan} is out of range|Not Supported"):
            watched.get_fan(fan)
    with pytest.raises(TypeError, match="fan must be an int"):
        watched.get_fan("first")


def test_older_names(watched):
    assert system.driver_version == system.get_user_mode_driver_version()
    with pytest.raises(TypeError):
        watched.register_events(0)


def test_fields(watched):
    assert len(watched.get_field_values([])) == 0
    values = watched.get_field_values([typing.FieldId.DEV_NVLINK_LINK_COUNT, (typing.FieldId.DEV_TOTAL_ENERGY_CONSUMPTION, 0)])
    assert len(values) == 2
    assert values[1].field_id is typing.FieldId.DEV_TOTAL_ENERGY_CONSUMPTION
    with pytest.raises(TypeError):
        values["first"]
    watched.clear_field_values([])


@pytest.mark.parametrize(
    ("field_ids", "error", "words"),
    [
        ("83", TypeError, "a list of numbers"),
        (83, TypeError, "a list of numbers"),
        ([None], ValueError, "each of field_ids must be a field's number"),
        ([1.5], ValueError, "each of field_ids must be a field's number"),
        ([(83,)], ValueError, "each of field_ids must be a field's number"),
        ([-1], OverflowError, "must be from 0 to 4294967295"),
        ([(83, 1 << 32)], OverflowError, "must be from 0 to 4294967295"),
    ],
)
def test_fields_are_numbers(watched, field_ids, error, words):
    for ask in (watched.get_field_values, watched.clear_field_values):
        with pytest.raises(error, match=words):
            ask(field_ids)


def test_modes_are_set_by_whatever_is_true(watched):
    if CudaDevice().name.startswith("Cuprum"):  # a GPU would do it
        with pytest.raises(system.NotSupportedError):
            watched.is_persistence_mode_enabled = 1
        with pytest.raises(system.NotSupportedError):
            watched.mig.mode = 1
        watched.is_persistence_mode_enabled = 0


def test_waiting_for_events_ends(watched):
    for events in ("xid_critical_error", [typing.EventType.XID_CRITICAL_ERROR], []):
        with pytest.raises(system.TimeoutError):
            watched.register_events(events).wait(timeout_ms=20)


def test_waits_are_as_long_as_they_say(watched):
    events = watched.register_events("xid_critical_error")
    for timeout_ms in (1, 250):  # shorter than one look of the wait, and longer than two
        start = time.monotonic()
        with pytest.raises(system.TimeoutError):
            events.wait(timeout_ms=timeout_ms)
        assert time.monotonic() - start >= timeout_ms / 1000


@pytest.mark.parametrize("timeout_ms", [None, "1", 1.5, -1, 1 << 32])
def test_times_to_wait_are_checked(watched, timeout_ms):
    with pytest.raises(TypeError, match="timeout_ms"):
        watched.register_events("xid_critical_error").wait(timeout_ms=timeout_ms)


@pytest.mark.parametrize("timeout_ms", [0, 60_000])
def test_ctrl_c_ends_waits(watched, timeout_ms):
    code = f"""
from cuprum import system
events = system.Device(uuid={watched.uuid!r}).register_events("xid_critical_error")
print("waits", flush=True)
events.wait(timeout_ms={timeout_ms})
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "waits\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=20)[1].endswith("KeyboardInterrupt\n")
    finally:
        child.kill()


def test_affinity(watched):
    cores = watched.get_cpu_affinity()
    assert cores
    assert watched in list(system.Device.get_all_devices_with_cpu_affinity(cores[0]))


def test_topology_of_a_device_with_itself(watched):
    assert isinstance(system.get_p2p_status(watched, watched, "read"), typing.GpuP2PStatus)


def test_errors_are_those_of_nvidias_bindings_too():
    nvml = pytest.importorskip("cuda.bindings.nvml")
    error = system.exceptions.error_of(10, "words")
    assert isinstance(error, system.TimeoutError)
    assert isinstance(error, nvml.TimeoutError)
    assert str(error) == "words"


def test_bits():
    assert _device._unpack_bitmask([5, 1]) == [0, 2, 64]


def test_enumerations_have_the_names_of_the_library():
    """python/cuprum/system/typing.py and include/cuprum/system/enums.hpp say the same."""
    header = Path(__file__).parents[2] / "include" / "cuprum" / "system" / "enums.hpp"
    if not header.exists():
        pytest.skip("the sources are not here")
    import re

    for name, body in re.findall(r"enum class (\w+) : int \{(.*?)\};", header.read_text(), re.DOTALL):
        members = [each.upper() for each in re.findall(r"^\s+(\w+) = -?\d+", body, re.MULTILINE)]
        assert list(getattr(typing, name).__members__) == members, name


def test_looking_at_devices_initialises_no_cuda():
    """So a process may fork afterwards."""
    program = (
        "import os\nfrom cuprum import system, Device\nsystem.get_num_devices()\n"
        "child = os.fork()\n"
        "if child == 0:\n    Device().set_current()\n    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
