"""Graphs: definitions, builders, executable graphs."""

import ctypes
import gc
import os
import pathlib
import shutil
import sys
import time
import weakref

import pytest

from cuprum import CUDAError, DeviceMemoryResource, LaunchConfig, ObjectCode, PinnedMemoryResource, launch
from cuprum.graph import (
    EmptyNode,
    Graph,
    GraphBuilder,
    GraphCompleteOptions,
    GraphCondition,
    GraphDefinition,
    GraphNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    SwitchNode,
    WhileNode,
)
from cuprum.texture import OpaqueArrayOptions
from cuprum.utils import StridedMemoryView


class CudaArray:
    """As CuPy's arrays."""

    def __init__(self, buffer, shape, itemsize):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "version": 3, "shape": shape, "typestr": f"<i{itemsize}", "data": (int(buffer.handle), False),
        }  # fmt: skip


def is_let_go(reference, stream):
    """NVIDIA's driver ends graphs on a thread of its own, some time later."""
    until = time.monotonic() + 20
    while reference() is not None and time.monotonic() < until:
        stream.sync()
        gc.collect()
    return reference() is None


def keeps_memory_until_it_ends(executable, pool, stream):
    """What was captured uses memory of the pool, which nobody else holds any more."""
    stream.sync()
    assert pool.attributes.used_mem_current > 0
    run(executable, stream)
    executable.close()
    gc.collect()
    stream.sync()
    stream.device.sync()
    assert pool.attributes.used_mem_current == 0


def run(graph, stream):
    executable = graph.instantiate() if isinstance(graph, GraphDefinition) else graph
    executable.launch(stream)
    stream.sync()
    return executable


