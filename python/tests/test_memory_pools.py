"""Pools and the other resources of the library: their attributes, managed memory, memory that grows."""

import pytest

from cuprum import (
    Buffer,
    CUDAError,
    Device,
    DeviceMemoryResource,
    GraphMemoryResource,
    Host,
    LegacyPinnedMemoryResource,
    ManagedBuffer,
    ManagedMemoryResource,
    MemoryResource,
    PinnedMemoryResource,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)
from cuprum.utils import copy_batch, discard_batch, discard_prefetch_batch, prefetch_batch

ATTRIBUTES = {
    "release_threshold": int,
    "reserved_mem_current": int,
    "reserved_mem_high": int,
    "reuse_allow_internal_dependencies": bool,
    "reuse_allow_opportunistic": bool,
    "reuse_follow_event_dependencies": bool,
    "used_mem_current": int,
    "used_mem_high": int,
}

POOLS = {
    "device": lambda: DeviceMemoryResource(0, {"max_size": 1 << 24}),
    "pinned": lambda: PinnedMemoryResource({"max_size": 1 << 24}),
    "managed": lambda: ManagedMemoryResource({"preferred_location": 0}),
}


@pytest.fixture(params=POOLS)
def pool(request, device):
    return POOLS[request.param]()


def test_pools_have_attributes(pool, stream):
    buffer = pool.allocate(4096, stream=stream)
    for name, kind in ATTRIBUTES.items():
        assert isinstance(getattr(pool.attributes, name), kind), name
    assert pool.attributes.used_mem_current >= 4096
    assert repr(pool.attributes).startswith("_MemPoolAttributes(release_threshold=")
    buffer.close()
    stream.sync()
    assert pool.attributes.used_mem_current == 0 and pool.attributes.used_mem_high >= 4096


def test_attributes_can_be_set_where_the_driver_lets_them(pool):
    pool.attributes.release_threshold = 1 << 20
    assert pool.attributes.release_threshold == 1 << 20
    pool.attributes.reuse_allow_opportunistic = False
    assert pool.attributes.reuse_allow_opportunistic is False
    with pytest.raises(AttributeError):
        pool.attributes.used_mem_current = 0
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        type(pool.attributes)()


def test_attributes_outlive_the_close_of_their_pool(pool):
    attributes = pool.attributes
    pool.close()
    assert attributes.used_mem_high == 0
    attributes.release_threshold = 1 << 20
    assert attributes.release_threshold == 1 << 20
    with pytest.raises(RuntimeError, match="closed"):
        pool.attributes


def test_what_pools_are(pool, stream):
    assert isinstance(pool, MemoryResource)
    assert pool.is_handle_owned and not pool.is_ipc_enabled and not pool.is_mapped and pool.uuid is None
    assert pool.is_device_accessible
    buffer = pool.allocate(16, stream=stream)
    assert buffer.memory_resource is pool
    assert buffer.is_host_accessible == pool.is_host_accessible
    assert buffer.is_managed == pool.is_managed
    buffer.close()
    pool.trim()
    pool.close()
    assert int(pool.handle) == 0 and not pool.is_ipc_enabled and pool.uuid is None


def test_sizes_of_pools(pool, stream):
    with pytest.raises(OverflowError):
        pool.allocate(-1, stream=stream)
    with pytest.raises(TypeError):
        pool.allocate("16", stream=stream)
    with pytest.raises(TypeError):
        pool.allocate(16, stream="stream")


def test_pools_have_a_largest_size(device, stream):
    resource = DeviceMemoryResource(device, {"max_size": 1 << 21})
    with pytest.raises(CUDAError, match="CUDA_ERROR_OUT_OF_MEMORY"):
        resource.allocate(1 << 26, stream=stream)


def test_devices_of_pools(device):
    assert DeviceMemoryResource(device).device_id == 0
    assert PinnedMemoryResource().device_id == -1
    assert ManagedMemoryResource().device_id == -1
    assert ManagedMemoryResource({"preferred_location": 0}).device_id == 0


@pytest.mark.parametrize(
    "options, location",
    [
        ({}, None),
        ({"preferred_location": 0}, ("device", 0)),
        ({"preferred_location": -1}, ("host", None)),
        ({"preferred_location": 0, "preferred_location_type": "device"}, ("device", 0)),
        ({"preferred_location_type": "host"}, ("host", None)),
        ({"preferred_location": 0, "preferred_location_type": "host_numa"}, ("host_numa", 0)),
    ],
)
def test_locations_of_managed_pools(device, options, location):
    assert ManagedMemoryResource(options).preferred_location == location


