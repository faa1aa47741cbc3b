"""Kernels: what they declare, their attributes and occupancy."""

import gc
import copy
import ctypes
import pickle
import threading
import weakref

import pytest

from cuprum import CUDAError, Device, Kernel, LaunchConfig, ObjectCode, _core, launch
from cuprum._types import MaxPotentialBlockSizeOccupancyResult, ParamInfo

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry first(.param .u32 a, .param .u64 b, .param .u16 c) {
  .shared .align 4 .b8 some[64];
  ret;
}
.visible .entry second() { ret; }
"""

INTEGERS = [
    "max_threads_per_block",
    "shared_size_bytes",
    "const_size_bytes",
    "local_size_bytes",
    "num_regs",
    "ptx_version",
    "binary_version",
    "max_dynamic_shared_size_bytes",
    "preferred_shared_memory_carveout",
    "required_cluster_width",
    "required_cluster_height",
    "required_cluster_depth",
    "cluster_scheduling_policy_preference",
]
TRUTHS = ["cache_mode_ca", "cluster_size_must_be_set", "non_portable_cluster_size_allowed"]


@pytest.fixture
def code(device):
    return ObjectCode.from_ptx(PTX)


@pytest.fixture
def kernel(code):
    return code.get_kernel("first")


class TestKernel:
    @pytest.mark.parametrize("name", ["Kernel", "KernelAttributes", "KernelOccupancy"])
    def test_is_made_by_its_functions_only(self, name):
        with pytest.raises(RuntimeError, match=f"^{name}.*cannot be instantiated directly"):
            getattr(_core, name)()

    def test_says_what_it_declares(self, kernel):
        assert kernel.num_arguments == 3
        assert kernel.arguments_info == [(0, 4), (8, 8), (16, 2)]
        assert all(isinstance(one, ParamInfo) for one in kernel.arguments_info)
        assert kernel.arguments_info[1].offset == 8
        assert kernel.arguments_info[2].size == 2
        assert kernel.name == "first"
        assert int(kernel.handle) != 0

    def test_equality_hash_and_repr(self, code, kernel):
        same = code.get_kernel(b"first")
        assert kernel == same
        assert hash(kernel) == hash(same)
        assert kernel != code.get_kernel("second")
        assert kernel != int(kernel.handle)
        assert repr(kernel) == f"<Kernel handle={int(kernel.handle):#x}>"
        assert weakref.ref(kernel)() is kernel

    def test_can_be_launched_without_its_code(self, device, stream):
        kernel = ObjectCode.from_ptx(PTX).get_kernel("first")
        launch(stream, LaunchConfig(grid=1, block=1), kernel, 1, 2, 3)
        stream.sync()


class TestFromHandle:
    def test_wraps_handles_as_int_and_as_object(self, code, kernel):
        for handle in (int(kernel.handle), kernel.handle):
            assert Kernel.from_handle(handle) == kernel
            assert Kernel.from_handle(handle, code).num_arguments == 3
            assert Kernel.from_handle(handle=handle, mod=code).attributes.num_regs == kernel.attributes.num_regs

    def test_keeps_the_code_loaded(self, device, stream):
        code = ObjectCode.from_ptx(PTX)
        wrapped = Kernel.from_handle(int(code.get_kernel("second").handle), code)
        del code
        launch(stream, LaunchConfig(grid=1, block=1), wrapped)
        stream.sync()

    def test_keeps_the_code_of_a_kernel_of_the_package(self, device, stream):
        code = ObjectCode.from_ptx(PTX)
        wrapped = Kernel.from_handle(int(code.get_kernel("second").handle))
        del code
        gc.collect()
        launch(stream, LaunchConfig(grid=1, block=1), wrapped)
        stream.sync()

    @pytest.mark.parametrize("bad", ["1", 2.5, None, {"handle": 1}, [4], (7,), 3 + 4j, b"\x01", {9}, object()])
    def test_refuses_what_is_no_handle(self, bad):
        with pytest.raises(TypeError):
            Kernel.from_handle(bad)

    def test_refuses_numbers_that_are_no_kernel(self, device):
        with pytest.raises(ValueError, match="can't be 0"):
            Kernel.from_handle(0)
        with pytest.raises(OverflowError):
            Kernel.from_handle(-1)
        with pytest.raises(OverflowError):
            Kernel.from_handle(2**64)

    @pytest.mark.parametrize("bad", ["code", 12345, PTX])
    def test_refuses_what_is_no_code(self, kernel, bad):
        with pytest.raises(TypeError, match="mod must be an ObjectCode"):
            Kernel.from_handle(int(kernel.handle), mod=bad)

    def test_warns_of_the_wrong_code(self, kernel):
        other = ObjectCode.from_ptx(PTX)
        with pytest.warns(UserWarning, match="does not match"):
            wrapped = Kernel.from_handle(int(kernel.handle), other)
        assert wrapped == kernel


class TestAttributes:
    @pytest.mark.parametrize("name", INTEGERS)
    def test_numbers(self, device, kernel, name):
        value = getattr(kernel.attributes, name)
        assert isinstance(value, int)
        assert not isinstance(value, bool)
        assert getattr(kernel.attributes[0], name) == getattr(kernel.attributes[device], name) == value
        assert value() == value(0) == value(device) == value  # as earlier versions of cuda.core have it

    @pytest.mark.parametrize("name", TRUTHS)
    def test_truths(self, device, kernel, name):
        value = getattr(kernel.attributes, name)
        assert value is True or value is False
        assert getattr(kernel.attributes[device], name) is value

    def test_values(self, device, kernel):
        assert kernel.attributes.shared_size_bytes == 64
        assert kernel.attributes.max_threads_per_block == device.properties.max_threads_per_block
        assert kernel.attributes.ptx_version == 70

    def test_values_are_plain_numbers_when_copied(self, kernel):
        value = kernel.attributes.num_regs
        for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), value + 0):
            assert type(copied) is int
            assert copied == value

    @pytest.mark.parametrize("bad", ["0", None, 2.5, object()])
    def test_refuses_what_is_no_device(self, kernel, bad):
        with pytest.raises(TypeError):
            kernel.attributes[bad]

    def test_refuses_devices_that_are_not_there(self, kernel):
        with pytest.raises(ValueError):
            kernel.attributes[1000]

    def test_some_can_be_set(self, kernel):
        kernel.attributes.max_dynamic_shared_size_bytes = 60000
        assert kernel.attributes.max_dynamic_shared_size_bytes == 60000
        kernel.attributes.preferred_shared_memory_carveout = 50
        assert kernel.attributes[0].preferred_shared_memory_carveout == 50
        with pytest.raises((ValueError, CUDAError)):
            kernel.attributes.max_dynamic_shared_size_bytes = -1
        with pytest.raises(TypeError):
            kernel.attributes.max_dynamic_shared_size_bytes = "many"
        with pytest.raises(AttributeError):
            kernel.attributes.num_regs = 3


class TestOccupancy:
    @pytest.mark.parametrize("block_size", [32, 120, 1024])
    @pytest.mark.parametrize("shared", [0, 4096])
    def test_active_blocks(self, device, kernel, block_size, shared):
        blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(block_size, shared)
        assert 0 < blocks * block_size <= device.properties.max_threads_per_multiprocessor
        assert blocks * (shared + 64) <= device.properties.max_shared_memory_per_multiprocessor

    def test_block_size(self, device, kernel):
        found = kernel.occupancy.max_potential_block_size(0, 0)
        assert isinstance(found, MaxPotentialBlockSizeOccupancyResult)
        assert found == (found.min_grid_size, found.max_block_size)
        assert found.max_block_size == device.properties.max_threads_per_block
        assert kernel.occupancy.max_potential_block_size(dynamic_shared_memory_needed=0, block_size_limit=96)[1] <= 96

    def test_block_size_by_functions(self, kernel):
        asked = []

        def needed(block_size):
            asked.append(block_size)
            return 16 * block_size

        found = kernel.occupancy.max_potential_block_size(needed, 256)
        assert found == kernel.occupancy.max_potential_block_size(lambda block_size: 16 * block_size, 256)
        assert found.max_block_size <= 256
        assert asked
        assert max(asked) <= 256
        of_c = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block_size: 16 * block_size)
        assert kernel.occupancy.max_potential_block_size(of_c, 256) == found

    def test_takes_functions_of_cuda_bindings(self, kernel):
        driver = pytest.importorskip("cuda.bindings.driver")
        of_c = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block_size: 16 * block_size)
        wrapped = driver.CUoccupancyB2DSize(_ptr=ctypes.cast(of_c, ctypes.c_void_p).value)
        expected = kernel.occupancy.max_potential_block_size(lambda block_size: 16 * block_size, 256)
        assert kernel.occupancy.max_potential_block_size(wrapped, 256) == expected

    @pytest.mark.parametrize("said", ["text", None, -1, 2.5])
    def test_functions_must_give_bytes(self, kernel, said):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            kernel.occupancy.max_potential_block_size(lambda block_size: said, 256)

    def test_what_a_function_raises_comes_out(self, kernel):
        def fail(block_size):
            raise KeyError(f"block of {block_size}")

        with pytest.raises(KeyError, match="block of "):
            kernel.occupancy.max_potential_block_size(fail, 256)

    def test_functions_run_while_other_threads_do(self, kernel):
        ran = threading.Event()

        def needed(block_size):
            if not ran.is_set():
                threading.Thread(target=ran.set).start()
                assert ran.wait(30)
            return 0

        kernel.occupancy.max_potential_block_size(needed, 256)

    @pytest.mark.parametrize("bad", [..., None, 2.5, "0"])
    def test_refuses_what_is_neither_number_nor_function(self, kernel, bad):
        with pytest.raises(TypeError, match="dynamic_shared_memory_needed"):
            kernel.occupancy.max_potential_block_size(bad, 0)
        with pytest.raises(TypeError):
            kernel.occupancy.max_potential_block_size(0, bad)
        with pytest.raises(TypeError):
            kernel.occupancy.max_active_blocks_per_multiprocessor(32, bad)

    def test_available_shared_memory(self, device, kernel):
        available = kernel.occupancy.available_dynamic_shared_memory_per_block(2, 64)
        assert 0 < available <= device.properties.max_shared_memory_per_multiprocessor // 2

    def test_clusters(self, device, kernel):
        if device.compute_capability < (9, 0):
            pytest.skip("clusters came with compute capability 9.0")
        config = LaunchConfig(grid=128, block=64, cluster=2)
        assert kernel.occupancy.max_active_clusters(config, stream=device.default_stream) > 0
        assert kernel.occupancy.max_potential_cluster_size(config, stream=device.default_stream) >= 8

    @pytest.mark.parametrize("name", ["max_active_clusters", "max_potential_cluster_size"])
    def test_clusters_need_a_config_and_a_stream(self, device, kernel, name):
        function = getattr(kernel.occupancy, name)
        config = LaunchConfig(grid=1, block=1)
        with pytest.raises(TypeError, match="keyword-only argument"):
            function(config)
        with pytest.raises(TypeError):
            function(config, device.default_stream)
        with pytest.raises(TypeError):
            function(config, stream=3)
        with pytest.raises(TypeError):
            function(3, stream=device.default_stream)


def test_kernels_go_from_thread_to_thread(kernel):
    found = []

    def use():
        Device(0).set_current()
        found.append(kernel.attributes.num_regs)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert found == [kernel.attributes.num_regs]