class TestDefinition:
    def test_runs_nodes_in_the_order_of_edges(self, stream):
        seen = []
        graph = GraphDefinition()
        second = graph.empty().callback(lambda: seen.append(2))
        third = graph.callback(lambda: seen.append(3))
        third.pred.add(second)
        (first,) = second.pred
        first.pred.add(graph.callback(lambda: seen.append(1)))
        run(graph, stream)
        assert seen == [1, 2, 3]
        assert len(graph.nodes()) == 4
        assert {(first, second), (second, third)} < graph.edges()

    def test_edges_are_sets(self):
        graph = GraphDefinition()
        a, b, c = graph.empty(), graph.empty(), graph.empty()
        c.pred = {a, b}
        assert c.pred == {a, b}
        assert a.succ == {c}
        assert len(c.pred) == 2
        assert a in c.pred and c not in c.pred and 3 not in c.pred
        c.pred -= {a, 3}
        assert c.pred == {b}
        c.pred |= {a}
        assert c.pred & {a} == {a}
        c.pred.clear()
        assert not c.pred
        c.pred = a
        c.succ = b
        assert c.pred == {a} and c.succ == {b}
        with pytest.raises(TypeError, match="GraphNode"):
            c.pred.add(3)
        with pytest.raises(ValueError):
            c.pred.add(c)

    def test_a_node_is_one_object(self):
        graph = GraphDefinition()
        node = graph.empty()
        assert all(found is node for found in graph.nodes())
        assert next(iter(node.join().pred)) is node
        alive = weakref.ref(node)
        del node
        gc.collect()
        assert alive() is None

    def test_nodes_know_their_kind(self):
        graph = GraphDefinition()
        assert type(graph.empty()) is EmptyNode
        assert type(graph.callback(print)) is HostCallbackNode
        node = graph.join(graph.empty(), graph.empty())
        assert isinstance(node, GraphNode)
        assert node.graph == graph
        assert {type(node) for node in graph.nodes()} == {EmptyNode, HostCallbackNode}
        node.destroy()
        assert not node.is_valid
        assert node.type is None
        assert node not in graph.nodes()

    def test_refuses_a_cycle(self):
        graph = GraphDefinition()
        a = graph.empty()
        b = a.join()
        try:
            a.pred.add(b)
        except (CUDAError, ValueError):
            return  # this driver refuses the edge
        with pytest.raises(RuntimeError):
            graph.instantiate()

    def test_conditional_nodes_have_graphs_of_their_own(self, device):
        graph = GraphDefinition()
        kinds = [
            (graph.if_then, (), IfNode, "if"),
            (graph.if_else, (), IfElseNode, "if"),
            (graph.while_loop, (), WhileNode, "while"),
            (graph.switch, (3,), SwitchNode, "switch"),
        ]
        for add, more, kind, word in kinds:
            condition = graph.create_condition(0)
            node = add(condition, *more)
            assert type(node) is kind
            assert node.cond_type == word
            assert node.condition == condition
            assert all(isinstance(branch, GraphDefinition) for branch in node.branches)
            with pytest.raises(TypeError, match="GraphCondition"):
                add(1, *more)

    def test_child_graphs_are_copies(self, stream):
        seen = []
        child = GraphDefinition()
        child.callback(lambda: seen.append("child"))
        graph = GraphDefinition()
        node = graph.embed(child)
        child.callback(lambda: seen.append("later"))
        run(graph, stream)
        assert seen == ["child"]
        assert len(node.child_graph.nodes()) == 1

    def test_events(self, device, stream):
        graph = GraphDefinition()
        event = device.create_event()
        record = graph.record(event)
        wait = record.wait(event)
        assert record.event == event
        assert wait.event == event
        run(graph, stream)
        other = device.create_event()
        record.update(other)
        assert record.event == other
        with pytest.raises(TypeError, match="Event"):
            graph.record(3)

    def test_notebooks_show_a_picture(self, monkeypatch):
        graph = GraphDefinition()
        graph.empty()
        picture = graph._repr_svg_()
        assert picture is None or "<svg" in picture
        monkeypatch.setenv("PATH", "")
        assert graph._repr_svg_() is None

    def test_notebooks_show_what_builders_captured(self, device, monkeypatch):
        builder = device.create_graph_builder()
        assert builder._repr_svg_() is None
        builder.begin_building()
        assert builder._repr_svg_() is None or "<svg" in builder._repr_svg_()
        builder.callback(print)
        builder.end_building()
        assert builder._repr_svg_() is None or "<svg" in builder._repr_svg_()
        monkeypatch.setattr(GraphDefinition, "save_svg", lambda self, path: open(path, "w").write(f"{len(self.nodes())} <svg>"))
        assert builder._repr_svg_() == "1 <svg>"
        builder.close()
        assert builder._repr_svg_() is None

    @pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
    def test_picture_is_saved_where_a_path_says(self, tmp_path):
        graph = GraphDefinition()
        graph.empty()
        graph.save_svg(tmp_path / "graph.svg")
        assert "<svg" in (tmp_path / "graph.svg").read_text()
        with pytest.raises(IsADirectoryError, match="can't be written"):
            graph.save_svg(tmp_path)  # a folder
        with pytest.raises(NotADirectoryError, match="can't be written"):
            graph.save_svg(tmp_path / "graph.svg" / "inside")
        no_text = tmp_path / os.fsdecode(b"no text: \xff")
        graph.save_svg(no_text)
        assert "<svg" in no_text.read_text()
        with pytest.raises(FileNotFoundError, match="no text: \udcff"):
            graph.save_svg(tmp_path / "none" / no_text.name)

    def test_pictures(self, tmp_path):
        graph = GraphDefinition()
        graph.empty().callback(print)
        assert graph.to_dot(title="two nodes").startswith("digraph")
        for path in (str(tmp_path / "graph.dot"), tmp_path / "another.dot", os.fsencode(tmp_path / "third.dot")):
            graph.debug_dot_print(path)
            assert "digraph" in pathlib.Path(os.fsdecode(path)).read_text()


