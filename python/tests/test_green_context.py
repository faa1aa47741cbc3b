"""Parts of devices, and contexts that were given one."""

import random

import pytest

from cuprum import (
    ContextOptions,
    CUDAError,
    Device,
    DeviceResources,
    LaunchConfig,
    PinnedMemoryResource,
    Program,
    SMResource,
    SMResourceOptions,
    StreamOptions,
    WorkqueueResource,
    launch,
)


@pytest.fixture
def sm(device):
    return device.resources.sm


@pytest.fixture
def green(device, sm):
    context = device.create_context(ContextOptions(resources=[sm.split(SMResourceOptions())[0][0]]))
    yield context
    context.close()


class TestSMResource:
    def test_is_all_of_a_device(self, device, sm):
        assert sm.sm_count == device.properties.multiprocessor_count
        assert sm.min_partition_size >= 1
        assert sm.coscheduled_alignment >= 1
        assert isinstance(sm.flags, int)
        assert sm.handle != 0
        assert f"{sm.sm_count} multiprocessor" in repr(sm)

    def test_of_primary_contexts_and_streams_is_all_too(self, device, stream, sm):
        assert device.context.resources.sm.sm_count == sm.sm_count
        assert stream.resources.sm.sm_count == sm.sm_count

    def test_splits_into_groups_and_a_remainder(self, sm):
        groups, remainder = sm.split(SMResourceOptions(count=None))
        assert len(groups) == 1
        assert groups[0].sm_count + remainder.sm_count == sm.sm_count
        assert remainder.min_partition_size == sm.min_partition_size

    def test_takes_options_as_a_dict(self, sm):
        groups, _ = sm.split({"count": [sm.min_partition_size]})
        assert groups[0].sm_count >= sm.min_partition_size

    def test_a_dry_run_tells_the_same_and_makes_nothing(self, device, sm):
        real, rest = sm.split(SMResourceOptions())
        trial, trial_rest = sm.split(SMResourceOptions(), dry_run=True)
        assert [group.sm_count for group in trial] == [group.sm_count for group in real]
        assert trial_rest.sm_count == rest.sm_count
        with pytest.raises(ValueError, match="dry-run SMResource"):
            device.create_context(ContextOptions(resources=trial))

    @pytest.mark.parametrize("seed", range(20))
    def test_splits_as_documented(self, sm, seed):
        """Equal groups of a size that is rounded up, as many as fit: what drivers before CUDA 13.1 do."""
        numbers = random.Random(seed)
        groups, count = numbers.randint(1, 5), numbers.randint(0, sm.sm_count + 4)
        unit = sm.coscheduled_alignment
        size = min(-(-max(count, sm.min_partition_size) // unit) * unit, sm.sm_count)
        made = min(groups, sm.sm_count // size) if count <= sm.sm_count else 0
        options = SMResourceOptions(count=[count] * groups)
        if made == 0:
            with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"):
                sm.split(options)
            return
        parts, rest = sm.split(options)
        assert [part.sm_count for part in parts] == [size] * made
        assert rest.sm_count == sm.sm_count - made * size

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"count": -1}, ValueError, "count must be non-negative"),
            ({"count": []}, ValueError, "count sequence must not be empty"),
            ({"count": 3.5}, TypeError, "count must be int, Sequence, or None"),
            ({"count": "8"}, TypeError, "count must be int, Sequence, or None"),
            ({"count": 2, "coscheduled_sm_count": (2, 2)}, ValueError, "count is scalar"),
            ({"count": (2, 2), "coscheduled_sm_count": (2, 2, 2)}, ValueError, "expected 2"),
            ({"count": (2, 2), "backfill": (True,)}, ValueError, "backfill has 1 values, expected 2"),
            ({"count": 10**6}, CUDAError, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"),
            ({"count": 2**40}, ValueError, "count"),
            ({"counts": 2}, TypeError, "did you mean 'count'"),
            (7, TypeError, "SM resource options"),
        ],
    )
    def test_refuses_splits_that_make_no_sense(self, sm, options, error, message):
        with pytest.raises(error, match=message):
            sm.split(options)

    def test_needs_a_newer_driver_for_more(self, sm):
        for options in ({"coscheduled_sm_count": 2}, {"preferred_coscheduled_sm_count": 2}, {"count": (2, 4)}):
            with pytest.raises(RuntimeError, match=r"CUDA 13\.1 or newer"):
                sm.split(options)


def test_nobody_makes_resources_by_hand():
    for cls in (DeviceResources, SMResource, WorkqueueResource):
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            cls()


def test_workqueues_need_a_newer_driver(device):
    with pytest.raises(RuntimeError, match=r"CUDA 13\.1 or newer"):
        _ = device.resources.workqueue


class TestGreenContext:
    def test_has_what_it_was_given(self, device, sm, green):
        assert green.is_green
        assert green.handle is not None
        assert not device.context.is_green
        assert green.resources.sm.sm_count <= sm.sm_count

    def test_streams_and_events_belong_to_it(self, green):
        stream = green.create_stream()
        assert stream.context == green
        assert stream.context.is_green
        assert stream.resources.sm.sm_count == green.resources.sm.sm_count
        event = stream.record()
        assert event.context == green
        stream.sync()

    def test_runs_kernels(self, device, green):
        stream = green.create_stream()
        kernel = Program('extern "C" __global__ void k(int* out) { *out = 42; }', "c++").compile("cubin").get_kernel("k")
        buffer = PinnedMemoryResource().allocate(4, stream=stream)
        launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
        stream.sync()
        assert memoryview(buffer).cast("B").cast("i")[0] == 42

    def test_needs_resources(self, device):
        with pytest.raises(ValueError, match="resources must be provided"):
            device.create_context()
        with pytest.raises(ValueError, match="resources must be provided"):
            device.create_context(ContextOptions(resources=None))
        with pytest.raises(ValueError, match="must not be empty"):
            device.create_context(ContextOptions(resources=[]))
        with pytest.raises(TypeError, match="Unsupported context resource type"):
            device.create_context(ContextOptions(resources=[7]))
        with pytest.raises(TypeError, match="Context options"):
            device.create_context(object())

    def test_refuses_blocking_streams(self, green):
        with pytest.raises(ValueError, match="must be non-blocking"):
            green.create_stream(StreamOptions(nonblocking=False))

    def test_only_green_contexts_make_streams(self, device):
        with pytest.raises(RuntimeError, match="only supported on green contexts"):
            device.context.create_stream()

    def test_is_not_closed_while_it_is_current(self, device, green):
        before = device.set_current(green)
        try:
            with pytest.raises(RuntimeError, match="while it is current"):
                green.close()
        finally:
            assert device.set_current(before) is green

    def test_closed_is_none(self, device, sm):
        context = device.create_context({"resources": [sm]})
        stream = context.create_stream()
        context.close()
        assert context.handle is None
        assert context.is_green is False
        with pytest.raises(RuntimeError, match="Cannot query resources"):
            _ = context.resources
        with pytest.raises(RuntimeError, match="closed context"):
            context.create_stream()
        stream.sync()  # keeps its context

    def test_resources_outlive_the_context(self, device, sm):
        context = device.create_context(ContextOptions(resources=[sm]))
        resources = context.resources
        context.close()
        del context
        assert resources.sm.sm_count == sm.sm_count

    def test_of_another_device_is_refused(self, device, sm):
        if len(Device.get_all_devices()) < 2:
            pytest.skip("needs two devices")
        with pytest.raises(ValueError, match="a resource is of device 0"):
            Device(1).create_context(ContextOptions(resources=[sm]))
