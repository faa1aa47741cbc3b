"""Tensor maps: what may be described, what they keep, and how kernels get them."""

import gc
import re
import time
import weakref

import pytest

import cuprum
from cuprum import (
    Device,
    LaunchConfig,
    ObjectCode,
    PinnedMemoryResource,
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
    launch,
)
from cuprum.graph import GraphDefinition
from cuprum.utils import StridedMemoryView

np = pytest.importorskip("numpy")

WORDS = "".join(f"ld.param.u64 %rd2, [map+{8 * i}]; st.global.u64 [%rd1+{8 * i}], %rd2;\n" for i in range(16))
COPY_MAP = f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy_map(.param .align 64 .b8 map[128], .param .u64 out) {{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  {WORDS}
  ret;
}}
"""

ONE = LaunchConfig(grid=1, block=1)


class Memory:
    """An array of device memory that knows nothing but its address."""

    def __init__(self, device, stream, shape, dtype="float32"):
        self.buffer = device.allocate(int(np.prod(shape)) * np.dtype(dtype).itemsize, stream=stream)
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "data": (int(self.buffer.handle), False),
            "version": 3,
        }


@pytest.fixture(autouse=True)
def supported(device):
    if not device.properties.tensor_map_access_supported:
        pytest.skip("the device has no tensor maps")


@pytest.fixture
def view_of(device, stream):
    def make(shape, dtype="float32"):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return StridedMemoryView.from_buffer(device.allocate(size, stream=stream), shape, dtype=dtype)

    return make


@pytest.fixture
def found(device, stream):
    """What a kernel finds in its parameter."""
    kernel = ObjectCode.from_ptx(COPY_MAP.encode()).get_kernel("copy_map")
    out = PinnedMemoryResource().allocate(128, stream=stream)
    words = np.from_dlpack(out).view(np.uint64)

    class Found:
        def by(self, work):
            words[:] = 0
            work(kernel, out)
            stream.sync()
            return words.copy()

        def __call__(self, tensor_map):
            return self.by(lambda kernel, out: launch(stream, ONE, kernel, tensor_map, out))

    return Found()


def test_the_package_has_all_names():
    for name in cuprum._tensor_map.__all__:
        assert getattr(cuprum, name).__name__ == name
    with pytest.raises(AttributeError, match="TensorMapOfNothing"):
        cuprum.TensorMapOfNothing  # noqa: B018


def test_numbers_are_the_drivers():
    assert [member.name for member in TensorMapDataType] == (
        "UINT8 UINT16 UINT32 INT32 UINT64 INT64 FLOAT16 FLOAT32 FLOAT64 BFLOAT16 FLOAT32_FTZ TFLOAT32 TFLOAT32_FTZ".split()
    )
    for enumeration in (
        TensorMapDataType,
        TensorMapInterleave,
        TensorMapSwizzle,
        TensorMapL2Promotion,
        TensorMapOOBFill,
        TensorMapIm2ColWideMode,
    ):
        assert [int(member) for member in enumeration] == list(range(len(enumeration)))


def test_nobody_makes_one_directly():
    with pytest.raises(RuntimeError, match=r"Use StridedMemoryView.as_tensor_map\(\)"):
        TensorMapDescriptor()


def test_describes_a_view(view_of, device):
    tensor_map = view_of((64, 64)).as_tensor_map((32, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    assert repr(tensor_map) == "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)"
    assert tensor_map.device == device


@pytest.mark.parametrize("name", "uint8 uint16 uint32 int32 uint64 int64 float16 float32 float64".split())
def test_takes_the_type_of_the_view(view_of, name):
    assert f"dtype={name.upper()}," in repr(view_of((64,), name).as_tensor_map((16,)))
    assert f"dtype={name.upper()}," in repr(view_of((512,), "int8").as_tensor_map((16,), data_type=name))


def test_takes_bfloat16(view_of):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert "dtype=BFLOAT16," in repr(view_of((64,), "uint16").view(dtype=bfloat16).as_tensor_map((16,)))


def test_is_the_same_by_options_and_by_arguments(view_of, found):
    view = view_of((4, 64, 64))
    wanted = {
        "box_dim": (1, 8, 32),
        "element_strides": (2, 1, 1),
        "data_type": np.float32,
        "swizzle": TensorMapSwizzle.SWIZZLE_128B,
        "l2_promotion": TensorMapL2Promotion.L2_256B,
        "oob_fill": TensorMapOOBFill.NAN_REQUEST_ZERO_FMA,
    }
    first = found(view.as_tensor_map(**wanted))
    assert first.any()
    assert (found(view.as_tensor_map(options=wanted)) == first).all()
    assert (found(view.as_tensor_map(options=TensorMapDescriptorOptions(**wanted))) == first).all()
    assert (found(view.as_tensor_map((1, 8, 32))) != first).any()


def test_every_option_makes_a_difference(view_of, found):
    view = view_of((4, 8, 64))
    plain = {"box_dim": (1, 8, 8), "swizzle": TensorMapSwizzle.SWIZZLE_32B}
    seen = {found(view.as_tensor_map(**plain)).tobytes()}
    for change in (
        {"box_dim": (1, 4, 8)},
        {"element_strides": (1, 2, 1)},
        {"data_type": TensorMapDataType.TFLOAT32},
        {"interleave": TensorMapInterleave.INTERLEAVE_16B},
        {"interleave": TensorMapInterleave.INTERLEAVE_32B},
        {"swizzle": TensorMapSwizzle.NONE},
        {"l2_promotion": TensorMapL2Promotion.L2_64B},
        {"oob_fill": TensorMapOOBFill.NAN_REQUEST_ZERO_FMA},
    ):
        seen.add(found(view.as_tensor_map(**{**plain, **change})).tobytes())
    assert len(seen) == 9


def test_elements_of_another_type_are_made_of_the_bytes(view_of, found):
    view = view_of((16, 256), "uint8")
    floats = view.view(layout=view._layout.repacked(4), dtype=np.float32)
    assert floats.shape == (16, 64)
    by_bytes = found(view.as_tensor_map((8, 32), data_type=np.float32))
    assert (by_bytes == found(floats.as_tensor_map((8, 32)))).all()


@pytest.mark.parametrize(
    "shape, options, error, said",
    [
        ((64, 64), {}, TypeError, "box_dim is required unless options is provided"),
        ((64, 64), {"box_dim": 5}, TypeError, "box_dim must be a tuple of ints"),
        ((64, 64), {"box_dim": (32, "x")}, TypeError, r"box_dim\[1\] must be an int"),
        ((64, 64), {"box_dim": (32,)}, ValueError, "box_dim must have 2 elements"),
        ((64, 64), {"box_dim": (32, 257)}, ValueError, r"box_dim\[1\] must be in \[1, 256\], got 257"),
        ((64, 64), {"box_dim": (32, 2**70)}, ValueError, r"box_dim\[1\] must fit into 64 bits"),
        ((64, 64), {"box_dim": (32, 3)}, ValueError, "must be a multiple of 16"),
        ((64, 64), {"box_dim": (8, 8), "element_strides": (1,)}, ValueError, "element_strides must have 2 elements"),
        ((64, 64), {"box_dim": (8, 8), "element_strides": (9, 1)}, ValueError, r"element_strides\[0\] must be in \[1, 8\]"),
        ((64, 64), {"box_dim": (8, 8), "data_type": 42}, TypeError, "data_type must be"),
        ((64, 64), {"box_dim": (8, 8), "data_type": np.complex64}, ValueError, "Unsupported dtype complex64"),
        ((64, 64), {"box_dim": (8, 8), "swizzle": 2}, TypeError, "swizzle must be a TensorMapSwizzle"),
        ((64, 64), {"box_dim": (8, 64), "swizzle": TensorMapSwizzle.SWIZZLE_128B}, ValueError, "room for 128 bytes"),
        ((64, 64), {"box_dim": (8, 8), "interleave": TensorMapInterleave.INTERLEAVE_16B}, ValueError, "3 to 5 axes"),
        ((64, 5), {"box_dim": (8, 4)}, ValueError, "the stride of axis 0 is 20 bytes; it must be a multiple of 16"),
        ((), {"box_dim": ()}, ValueError, "rank must be between 1 and 5"),
        ((2,) * 6, {"box_dim": (2,) * 6}, ValueError, "rank must be between 1 and 5"),
        ((64,), {"box_dim": (8,), "options": {"box_dim": (8,)}}, TypeError, "either options or the individual"),
        ((64,), {"options": {"box_dimm": (8,)}}, TypeError, "did you mean 'box_dim'"),
        ((64,), {"options": 5}, TypeError, "must be provided as an object of type TensorMapDescriptorOptions"),
    ],
)
def test_refuses_what_it_cant_describe(view_of, shape, options, error, said):
    with pytest.raises(error, match=said):
        view_of(shape).as_tensor_map(**options)


def test_refuses_fills_of_integers(view_of):
    with pytest.raises(ValueError, match="floating-point types, not INT32"):
        view_of((64,), "int32").as_tensor_map((8,), oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA)


def test_refuses_types_that_it_has_not(view_of, device, stream):
    with pytest.raises(ValueError, match="Unsupported dtype complex64.*UINT8"):
        view_of((64,), "complex64").as_tensor_map((8,))
    untyped = StridedMemoryView.from_buffer(device.allocate(256, stream=stream), (64,), itemsize=4)
    with pytest.raises(ValueError, match="Cannot infer TMA data type"):
        untyped.as_tensor_map((8,))


def test_refuses_memory_of_the_host():
    view = StridedMemoryView.from_any_interface(np.zeros((64, 64), np.float32), -1)
    with pytest.raises(ValueError, match="device-accessible"):
        view.as_tensor_map((8, 8))


def test_refuses_other_strides(view_of, device, stream):
    view = view_of((64, 64))
    transposed = view.view(layout=view._layout.permuted((1, 0)))
    with pytest.raises(ValueError, match="must lie side by side"):
        transposed.as_tensor_map((8, 8))
    shifted = Memory(device, stream, (68,))
    shifted.__cuda_array_interface__["data"] = (int(shifted.buffer.handle) + 4, False)
    shifted.__cuda_array_interface__["shape"] = (64,)
    with pytest.raises(ValueError, match="16-byte aligned, got address 0x"):
        StridedMemoryView.from_any_interface(shifted, -1).as_tensor_map((8,))


def test_columns(view_of):
    image = view_of((1, 8, 8, 64))
    tensor_map = TensorMapDescriptor._from_im2col(image, (0, 0), (4, 4), 64, 16)
    assert repr(tensor_map) == "TensorMapDescriptor(im2col, rank=4, dtype=FLOAT32, swizzle=NONE)"
    for arguments, said in [
        (((0,), (4, 4), 64, 16), "pixel_box_lower_corner must have 2 elements"),
        (((0, 0), (4,), 64, 16), "pixel_box_upper_corner must have 2 elements"),
        (((0, 0), (4, 128), 64, 16), r"pixel_box_upper_corner\[1\] must be in \[-128, 127\]"),
        (((7, 0), (-1, 4), 64, 16), "the box of pixels is empty along axis 1: it goes from 7 to 6"),
        (((0, 0), (4, 4), 0, 16), r"channels_per_pixel must be in \[1, 256\]"),
        (((0, 0), (4, 4), 64, 1025), r"pixels_per_column must be in \[1, 1024\]"),
    ]:
        with pytest.raises(ValueError, match=said):
            TensorMapDescriptor._from_im2col(image, *arguments)
    with pytest.raises(ValueError, match="Im2col tensor rank must be between 3 and 5, got 2"):
        TensorMapDescriptor._from_im2col(view_of((8, 64)), (), (), 64, 16)
    with pytest.raises(TypeError, match="view must be a StridedMemoryView"):
        TensorMapDescriptor._from_im2col(image.exporting_obj, (0, 0), (4, 4), 64, 16)


def test_wide_columns_need_a_newer_device(view_of, device):
    def make():
        return TensorMapDescriptor._from_im2col_wide(view_of((1, 32, 64)), 0, 4, 32, 4)

    if device.compute_capability >= (10, 0):
        assert repr(make()) == "TensorMapDescriptor(im2col_wide, rank=3, dtype=FLOAT32, swizzle=SWIZZLE_128B)"
    else:
        with pytest.raises(NotImplementedError, match="im2col-wide needs 10.0 or higher"):
            make()


def test_moves_to_other_memory(view_of, found, device, stream):
    first, second = view_of((64, 64)), view_of((64, 64))
    tensor_map, expected = first.as_tensor_map((32, 32)), second.as_tensor_map((32, 32))
    for tensor in (second, second.exporting_obj):
        tensor_map.replace_address(first)
        assert (found(tensor_map) != found(expected)).any()
        tensor_map.replace_address(tensor)
        assert (found(tensor_map) == found(expected)).all()
    tensor_map.replace_address(Memory(device, stream, (64, 64)))
    before = found(tensor_map)
    with pytest.raises(ValueError, match="device-accessible"):
        tensor_map.replace_address(np.zeros(64))
    with pytest.raises(BufferError, match="protocol"):
        tensor_map.replace_address(None)
    assert (found(tensor_map) == before).all()


def test_keeps_the_memory_that_it_describes(device, stream, view_of):
    array = Memory(device, stream, (64,))
    owner = weakref.ref(array)
    tensor_map = StridedMemoryView.from_any_interface(array, -1).as_tensor_map((16,))
    del array
    gc.collect()
    assert owner() is not None
    tensor_map.replace_address(view_of((64,)))
    gc.collect()
    assert owner() is None


def test_keeps_the_memory_of_a_closed_buffer(device, stream, found):
    buffer = device.allocate(256, stream=stream)
    tensor_map = StridedMemoryView.from_buffer(buffer, (64,), dtype=np.float32).as_tensor_map((16,))
    buffer.close()
    assert found(tensor_map).any()
    other = device.allocate(256, stream=stream)
    assert (found(StridedMemoryView.from_buffer(other, (64,), dtype=np.float32).as_tensor_map((16,))) != found(tensor_map)).any()


def test_cycles_are_collected(device, stream):
    array = Memory(device, stream, (64,))
    array.tensor_map = StridedMemoryView.from_any_interface(array, -1).as_tensor_map((16,))
    owner = weakref.ref(array)
    del array
    gc.collect()
    assert owner() is None


def test_is_an_argument_of_the_declared_size(view_of, stream, found):
    tensor_map = view_of((64,)).as_tensor_map((16,))
    ptx = ".version 7.0 .target sm_70 .address_size 64 .visible .entry f(.param .u64 p) { ret; }"
    kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("f")
    with pytest.raises(TypeError, match=re.escape("argument 1 of 1 has 128 bytes")):
        launch(stream, ONE, kernel, tensor_map)
    with pytest.raises(TypeError, match="declares 128 bytes"):
        found(5)


def test_graphs_keep_what_they_were_given(device, stream, found, view_of):
    array = Memory(device, stream, (64,))
    owner = weakref.ref(array)
    tensor_map = StridedMemoryView.from_any_interface(array, -1).as_tensor_map((16,))
    expected = found(tensor_map)
    del array
    graphs = []

    def run(kernel, out):
        definition = GraphDefinition()
        definition.launch(ONE, kernel, tensor_map, out)
        tensor_map.replace_address(view_of((64,)))
        gc.collect()
        assert owner() is not None
        graphs.append(definition.instantiate())
        graphs[0].launch(stream)

    assert (found.by(run) == expected).all()
    assert (found(tensor_map) != expected).any()
    graphs.clear()
    gc.collect()
    ends = time.monotonic() + 30  # NVIDIA's driver lets go of what a graph keeps a while after the graph
    while owner() is not None and time.monotonic() < ends:
        time.sleep(0.01)
    assert owner() is None


def test_captured_launches(stream, found, view_of):
    tensor_map = view_of((64,)).as_tensor_map((16,))
    expected = found(tensor_map)

    def run(kernel, out):
        builder = stream.create_graph_builder()
        builder.begin_building()
        launch(builder, ONE, kernel, tensor_map, out)
        builder.end_building().complete().launch(stream)

    assert (found.by(run) == expected).all()


def test_another_device(device, view_of):
    if len(Device.get_all_devices()) < 2:
        pytest.skip("needs two devices")
    view = view_of((64,))
    tensor_map = view.as_tensor_map((16,))
    other = Device(1)
    try:
        other.set_current()
        buffer = other.allocate(256, stream=other.create_stream())
        with pytest.raises(ValueError, match=r"TensorMapDescriptor\._from_tiled expects tensor on device 1, got 0"):
            view.as_tensor_map((16,))
        with pytest.raises(ValueError, match="replace_address expects tensor on device 0, got 1"):
            tensor_map.replace_address(buffer)
        assert tensor_map.device == device
    finally:
        device.set_current()