@pytest.mark.parametrize(
    "options",
    [
        {"preferred_location": -2},
        {"preferred_location_type": "device"},
        {"preferred_location": 0, "preferred_location_type": "host"},
        {"preferred_location": -1, "preferred_location_type": "host_numa"},
        {"preferred_location_type": "moon"},
    ],
)
def test_locations_that_do_not_fit(device, options):
    with pytest.raises(ValueError):
        ManagedMemoryResource(options)


@pytest.fixture
def managed(device, stream):
    return ManagedMemoryResource().allocate(4096, stream=stream)


def test_managed_buffers(managed, stream):
    assert isinstance(managed, ManagedBuffer) and isinstance(managed, Buffer)
    assert managed.is_managed and managed.is_host_accessible and managed.is_device_accessible
    assert managed.__dlpack_device__()[0] == 13
    managed.fill(3, stream=stream)
    stream.sync()
    assert bytes(managed) == b"\x03" * 4096
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        ManagedBuffer()


def test_managed_buffers_can_be_moved(managed, device, stream):
    managed.fill(7, stream=stream)
    managed.prefetch(device, stream=stream)
    managed.prefetch(Host(), stream=stream)
    stream.sync()
    assert bytes(managed) == b"\x07" * 4096
    managed.discard_prefetch(device, stream=stream)
    managed.discard(stream=stream)
    stream.sync()


@pytest.mark.parametrize("wrong, error", [(None, ValueError), (0, TypeError), ("device", TypeError)])
def test_places_that_are_none(managed, stream, wrong, error):
    with pytest.raises(error):
        managed.prefetch(wrong, stream=stream)
    with pytest.raises(error):
        managed.discard_prefetch(wrong, stream=stream)


def test_advice(managed, device):
    try:
        managed.read_mostly = True
    except NotImplementedError:
        pytest.skip("the driver takes no advice for memory of pools")
    assert managed.read_mostly is True
    managed.read_mostly = False
    assert managed.read_mostly is False
    assert managed.preferred_location is None
    managed.preferred_location = device
    assert managed.preferred_location == device
    managed.preferred_location = Host()
    assert managed.preferred_location is Host()
    managed.preferred_location = None
    assert managed.preferred_location is None
    with pytest.raises(TypeError):
        managed.preferred_location = 0


def test_the_set_of_places(managed, device):
    places = managed.accessed_by
    try:
        places.add(device)
    except NotImplementedError:
        pytest.skip("the driver takes no advice for memory of pools")
    assert device in places and Host() not in places and 0 not in places and len(places) == 1
    places |= {Host()}
    assert set(managed.accessed_by) == {device, Host()}
    assert managed.accessed_by & {device} == {device}
    assert repr(places).startswith("AccessedBySetProxy({")
    places.discard("nothing")
    places.discard(Host(numa_id=0))
    managed.accessed_by = [Host()]
    assert list(managed.accessed_by) == [Host()]
    managed.accessed_by.clear()
    assert len(managed.accessed_by) == 0
    with pytest.raises(TypeError, match="expected Device or Host"):
        places.add(0)
    with pytest.raises(TypeError):
        managed.accessed_by = [device, 7]
    with pytest.raises(ValueError):
        managed.accessed_by = [Host(numa_id=0)]
    assert len(managed.accessed_by) == 0


def test_managed_memory_can_be_wrapped(managed, stream):
    wrapped = ManagedBuffer.from_handle(managed.handle, 4096, owner=managed)
    assert isinstance(wrapped, ManagedBuffer) and wrapped.owner is managed
    with pytest.raises(ValueError, match="stream requires"):
        ManagedBuffer.from_handle(managed.handle, 4096, stream=stream)

    class Named(ManagedBuffer): ...

    assert type(Named.from_handle(managed.handle, 4096, owner=managed)) is Named


def test_memory_that_is_not_managed_can_not_be_moved(device, stream):
    buffer = device.allocate(16, stream=stream)
    wrapped = ManagedBuffer.from_handle(buffer.handle, 16, owner=buffer)
    with pytest.raises(ValueError):
        wrapped.prefetch(device, stream=stream)