class TestCallbacks:
    def test_functions_are_kept_and_let_go(self, stream):
        class Function:
            calls = 0

            def __call__(self):
                Function.calls += 1

        function = Function()
        alive = weakref.ref(function)
        graph = GraphDefinition()
        node = graph.callback(function)
        assert node.callback is function
        executable = run(graph, stream)
        del function, node, graph
        gc.collect()
        run(executable, stream)
        assert Function.calls == 2
        assert alive() is not None
        executable.close()
        del executable
        assert is_let_go(alive, stream)

    def test_functions_of_ctypes(self, stream):
        seen = []
        signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

        @signature
        def function(data):
            seen.append(ctypes.cast(data, ctypes.POINTER(ctypes.c_int))[0] if data else None)

        number = ctypes.c_int(7)
        graph = GraphDefinition()
        nodes = [graph.callback(function, user_data=data) for data in (None, number, ctypes.addressof(number))]
        nodes[1].pred.add(nodes[0])
        nodes[2].pred.add(nodes[1])
        number.value = 8  # the bytes were copied, the address was not
        run(graph, stream)
        assert seen == [None, 7, 8]

    def test_refuses_what_can_not_be_called(self):
        graph = GraphDefinition()
        with pytest.raises(TypeError, match="callable"):
            graph.callback(3)
        with pytest.raises(ValueError, match="user_data"):
            graph.callback(print, user_data=b"1")
        with pytest.raises(TypeError, match="restype"):
            graph.callback(ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0))

    def test_garbage_waits_until_they_are_done(self, device, stream, monkeypatch, capfd):
        """A function that must not use CUDA does not release what others have left behind."""
        pool = DeviceMemoryResource(device)

        class Holder:
            pass

        def leave_garbage():
            holder = Holder()
            holder.itself = holder
            holder.buffer = pool.allocate(1 << 16, stream=stream)
            holder.stream = device.create_stream()

        collected = []
        gc.collect()
        gc.disable()
        threshold = gc.get_threshold()
        try:
            for _ in range(20):
                leave_garbage()
            gc.callbacks.append(lambda phase, info: collected.append(phase))
            gc.set_threshold(1)
            gc.enable()
            graph = GraphDefinition()
            collected_in_callback = []

            def make_objects():
                before = len(collected)
                kept = [[] for _ in range(1000)]
                collected_in_callback.append(len(collected) - before)
                return kept

            graph.callback(make_objects)
            run(graph, stream)
            assert gc.isenabled()
        finally:
            gc.set_threshold(*threshold)
            gc.callbacks.pop()
            gc.enable()
        assert collected_in_callback == [0]
        gc.collect()
        stream.sync()
        assert pool.attributes.used_mem_current == 0
        assert capfd.readouterr().err == ""

    def test_what_they_raise_is_reported(self, stream, monkeypatch):
        def fail():
            raise KeyError("lost")

        graph = GraphDefinition()
        graph.callback(fail)
        reported = []
        monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(repr(report.exc_value)))
        run(graph, stream)
        assert reported == ["KeyError('lost')"]


class TestBuilder:
    def test_captures(self, stream):
        seen = []
        builder = stream.create_graph_builder()
        assert builder.begin_building() is builder
        assert builder.is_building
        builder.callback(lambda: seen.append(1))
        left, right = builder.split(2)
        assert right.is_join_required and not left.is_join_required
        left.callback(lambda: seen.append(2))
        right.callback(lambda: seen.append(2))
        assert left is builder
        assert GraphBuilder.join(right, left) is builder
        builder.callback(lambda: seen.append(3))
        assert builder.end_building() is builder
        assert not builder.is_building
        graph = builder.complete(GraphCompleteOptions(upload_stream=stream))
        run(graph, stream)
        assert seen == [1, 2, 2, 3]
        assert len(builder.graph_definition.nodes()) >= 4

    def test_says_what_is_wrong(self, device, stream):
        with pytest.raises(NotImplementedError):
            GraphBuilder()
        builder = device.create_graph_builder()
        with pytest.raises(RuntimeError):
            builder.end_building()
        with pytest.raises(RuntimeError):
            builder.complete()
        with pytest.raises(ValueError, match="build mode"):
            builder.begin_building(mode="fast")
        child = device.create_graph_builder()
        for unfinished in (child, child.begin_building()):
            with pytest.raises(ValueError, match="has not finished building"):
                device.create_graph_builder().begin_building().embed(unfinished)
        with pytest.raises(RuntimeError):
            builder.embed(child.end_building())
        builder.begin_building(mode="thread_local")
        with pytest.raises(RuntimeError):
            builder.begin_building()
        with pytest.raises(ValueError, match=">= 2"):
            builder.split(1)
        with pytest.raises(ValueError, match="at least two"):
            GraphBuilder.join(builder)
        with pytest.raises(TypeError, match="GraphBuilder"):
            GraphBuilder.join(builder, 3)
        builder.close()
        with pytest.raises(RuntimeError, match="closed"):
            builder.begin_building()


