"""Devices, contexts, streams and events."""

import html
import pickle
import threading
import weakref

import pytest

import cuprum.graph
from cuprum import CompileError, ContextOptions, CUDAError, Device, Event, EventOptions, LaunchConfig, Program, Stream, StreamOptions


def in_new_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


def test_modules_are_there_when_they_are_asked_for():
    import subprocess
    import sys

    code = "import cuprum; print(cuprum.graph.Graph.__name__, cuprum.utils.__name__, cuprum.typing.__name__)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("Graph cuprum.utils cuprum.typing\n", "")
    with pytest.raises(AttributeError, match="no attribute 'grahp'"):
        cuprum.grahp


def test_classes_are_of_the_module_that_users_know():
    assert repr(Device) == "<class 'cuprum.Device'>"
    assert repr(cuprum.graph.Graph) == "<class 'cuprum.graph.Graph'>"


def test_notebooks_show_a_compile_error_with_its_source_and_its_log(device):
    with pytest.raises(CompileError) as caught:
        Program("int a = <b>;", "c++").compile("ptx")
    shown = caught.value._repr_html_()
    assert shown.startswith("<b>CompileError: ")
    assert html.escape(caught.value.log.splitlines()[0], quote=False) in shown
    assert "<b>;" not in shown


def test_notebooks_show_a_table_of_a_device(device):
    table = device._repr_html_()
    assert table.startswith("<table>") and table.endswith("</table>")
    assert device.name in html.unescape(table)
    assert f"<th>multiprocessors</th><td>{device.properties.multiprocessor_count}</td>" in table


class TestDevice:
    def test_is_one_object_per_thread(self, device):
        assert Device(0) is device
        assert Device(device) is device
        other = in_new_thread(lambda: Device(0))
        assert other is not device
        assert other == device
        assert hash(other) == hash(device)

    def test_goes_with_its_thread(self, device):
        alive = in_new_thread(lambda: weakref.ref(Device(0)))
        assert alive() is None
        assert Device(0) is device

    def test_must_be_made_current_on_each_thread(self, device):
        def use():
            with pytest.raises(CUDAError, match="not yet initialized"):
                Device(0).create_stream()
            Device(0).set_current()
            return Device(0).create_stream()

        assert isinstance(in_new_thread(use), Stream)

    def test_says_what_it_is(self, device):
        assert device.device_id == 0
        assert int(device) == 0
        assert device.arch == "".join(map(str, device.compute_capability))
        assert device.compute_capability.major == device.properties.compute_capability_major
        assert repr(device) == f"<Device 0 ({device.name})>"
        assert len(device.uuid) == 36
        assert device in Device.get_all_devices()

    @pytest.mark.parametrize("number", [-1, 1000, 2**80])
    def test_refuses_numbers_that_no_device_has(self, number):
        with pytest.raises(ValueError, match=r"device_id must be within \[0, "):
            Device(number)

    def test_refuses_what_is_no_number(self):
        with pytest.raises(TypeError, match="a Device or its number"):
            Device("0")

    def test_can_be_pickled(self, device):
        assert pickle.loads(pickle.dumps(device)) is device

    def test_swaps_contexts(self, device):
        mine = device.create_context(ContextOptions(resources=[device.resources.sm]))
        before = device.set_current(mine)
        try:
            assert device.context == mine
            assert before != mine
        finally:
            assert device.set_current(before) == mine

    def test_sync(self, device):
        device.sync()