def test_batches(device, stream):
    resource = ManagedMemoryResource()
    sources = [resource.allocate(64, stream=stream) for _ in range(3)]
    targets = [resource.allocate(64, stream=stream) for _ in range(3)]
    for number, source in enumerate(sources):
        source.fill(number + 1, stream=stream)
    copy_batch(stream, sources, targets)
    prefetch_batch(stream, targets, Host())
    prefetch_batch(stream, targets, [device, Host(), device])
    stream.sync()
    assert [bytes(target) for target in targets] == [bytes([n]) * 64 for n in (1, 2, 3)]
    copy_batch(stream, sources, targets, options=[{"src_access_order": "any"}] * 3)
    discard_batch(stream, targets)
    discard_prefetch_batch(stream, sources, device)
    stream.sync()


def test_batches_refuse_what_does_not_fit(device, stream):
    from cuprum import LEGACY_DEFAULT_STREAM

    buffers = [device.allocate(16, stream=stream) for _ in range(2)]
    with pytest.raises(TypeError, match="sequence of Buffers"):
        copy_batch(stream, buffers[0], buffers)
    with pytest.raises(TypeError, match="must be a sequence of Buffer"):
        copy_batch(stream, buffers, 7)
    with pytest.raises(TypeError, match="expected Buffer, got int"):
        copy_batch(stream, [7], buffers)
    with pytest.raises(ValueError, match="empty"):
        copy_batch(stream, [], [])
    with pytest.raises(ValueError, match="length"):
        copy_batch(stream, buffers, buffers[:1])
    with pytest.raises(ValueError, match="size mismatch at index 0"):
        copy_batch(stream, buffers, [device.allocate(8, stream=stream)] * 2)
    with pytest.raises(TypeError, match="Argument 'stream'"):
        copy_batch(7, buffers, buffers)
    with pytest.raises(TypeError, match="LEGACY_DEFAULT_STREAM"):
        copy_batch(LEGACY_DEFAULT_STREAM, buffers, buffers)
    with pytest.raises(TypeError, match="options must be CopyOptions"):
        copy_batch(stream, buffers, buffers, options=7)
    with pytest.raises(TypeError, match="each options element"):
        copy_batch(stream, buffers, buffers, options=[7, 7])
    with pytest.raises(ValueError, match="length"):
        copy_batch(stream, buffers, buffers, options=[{}])
    with pytest.raises(ValueError):
        prefetch_batch(stream, buffers, device)  # not managed
    with pytest.raises(ValueError, match="location is required"):
        prefetch_batch(stream, buffers, None)
    with pytest.raises(ValueError, match="length"):
        prefetch_batch(stream, buffers, [device])
    with pytest.raises(TypeError):
        prefetch_batch(stream, buffers, 7)


def test_legacy_pinned_memory(device, stream):
    resource = LegacyPinnedMemoryResource()
    buffer = resource.allocate(64)
    assert buffer.is_host_accessible and buffer.is_device_accessible
    assert buffer.memory_resource is resource
    with pytest.raises(RuntimeError, match="not bound to any GPU"):
        resource.device_id
    buffer.fill(4, stream=stream)
    stream.sync()
    assert bytes(buffer) == b"\x04" * 64
    buffer.close(stream)
    assert resource.allocate(0).size == 0
    with pytest.raises(TypeError):
        resource.allocate(16, stream=7)


def test_memory_that_grows(device, stream):
    resource = VirtualMemoryResource(device, VirtualMemoryResourceOptions(granularity="minimum"))
    buffer = resource.allocate(1 << 16, stream=stream)
    assert buffer.memory_resource is resource and buffer.device_id == 0
    assert buffer.is_device_accessible and not buffer.is_host_accessible
    buffer.fill(6, stream=stream)
    stream.sync()
    assert resource.modify_allocation(buffer, 1 << 22) is buffer
    assert buffer.size == 1 << 22
    host = LegacyPinnedMemoryResource().allocate(1 << 22)
    host.copy_from(buffer, stream=stream)
    stream.sync()
    assert bytes(host)[: 1 << 16] == b"\x06" * (1 << 16)
    assert resource.config.granularity == "minimum" and resource.device == device
    assert repr(resource).startswith("<VirtualMemoryResource device=<Device 0")
    resource.modify_allocation(buffer, 1 << 22, {"granularity": "recommended"})
    assert resource.config.granularity == "recommended"