class TestGraph:
    def test_is_made_of_definitions_only(self):
        with pytest.raises(RuntimeError, match="directly constructing"):
            Graph()

    def test_update_says_why_it_can_not(self, stream):
        seen = []
        graph = GraphDefinition()
        graph.callback(lambda: seen.append("before"))
        executable = run(graph, stream)
        other = GraphDefinition()
        other.callback(lambda: seen.append("after"))
        executable.update(other)
        run(executable, stream)
        assert seen == ["before", "after"]
        other.empty()
        with pytest.raises(CUDAError):
            executable.update(other)
        with pytest.raises(TypeError, match="GraphBuilder or GraphDefinition"):
            executable.update(3)

    def test_nodes_are_updated(self, stream):
        seen = []
        graph = GraphDefinition()
        node = graph.callback(lambda: seen.append("before"))
        empty = graph.empty()
        executable = run(graph, stream)
        executable[node].update(lambda: seen.append("after"))
        run(executable, stream)
        assert seen == ["before", "after"]
        with pytest.raises(TypeError, match="EmptyNode does not support"):
            executable[empty]
        node.destroy()
        with pytest.raises(ValueError, match="no longer valid"):
            executable[node]
        executable.close()
        with pytest.raises(ValueError, match="closed"):
            executable[empty]

    def test_conditions_are_values(self):
        graph = GraphDefinition()
        condition = graph.create_condition()
        assert condition == condition
        assert condition != graph.create_condition()
        assert len({condition, condition}) == 1
        with pytest.raises(RuntimeError):
            GraphCondition()


PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 target, .param .u32 amount) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd0, [target];
  ld.param.u32 %r0, [amount];
  ld.global.u32 %r1, [%rd0];
  add.s32 %r1, %r1, %r0;
  st.global.u32 [%rd0], %r1;
  ret;
}
"""


class TestWork:
    """Nodes that do something with memory."""

    @pytest.fixture
    def kernel(self, device):
        return ObjectCode.from_ptx(PTX).get_kernel("add")

    @pytest.fixture
    def cells(self, device, stream):
        """Four numbers that device and host see, and a view of them."""
        buffer = PinnedMemoryResource().allocate(16, stream=stream)
        stream.sync()
        view = memoryview(buffer).cast("B").cast("i")
        for i in range(4):
            view[i] = 0
        return buffer, view

    def test_kernels_copies_and_fills(self, kernel, cells, stream):
        buffer, view = cells
        graph = GraphDefinition()
        one = LaunchConfig(grid=1, block=1)
        fill = graph.memset(buffer, 1, 16)
        add = fill.launch(one, kernel, buffer, 5)
        add.memcpy(buffer.handle + 4, buffer.handle, 4, dst_owner=buffer, src_owner=buffer)
        run(graph, stream)
        assert list(view) == [0x01010106, 0x01010106, 0x01010101, 0x01010101]
        assert (fill.dptr, fill.value, fill.element_size, fill.width, fill.height) == (buffer.handle, 1, 1, 16, 1)
        assert add.config == one
        assert add.kernel == kernel

    def test_nodes_are_changed_in_part(self, kernel, cells, stream):
        buffer, view = cells
        graph = GraphDefinition()
        fill = graph.memset(buffer, 1, 16)
        add = fill.launch(LaunchConfig(grid=1, block=1), kernel, buffer, 5)
        copy = add.memcpy(buffer.handle + 4, buffer.handle, 4)
        fill.update(value=b"\2\0\0\0", width=4)
        add.update(args=(buffer, 7))
        copy.update(dst=buffer.handle + 8)
        run(graph, stream)
        assert list(view) == [9, 2, 9, 2]
        fill.update(width=1)
        run(graph, stream)
        assert list(view) == [9, 2, 9, 2]
        with pytest.raises(ValueError, match="changing kernel requires args"):
            add.update(kernel=kernel)
        with pytest.raises(ValueError, match="dst_owner requires dst"):
            fill.update(dst_owner=buffer)
        with pytest.raises(ValueError, match="dst_owner cannot be used"):
            fill.update(dst=buffer, dst_owner=buffer)

    def test_copies_of_one_row_can_be_updated_and_no_others(self, device, cells, stream):
        buffer, view = cells
        for i in range(4):
            view[i] = i + 1
        array = device.create_opaque_array(OpaqueArrayOptions(shape=(2, 2), format="uint32", num_channels=1))
        builder = stream.create_graph_builder().begin_building()
        buffer.copy_from(buffer, stream=builder)
        (row,) = builder.end_building().graph_definition.nodes()
        row.update(dst=buffer.handle + 4, src=buffer.handle, size=4)
        run(row.graph, stream)
        assert list(view) == [1, 1, 3, 4]
        for copy in (lambda queue: array.copy_from(buffer, stream=queue), lambda queue: array.copy_to(buffer, stream=queue)):
            builder = stream.create_graph_builder().begin_building()
            copy(builder)
            (node,) = builder.end_building().graph_definition.nodes()
            for change in ({"dst": buffer}, {"src": buffer}, {"size": 4}, {"dst": buffer, "src": buffer, "size": 4}):
                with pytest.raises(NotImplementedError, match="can't be updated"):
                    node.update(**change)
            node.update()

    def test_nodes_of_executable_graphs_are_switched_off_and_changed(self, kernel, cells, stream):
        buffer, view = cells
        graph = GraphDefinition()
        add = graph.launch(LaunchConfig(grid=1, block=1), kernel, buffer, 1)
        executable = run(graph, stream)
        node = executable[add]
        node.disable()
        assert not node.is_enabled
        run(executable, stream)
        assert view[0] == 1
        node.enable()
        node.update(config=add.config, kernel=kernel, args=(buffer.handle + 4, 3))
        run(executable, stream)
        assert list(view) == [1, 3, 0, 0]

    def test_nodes_show_what_they_do(self, device, kernel, cells):
        buffer, _ = cells
        graph = GraphDefinition()
        event = device.create_event()
        shown = {
            graph.memset(buffer, 7, 4): f"dptr={buffer.handle:#x} value=7",
            graph.memcpy(buffer, buffer, 4): f"dst={buffer.handle:#x}(H) src={buffer.handle:#x}(H) size=4",
            graph.launch(LaunchConfig(1, block=1), kernel, buffer, 1): f"kernel={int(kernel.handle):#x}",
            graph.record(event): f"event={int(event.handle):#x}",
            graph.wait(event): f"event={int(event.handle):#x}",
            graph.callback(print): "callback=print",
            graph.embed(GraphDefinition()): "child=0x",
            graph.if_then(graph.create_condition(0)): "condition=0x",
        }
        for node, words in shown.items():
            assert repr(node).startswith(f"<{type(node).__name__} handle=0x")
            assert words in repr(node)
            node.destroy()
            assert repr(node) == f"<{type(node).__name__} handle=0x0>"

    def test_a_graph_keeps_what_its_nodes_use(self, device, kernel, cells, stream):
        buffer, view = cells
        scratch = device.allocate(4, stream=stream)
        graph = GraphDefinition()
        fill = graph.memset(scratch, b"\5\0\0\0", 1)
        fill.launch(LaunchConfig(grid=1, block=1), kernel, scratch, 2).memcpy(buffer, scratch, 4)
        scratch.close()
        del scratch, fill
        executable = graph.instantiate()
        del graph
        gc.collect()
        run(executable, stream)
        assert view[0] == 7

    def test_a_buffer_that_owns_an_address_is_kept(self, device, kernel, cells, stream):
        buffer, view = cells
        scratch = device.allocate(8, stream=stream)
        graph = GraphDefinition()
        fill = graph.memset(scratch.handle, b"\5\0\0\0", 2, dst_owner=scratch)
        fill.memcpy(buffer, scratch.handle + 4, 4, src_owner=scratch)
        scratch.close()
        run(graph, stream)
        assert view[0] == 5
        with pytest.raises(ValueError, match="no active allocation"):
            graph.memset(buffer.handle, 0, 1, dst_owner=scratch)

    def test_graphs_of_nodes_that_are_gone(self):
        graph = GraphDefinition()
        node = graph.embed(GraphDefinition())
        inside = node.child_graph
        node.destroy()
        assert int(inside.handle) == 0
        assert "0x0" in repr(inside)
        with pytest.raises(RuntimeError, match="gone"):
            inside.nodes()

    def test_builders_take_launches_copies_and_fills(self, device, kernel, cells, stream):
        buffer, view = cells
        builder = device.create_graph_builder().begin_building()
        scratch = device.allocate(16, stream=stream)
        scratch.fill(b"\3\0\0\0", stream=builder)
        launch(builder, LaunchConfig(grid=1, block=1), kernel, scratch, 4)
        scratch.copy_to(buffer, stream=builder)
        executable = builder.end_building().complete()
        scratch.close()
        del scratch
        run(executable, stream)
        assert list(view) == [7, 3, 3, 3]

    def test_a_captured_launch_keeps_its_buffers(self, device, kernel, stream):
        pool = DeviceMemoryResource(device, {"max_size": 1 << 21})
        scratch = pool.allocate(4, stream=stream)
        builder = device.create_graph_builder().begin_building()
        launch(builder, LaunchConfig(grid=1, block=1), kernel, scratch, 4)
        executable = builder.end_building().complete()
        builder.close()
        scratch.close()
        keeps_memory_until_it_ends(executable, pool, stream)

    @pytest.mark.parametrize("array", [StridedMemoryView.from_buffer, CudaArray])
    def test_a_captured_launch_keeps_what_its_arrays_view(self, device, kernel, stream, array):
        pool = DeviceMemoryResource(device, {"max_size": 1 << 21})
        scratch = pool.allocate(4, stream=stream)
        viewed = array(scratch, (1,), itemsize=4)
        builder = device.create_graph_builder().begin_building()
        launch(builder, LaunchConfig(grid=1, block=1), kernel, viewed, 4)
        executable = builder.end_building().complete()
        builder.close()
        del scratch, viewed
        gc.collect()
        keeps_memory_until_it_ends(executable, pool, stream)

    def test_a_condition_decides(self, device, cells, stream):
        buffer, view = cells
        graph = GraphDefinition()
        for index, default in enumerate((0, 1)):
            node = graph.if_else(graph.create_condition(default))
            node.then.memset(buffer.handle + 4 * index, b"\1\0\0\0", 1)
            node.else_.memset(buffer.handle + 4 * index, b"\2\0\0\0", 1)
        builder = device.create_graph_builder().begin_building()
        others = builder.switch(builder.create_condition(1), 3)
        for index, other in enumerate(others):
            other.begin_building()
            buffer.fill(b"\4" if index == 1 else b"\5", stream=other)
            other.end_building()
        run(builder.end_building().complete(), stream)
        assert list(view) == [0x04040404] * 4
        run(graph, stream)
        assert list(view)[:2] == [2, 1]

    def test_graphs_allocate(self, device, cells, stream):
        buffer, view = cells
        graph = GraphDefinition()
        memory = graph.allocate(64, device=device, memory_type="device")
        assert (memory.bytesize, memory.device_id, memory.memory_type) == (64, 0, "device")
        fill = memory.memset(memory.dptr, 9, 64)
        copy = fill.memcpy(buffer, memory.dptr, 16)
        free = copy.deallocate(memory.dptr)
        assert free.dptr == memory.dptr
        run(graph, stream)
        assert list(view) == [0x09090909] * 4
        with pytest.raises(ValueError, match="GraphMemoryType"):
            graph.allocate(64, memory_type="magnetic")

    @pytest.mark.parametrize(
        "value, error", [(256, OverflowError), (-1, OverflowError), (1.5, TypeError), (b"abc", ValueError)]
    )
    def test_fills_refuse_values(self, cells, value, error):
        with pytest.raises(error):
            GraphDefinition().memset(cells[0], value, 1)


class TestOperands:
    def test_node_updates_let_go_of_what_the_node_had(self, stream):
        class Function:
            def __call__(self):
                pass

        graph = GraphDefinition()
        node = graph.callback(Function())
        executable = graph.instantiate()
        given = []
        for _ in range(10):
            function = Function()
            given.append(weakref.ref(function))
            executable[node].update(function)
            del function
            executable.launch(stream)
            stream.sync()
        gc.collect()
        assert sum(each() is not None for each in given) <= 2  # the one in use, and the one before
        executable[node].update(Function())
        assert is_let_go(given[-2], stream)


def test_a_destroyed_node_has_no_neighbours(device):
    graph = GraphDefinition()
    first = graph.empty()
    second = first.callback(print)
    first.destroy()
    assert first.pred == set() == first.succ
    assert len(first.succ) == 0 and second not in first.succ
    assert second.pred == set()
