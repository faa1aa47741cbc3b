"""Memory and events shared with other processes."""

import copy
import gc
import multiprocessing
import multiprocessing.reduction
import os
import pickle
import subprocess
import sys
import textwrap
import uuid
import warnings

import pytest

from cuprum import Buffer, Device, DeviceMemoryResource, Event, PinnedMemoryResource
from cuprum._core import IPCAllocationHandle, IPCBufferDescriptor, IPCEventDescriptor

SIZE = 64
POOLS = {
    "device": lambda: DeviceMemoryResource(0, {"ipc_enabled": True, "max_size": 1 << 22}),
    "pinned": lambda: PinnedMemoryResource({"ipc_enabled": True, "max_size": 1 << 22}),
}


@pytest.fixture(params=POOLS)
def pool(request, device):
    return POOLS[request.param]()


def contents(buffer, stream):
    host = PinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    return bytes(host)


def in_child(function, *arguments):
    """Runs a function in a new process, and gives what it puts into its queue."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=function, args=(answers, *arguments))
    process.start()
    answer = answers.get(timeout=100)
    process.join(100)
    assert process.exitcode == 0
    return answer


def answer_of(answers, work):
    try:
        answers.put(work())
    except Exception as error:
        answers.put((type(error).__name__, str(error)))


def test_shared_pools(pool, stream):
    assert pool.is_ipc_enabled and not pool.is_mapped
    assert isinstance(pool.uuid, uuid.UUID)
    handle = pool.allocation_handle
    assert isinstance(handle, IPCAllocationHandle)
    assert handle.uuid == pool.uuid and handle.handle == int(handle) >= 0
    descriptor = pool.allocate(SIZE, stream=stream).ipc_descriptor
    assert isinstance(descriptor, IPCBufferDescriptor) and descriptor.size == SIZE


def test_pools_that_are_not_shared(device, stream):
    for resource in (DeviceMemoryResource(device), DeviceMemoryResource(device, {"max_size": 1 << 20})):
        for use in (
            lambda resource=resource: resource.allocation_handle,
            lambda resource=resource: resource.allocate(16, stream=stream).ipc_descriptor,
            lambda resource=resource: resource.register(uuid.uuid4()),
            lambda resource=resource: pickle.dumps(resource),
            lambda resource=resource: pickle.dumps(resource.allocate(16, stream=stream)),
        ):
            with pytest.raises(RuntimeError, match="not IPC-enabled"):
                use()


def fill_shared(answers, buffer, value):
    def work():
        device = Device()
        device.set_current()
        stream = device.create_stream()
        assert buffer.is_mapped and buffer.memory_resource.is_mapped
        before = contents(buffer, stream)
        buffer.fill(value, stream=stream)
        stream.sync()
        return before, repr(buffer), type(buffer.memory_resource).__name__

    answer_of(answers, work)


def test_a_child_writes_to_a_buffer(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.fill(3, stream=stream)
    stream.sync()
    before, representation, kind = in_child(fill_shared, buffer, 9)
    assert before == b"\x03" * SIZE
    assert representation.endswith("is_mapped=True>")
    assert kind == type(pool).__name__
    assert contents(buffer, stream) == b"\x09" * SIZE


def pass_on(buffer, others, is_received):
    """The queue pickles what is put into it on a thread of its own, which the close is likely to come before."""
    others.put(buffer)
    buffer.close()
    is_received.wait(100)


def test_a_child_passes_a_buffer_on(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    stream.sync()
    context = multiprocessing.get_context("spawn")
    others, is_received = context.Queue(), context.Event()
    between = context.Process(target=pass_on, args=(buffer, others, is_received))
    between.start()
    assert in_child(fill_passed_on, others) == "filled"
    is_received.set()
    between.join(100)
    assert between.exitcode == 0
    assert contents(buffer, stream) == b"\x05" * SIZE


def fill_passed_on(answers, others):
    def work():
        device = Device()
        device.set_current()
        stream = device.create_stream()
        others.get(timeout=100).fill(5, stream=stream)
        stream.sync()
        return "filled"

    answer_of(answers, work)


def test_a_closed_buffer_of_this_process_is_not_sent(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        pickle.dumps(buffer)


def import_by_device(answers, handle, descriptor):
    def work():
        device = Device()
        device.set_current()
        stream = device.create_stream()
        pool = DeviceMemoryResource.from_allocation_handle(device, handle)
        imported = Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)
        return type(pool).__name__, contents(imported, stream)

    answer_of(answers, work)


def test_a_device_memory_resource_imports_either_kind(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.fill(8, stream=stream)
    stream.sync()
    answer = in_child(import_by_device, pool.allocation_handle, buffer.ipc_descriptor)
    assert answer == (type(pool).__name__, b"\x08" * SIZE)


def import_by_number(answers, number, descriptor):
    def work():
        device = Device()
        device.set_current()
        stream = device.create_stream()
        bare = number.detach()
        pool = DeviceMemoryResource.from_allocation_handle(device, bare)
        os.close(bare)
        return contents(Buffer.from_ipc_descriptor(pool, descriptor, stream=stream), stream)

    answer_of(answers, work)


def test_a_bare_file_descriptor_is_imported_by_either_class(pool, stream):
    """It does not say what memory it is of."""
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.fill(6, stream=stream)
    stream.sync()
    number = multiprocessing.reduction.DupFd(int(pool.allocation_handle))
    assert in_child(import_by_number, number, buffer.ipc_descriptor) == b"\x06" * SIZE


def use_everything(answers, handle, resource, descriptor, buffer):
    def work():
        device = Device()
        device.set_current()
        stream = device.create_stream()
        if isinstance(resource, PinnedMemoryResource):
            again = PinnedMemoryResource.from_allocation_handle(handle)
            other = lambda: DeviceMemoryResource.from_allocation_handle(device, handle)  # noqa: E731
        else:
            again = DeviceMemoryResource.from_allocation_handle(device, handle)
            other = lambda: PinnedMemoryResource.from_allocation_handle(handle)  # noqa: E731
        with pytest.raises(TypeError):
            other()
        assert again is resource is type(resource).from_registry(resource.uuid)
        assert buffer.memory_resource is resource
        imported = Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
        assert imported == buffer and imported.memory_resource is resource
        assert Buffer.from_ipc_descriptor(resource, descriptor, stream) == imported
        with pytest.raises(TypeError, match="Cannot allocate from a mapped"):
            resource.allocate(16, stream=stream)
        with pytest.raises(TypeError, match="'ipc_descriptor' has incorrect type"):
            Buffer.from_ipc_descriptor(resource, buffer, stream=stream)
        with pytest.raises(TypeError, match="'mr' has incorrect type"):
            Buffer.from_ipc_descriptor(7, descriptor, stream=stream)
        return contents(imported, stream)

    answer_of(answers, work)


def test_everything_can_be_sent(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.fill(5, stream=stream)
    stream.sync()
    assert in_child(use_everything, pool.allocation_handle, pool, buffer.ipc_descriptor, buffer) == b"\x05" * SIZE


def load(answers, data):
    answer_of(answers, lambda: Device().set_current() or pickle.loads(data))


def test_plain_pickle_needs_a_registered_pool(pool, stream):
    data = pickle.dumps(pool.allocate(SIZE, stream=stream))
    kind, message = in_child(load, data)
    assert kind == "RuntimeError" and message == f"Memory resource {pool.uuid} was not found"


def import_wrong(answers, resource, descriptor):
    def work():
        Device().set_current()
        return Buffer.from_ipc_descriptor(resource, descriptor, stream=Device().default_stream)

    answer_of(answers, work)


def test_a_descriptor_of_another_pool_is_refused(pool, device, stream):
    other = DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 1 << 22})
    buffer = other.allocate(SIZE, stream=stream)
    kind, message = in_child(import_wrong, pool, buffer.ipc_descriptor)
    assert kind == "InvalidArgumentError" and "refused" in message


def test_descriptors_are_values(pool, stream):
    buffer = pool.allocate(SIZE, stream=stream)
    descriptor = buffer.ipc_descriptor
    again = pickle.loads(pickle.dumps(descriptor))
    assert again == descriptor and hash(again) == hash(descriptor) and again.size == SIZE
    assert descriptor == copy.copy(descriptor) and descriptor != 7
    assert IPCBufferDescriptor.from_bytes(descriptor.to_bytes()) == descriptor
    assert descriptor != pool.allocate(SIZE, stream=stream).ipc_descriptor
    for wrong in (b"", b"\x00" * 8, descriptor.to_bytes()[:-1], descriptor.to_bytes() + b"x"):
        with pytest.raises(ValueError):
            IPCBufferDescriptor.from_bytes(wrong)
    with pytest.raises(TypeError):
        IPCBufferDescriptor.from_bytes("text")


@pytest.mark.parametrize("kind", [IPCAllocationHandle, IPCBufferDescriptor, IPCEventDescriptor])
def test_what_is_sent_is_made_by_others(kind):
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        kind()


def test_allocation_handles_close(pool):
    handle = pool.allocation_handle
    number = os.dup(int(handle))
    adopted = IPCAllocationHandle._init(number, None)
    assert int(adopted) == number and adopted.uuid is None
    adopted.close()
    adopted.close()
    assert adopted.handle == -1
    with pytest.raises(ValueError, match="closed"):
        int(adopted)
    with pytest.raises(OSError):
        os.fstat(number)
    with pytest.raises(ValueError, match="must be non-negative"):
        IPCAllocationHandle._init(-1, None)


def test_the_registry(pool, device):
    assert pool.register(pool.uuid) is pool
    assert type(pool).from_registry(pool.uuid) is pool
    with pytest.raises(RuntimeError):
        pool.register(uuid.uuid4())
    missing = uuid.uuid4()
    with pytest.raises(RuntimeError, match=f"Memory resource {missing} was not found"):
        type(pool).from_registry(missing)
    for wrong in (None, "text", 7, str(missing)):
        with pytest.raises(TypeError, match="uuid.UUID"):
            type(pool).from_registry(wrong)
        with pytest.raises(TypeError, match="uuid.UUID"):
            pool.register(wrong)


def test_handles_that_are_none(device):
    for wrong in (None, "7", object()):
        with pytest.raises(TypeError, match="alloc_handle"):
            DeviceMemoryResource.from_allocation_handle(device, wrong)
        with pytest.raises(TypeError, match="alloc_handle"):
            PinnedMemoryResource.from_allocation_handle(wrong)
    read, write = os.pipe()
    try:
        with pytest.raises(Exception, match="pool"):
            DeviceMemoryResource.from_allocation_handle(device, read)
    finally:
        os.close(read)
        os.close(write)


def wait_for(answers, event, buffer):
    def work():
        device = Device()
        device.set_current()
        stream = device.create_stream()
        assert event.is_ipc_enabled and not event.is_timing_enabled
        assert event.device is None and event.context is None
        stream.wait(event)
        return contents(buffer, stream), event.is_blocking_sync

    answer_of(answers, work)


@pytest.mark.parametrize("blocking", [False, True])
def test_events_travel(device, stream, blocking):
    resource = POOLS["device"]()
    buffer = resource.allocate(SIZE, stream=stream)
    buffer.fill(8, stream=stream)
    event = stream.record(options={"ipc_enabled": True, "blocking_sync": blocking})
    assert in_child(wait_for, event, buffer) == (b"\x08" * SIZE, blocking)


def test_event_descriptors(device, stream):
    event = stream.record(options={"ipc_enabled": True})
    descriptor = event.ipc_descriptor
    assert descriptor == pickle.loads(pickle.dumps(descriptor)) == event.get_ipc_descriptor()
    with pytest.raises(RuntimeError, match="Event is not IPC-enabled"):
        stream.record().ipc_descriptor
    with pytest.raises(TypeError, match="'ipc_descriptor' has incorrect type"):
        Event.from_ipc_descriptor(b"bytes")


def test_forking_is_warned_of(pool, monkeypatch):
    from cuprum import _ipc

    monkeypatch.setattr(multiprocessing, "get_start_method", lambda: "fork")
    _ipc.reset_fork_warning()
    with pytest.warns(UserWarning, match="'fork'"):
        _ipc._reduce_allocation_handle(pool.allocation_handle)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ipc._reduce_allocation_handle(pool.allocation_handle)  # once only


def stay(until):
    until.wait(100)


def test_a_spawn_context_is_not_warned_of(pool, monkeypatch):
    """Neither while the process starts, nor when a queue brings it more."""
    from cuprum import _ipc

    monkeypatch.setattr(multiprocessing, "get_start_method", lambda: "fork")
    _ipc.reset_fork_warning()
    context = multiprocessing.get_context("spawn")
    end = context.Event()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert in_child(uuid_of, pool) == pool.uuid
        process = context.Process(target=stay, args=(end,))
        process.start()
        multiprocessing.reduction.ForkingPickler.dumps(pool.allocation_handle)
    end.set()
    process.join(100)
    assert process.exitcode == 0


def uuid_of(answers, pool):
    answer_of(answers, lambda: pool.uuid)


def test_import_does_not_import_multiprocessing():
    code = "import sys, cuprum; print('multiprocessing' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout == "False\n"


def test_peers_of_a_pool():
    if os.environ.get("CUPRUM_DRIVER") == "nvidia" and len(Device.get_all_devices()) < 2:
        pytest.skip("needs two devices, which only softgpu has at will")
    code = """
        from cuprum import Device, DeviceMemoryResource
        from cuprum._memory_sets import DMR_mempool_get_access as access

        first, second = Device.get_all_devices()
        first.set_current()
        pool = DeviceMemoryResource(first, {"max_size": 1 << 20})
        peers = pool.peer_accessible_by
        assert len(peers) == 0 and second not in peers and access(pool, 1) == "" and access(pool, 0) == "rw"
        peers.add(1)
        assert second in peers and 1 in peers and 0 not in peers and list(peers) == [second]
        assert "x" not in peers and None not in peers and 99 not in peers
        assert access(pool, second) == "rw"
        assert repr(peers).startswith("PeerAccessibleBySetProxy({<Device 1")
        peers.discard("nothing")
        peers.discard(99)
        peers &= {first}
        assert len(peers) == 0
        peers ^= {second}
        assert peers == {second} and peers | {first} == {first, second}
        peers -= peers
        assert not peers
        peers |= [1, second, first]
        assert list(pool.peer_accessible_by) == [second]
        pool.peer_accessible_by = []
        assert not peers
        pool.peer_accessible_by = {1}
        peers.clear()
        for wrong, error in ((7, TypeError), (["x"], TypeError), ([99], ValueError)):
            try:
                pool.peer_accessible_by = wrong
            except error:
                pass
            else:
                raise AssertionError(wrong)
        try:
            peers.add(99)
        except ValueError:
            pass
        else:
            raise AssertionError
        print("done")
    """
    environment = {**os.environ, "SOFTGPU_DEVICES": "2"}
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment
    )
    assert output.stdout == "done\n", output.stderr


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_nothing_is_left(device, stream):
    def make():
        resource = POOLS["device"]()
        handle = resource.allocation_handle
        resource.allocate(SIZE, stream=stream).ipc_descriptor
        handle.close()

    for _ in range(500):
        make()
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    before = resident_bytes()
    for _ in range(2000):
        make()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 2
    assert resident_bytes() - before < 1 << 20