@pytest.mark.parametrize(
    "config, error",
    [
        (7, TypeError),
        ({"granularit": "minimum"}, TypeError),
        ({"granularity": "large"}, ValueError),
        ({"location_type": "moon"}, ValueError),
        ({"handle_type": "paper"}, ValueError),
        ({"self_access": "x"}, ValueError),
        ({"addr_align": "x"}, TypeError),
        ({"peers": 7}, TypeError),
        ({"peers": ["x"]}, (TypeError, RuntimeError)),
    ],
)
def test_options_of_virtual_memory_that_do_not_fit(device, config, error):
    with pytest.raises(error):
        VirtualMemoryResource(device, config)


def test_direct_access_of_network_cards_needs_hardware(device):
    if not device.properties.gpu_direct_rdma_supported:
        with pytest.raises(RuntimeError, match="GPU Direct RDMA is not supported"):
            VirtualMemoryResource(device, {"gpu_direct_rdma": True})


def test_virtual_memory_refuses_other_buffers(device, stream):
    resource = VirtualMemoryResource(device)
    with pytest.raises(TypeError, match="buf must be a Buffer"):
        resource.modify_allocation(7, 16)
    with pytest.raises(ValueError):
        resource.modify_allocation(device.allocate(16, stream=stream), 32)


def test_graph_memory_is_one_per_device(device, stream):
    resource = GraphMemoryResource(device)
    assert resource is GraphMemoryResource(0) and resource.device_id == 0
    assert resource.is_device_accessible and not resource.is_host_accessible
    with pytest.raises(RuntimeError):
        resource.allocate(16, stream=stream)  # nothing is captured
    attributes = resource.attributes
    assert attributes.used_mem_current >= 0
    attributes.used_mem_high = 0
    attributes.reserved_mem_high = 0
    with pytest.raises(AttributeError, match="may only be set to zero"):
        attributes.used_mem_high = 1
    with pytest.raises(AttributeError, match="is not writable"):
        attributes.used_mem_current = 0
    assert "reserved_mem_current=" in repr(attributes)
    resource.trim()
    resource.close()


def test_graphs_have_memory(device, stream):
    builder = device.create_graph_builder().begin_building()
    buffer = GraphMemoryResource(device).allocate(64, stream=builder)
    buffer.fill(1, stream=builder)
    buffer.close()
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()


def test_pools_refuse_captured_streams(device):
    builder = device.create_graph_builder().begin_building()
    try:
        with pytest.raises(RuntimeError, match="on a capturing stream"):
            DeviceMemoryResource(device).allocate(64, stream=builder)
    finally:
        builder.end_building()


def test_hosts():
    import copy
    import pickle

    assert Host() is Host() and Host(1) is Host(numa_id=1) and Host() is not Host(0)
    assert Host.numa_current() is Host(is_numa_current=True)
    assert (Host().numa_id, Host(3).numa_id, Host.numa_current().is_numa_current) == (None, 3, True)
    assert [repr(host) for host in (Host(), Host(2), Host.numa_current())] == [
        "Host()",
        "Host(numa_id=2)",
        "Host.numa_current()",
    ]
    for host in (Host(), Host(1), Host.numa_current()):
        assert pickle.loads(pickle.dumps(host)) is host and copy.copy(host) is host
    for wrong in (-1, True, "1", 1.5):
        with pytest.raises(ValueError, match="non-negative int"):
            Host(wrong)
    with pytest.raises(ValueError, match="mutually exclusive"):
        Host(1, is_numa_current=True)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize(
    "make",
    [
        lambda device: ManagedMemoryResource(),
        lambda device: ManagedMemoryResource({"preferred_location": 0}),
        lambda device: ManagedMemoryResource().allocate(64, stream=device.default_stream).accessed_by,
        lambda device: LegacyPinnedMemoryResource().allocate(64),
        lambda device: VirtualMemoryResource(device),
        lambda device: GraphMemoryResource(device).attributes,
        lambda device: DeviceMemoryResource(device).attributes,
        lambda device: DeviceMemoryResource(device).peer_accessible_by,
    ],
    ids=["managed", "own managed", "managed buffer", "legacy", "virtual", "graph", "attributes", "peers"],
)
def test_nothing_is_left(device, make):
    for _ in range(1000):
        make(device)
    device.sync()
    before = resident_bytes()
    for _ in range(10_000):
        make(device)
    device.sync()
    assert resident_bytes() - before < 1 << 20