class TestStream:
    def test_takes_options_as_object_and_as_dict(self, device):
        assert device.create_stream().is_nonblocking
        assert not device.create_stream(options=StreamOptions(nonblocking=False)).is_nonblocking
        assert not device.create_stream(options={"nonblocking": False}).is_nonblocking
        with pytest.raises(TypeError, match="did you mean 'priority'"):
            device.create_stream(options={"priorty": 1})
        with pytest.raises(ValueError):
            device.create_stream(options={"priority": 10**6})

    def test_refuses_values_of_other_types(self, device, stream):
        for priority in ("x", 1.5, 10**20):
            with pytest.raises(TypeError, match="StreamOptions.priority can't be"):
                device.create_stream(options={"priority": priority})
        with pytest.raises(TypeError, match="event must be an Event"):
            stream.record("x")

    def test_is_its_own_foreign_stream(self, device, stream):
        class Wrapper:
            def __cuda_stream__(self):
                return stream.__cuda_stream__()

        assert stream.__cuda_stream__() == (0, int(stream.handle))
        assert device.create_stream(Wrapper()) == stream
        stream.wait(Wrapper())
        with pytest.raises(ValueError, match="cannot be both"):
            device.create_stream(Wrapper(), options={})

    @pytest.mark.parametrize("said", [(0,), (0, 1, 2), 7, (1, 2)])
    def test_refuses_a_bad_protocol(self, device, said):
        class Bad:
            def __cuda_stream__(self):
                return said

        with pytest.raises(RuntimeError):
            device.create_stream(Bad())

    def test_the_version_of_a_protocol_is_named(self, device):
        class Later:
            def __cuda_stream__(self):
                return 3, 1

        with pytest.raises(RuntimeError, match="first element of the sequence .* must be 0, not 3"):
            device.create_stream(Later())

    def test_a_protocol_that_is_an_attribute_works_with_a_warning(self, device, stream):
        class Older:
            __cuda_stream__ = stream.__cuda_stream__()

        with pytest.warns(DeprecationWarning, match="must be implemented as a method"):
            assert device.create_stream(Older()) == stream

    def test_waits_for_events_and_streams(self, device, stream):
        other = device.create_stream()
        stream.wait(other)
        stream.wait(other.record())
        with pytest.raises(ValueError, match="can be waited"):
            stream.wait(3)
        stream.sync()

    def test_keeps_the_object_whose_stream_it_wraps(self, device, stream):
        class Owner:
            def __cuda_stream__(self):
                return stream.__cuda_stream__()

        owner = Owner()
        alive = weakref.ref(owner)
        wrapped = device.create_stream(owner)
        del owner
        assert alive() is not None
        wrapped.close()
        del wrapped
        assert alive() is None

    def test_equality_and_hash(self, device, stream):
        same = Stream.from_handle(int(stream.handle))
        assert same == stream
        assert hash(same) == hash(stream)
        assert stream != device.create_stream()
        assert stream != 3
        assert weakref.ref(stream)() is stream

    def test_default_streams(self, monkeypatch):
        assert cuprum.default_stream() == cuprum.LEGACY_DEFAULT_STREAM
        monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "1")
        assert cuprum.default_stream() == cuprum.PER_THREAD_DEFAULT_STREAM

    def test_closed_streams_are_not_the_default_stream(self, device, stream):
        """(0, 0) would be that one: what is queued there on behalf of a closed stream would run, in another order."""
        stream.close()
        with pytest.raises(RuntimeError, match="this stream is closed"):
            stream.__cuda_stream__()
        with pytest.raises(RuntimeError, match="this stream is closed"):
            device.create_stream(stream)

    @pytest.mark.parametrize(
        "make",
        [
            lambda device: device.create_stream(),
            lambda device: Stream.per_thread_default(),
            lambda device: device.create_stream().record(),
            lambda device: device.create_context(ContextOptions(resources=[device.resources.sm])),
        ],
    )
    def test_closing_leaves_hash_and_equality(self, device, make):
        first, second, empty = make(device), make(device), device.create_stream()
        empty.close()
        known, keys = hash(first), {first: 1}
        first.close()
        assert hash(first) == known
        assert keys[first] == 1
        assert first == first  # noqa: PLR0124
        assert first != second
        assert first != empty

    def test_two_closed_streams_differ(self, device, stream):
        other = device.create_stream()
        stream.close()
        other.close()
        assert stream != other
        assert len({stream, other}) == 2

    def test_closed_streams_say_so(self, stream):
        stream.close()
        stream.close()
        with pytest.raises(RuntimeError, match="closed"):
            stream.sync()
        assert "0x0" in repr(stream)

    def test_is_made_by_a_device_only(self):
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            Stream()


class TestEvent:
    def test_measures_time(self, stream):
        start = stream.record(options=EventOptions(timing_enabled=True))
        end = stream.record(options={"timing_enabled": True})
        end.sync()
        assert end.is_done
        assert end - start >= 0

    def test_says_why_it_can_not_measure(self, device, stream):
        timed = device.create_event({"timing_enabled": True})
        with pytest.raises(RuntimeError, match="timing"):
            stream.record() - stream.record()
        with pytest.raises(RuntimeError, match="record"):
            timed - timed
        with pytest.raises(TypeError):
            timed - 3

    def test_is_recorded_again(self, device, stream):
        event = device.create_event()
        assert stream.record(event) is not None
        stream.wait(event)
        assert not event.is_timing_enabled
        assert event.device is device
        assert event.context == device.context

    def test_ipc_events_are_recorded_once(self, device, stream):
        with pytest.raises(TypeError, match="must be bound"):
            device.create_event({"ipc_enabled": True})
        with pytest.raises(TypeError, match="timing"):
            stream.record(options={"ipc_enabled": True, "timing_enabled": True})
        with pytest.raises(TypeError, match="re-recorded"):
            stream.record(stream.record(options={"ipc_enabled": True}))

    def test_is_made_by_a_stream_only(self):
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            Event()


class TestLaunchConfig:
    def test_makes_three_extents_of_anything(self):
        config = LaunchConfig(grid=4, block=(16, 16), shmem_size=32)
        assert (config.grid, config.block, config.cluster, config.shmem_size) == ((4, 1, 1), (16, 16, 1), None, 32)
        assert config == LaunchConfig((4,), None, (16, 16, 1), 32)
        assert hash(config) == hash(LaunchConfig(4, block=(16, 16), shmem_size=32))
        assert config != LaunchConfig(4, block=(16, 16))

    @pytest.mark.parametrize("bad", [0, -1, (1, 2, 3, 4), (), "4", 1.5, None, (1, 0), 2**70])
    def test_refuses_what_is_no_extent(self, bad):
        with pytest.raises(ValueError, match="LaunchConfig.grid"):
            LaunchConfig(grid=bad, block=1)
        with pytest.raises(ValueError, match="LaunchConfig.block"):
            LaunchConfig(grid=1, block=bad)

    def test_old_spelling(self):
        assert LaunchConfig(1, block=1, cooperative_launch=True).is_cooperative


def test_the_default_stream_is_one_of_two_objects(monkeypatch):
    monkeypatch.setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "1")
    assert cuprum.default_stream() is cuprum.PER_THREAD_DEFAULT_STREAM
    monkeypatch.delenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM")
    assert cuprum.default_stream() is cuprum.LEGACY_DEFAULT_STREAM
