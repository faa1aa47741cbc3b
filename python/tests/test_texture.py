"""Arrays of texels, textures and surfaces."""

import array
import ctypes
import gc
import threading
import weakref

import pytest

from cuprum import Device, LaunchConfig, PinnedMemoryResource, Program, launch
from cuprum.graph import GraphDefinition
from cuprum.texture import (
    MipmappedArrayOptions,
    OpaqueArray,
    OpaqueArrayOptions,
    ResourceDescriptor,
    TextureObjectOptions,
)
from cuprum.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

SOURCE = """
extern "C" __global__ void row(cudaTextureObject_t image, const float* x, float* out) {
  out[threadIdx.x] = tex2D<float>(image, x[threadIdx.x], 0.5f);
}
extern "C" __global__ void paint(cudaSurfaceObject_t image, float start) {
  surf2Dwrite(start + threadIdx.x, image, threadIdx.x * sizeof(float), 0);
}
"""
FOUR = LaunchConfig(grid=1, block=4)


@pytest.fixture(scope="module")
def code():
    Device().set_current()
    return Program(SOURCE, "c++").compile("cubin", name_expressions=())


@pytest.fixture
def image(device, stream):
    made = device.create_opaque_array(OpaqueArrayOptions(shape=(4, 1), format="float32", num_channels=1))
    made.copy_from(array.array("f", [10, 20, 30, 40]), stream=stream)
    return made


@pytest.fixture
def canvas(device):
    return device.create_opaque_array(
        {"shape": (4, 1), "format": "float32", "num_channels": 1, "is_surface_load_store": True}
    )


@pytest.fixture
def places(device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.copy_from(array.array("f", [0.5, 1.5, 2.5, 3.5]), stream=stream)
    return buffer


@pytest.fixture
def out(device, stream):
    return device.allocate(16, stream=stream)


def floats(stream, buffer):
    host = PinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    return list(memoryview(host).cast("B").cast("f"))


def texture_of(device, made, **options):
    return device.create_texture_object(
        resource=ResourceDescriptor.from_opaque_array(made), options=TextureObjectOptions(**options)
    )


def surface_of(device, made):
    return device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(made))


class TestArray:
    def test_says_what_it_is(self, device):
        with device.create_opaque_array(
            OpaqueArrayOptions(shape=[8, 4, 2], format=ArrayFormatType.UINT8, num_channels=4)
        ) as made:
            assert made.shape == (8, 4, 2)
            assert made.format is ArrayFormatType.UINT8
            assert (made.num_channels, made.element_bytes, made.size_bytes) == (4, 4, 256)
            assert made.is_surface_load_store is False
            assert made.device is device
            assert made.handle != 0
        assert made.handle == 0
        assert repr(made) == "OpaqueArray(shape=(8, 4, 2), format=UINT8, num_channels=4)"
        made.close()

    @pytest.mark.parametrize("format", list(ArrayFormatType))
    def test_contents_come_back(self, device, stream, format):
        made = device.create_opaque_array(OpaqueArrayOptions(shape=(5, 3), format=format, num_channels=2))
        source = bytes(range(made.size_bytes))
        made.copy_from(source, stream=stream)
        other = device.create_opaque_array(OpaqueArrayOptions(shape=(5, 3), format=format, num_channels=2))
        assert made.copy_to(other, stream=stream) is other
        buffer = device.allocate(made.size_bytes + 4, stream=stream)
        assert other.copy_to(buffer, stream=stream) is buffer
        again = device.create_opaque_array(OpaqueArrayOptions(shape=(5, 3), format=format, num_channels=2))
        again.copy_from(buffer, stream=stream)
        back = bytearray(made.size_bytes)
        assert again.copy_to(back, stream=stream) is back
        stream.sync()
        assert bytes(back) == source

    def test_numpy_says_formats(self, device):
        np = pytest.importorskip("numpy")
        for dtype in (np.float16, np.dtype("int8"), "uint16"):
            made = device.create_opaque_array(OpaqueArrayOptions(shape=(4,), format=dtype, num_channels=1))
            assert made.format == np.dtype(dtype).name
        with pytest.raises(ValueError, match="no ArrayFormatType equivalent"):
            OpaqueArrayOptions(shape=(4,), format=np.float64, num_channels=1)
        with pytest.raises(ValueError, match="no ArrayFormatType equivalent"):
            OpaqueArrayOptions(shape=(4,), format=np.dtype(">f4"), num_channels=1)

    @pytest.mark.parametrize(
        "options, error, text",
        [
            ({"shape": (4,), "format": "float32"}, TypeError, "num_channels"),
            ({"shape": (4,), "format": "float64", "num_channels": 1}, ValueError, "format must be an ArrayFormatType"),
            ({"shape": (4,), "format": 7, "num_channels": 1}, ValueError, "format must be an ArrayFormatType"),
            ({"shape": (4,), "format": "uint8", "num_channels": 3}, ValueError, "num_channels must be 1, 2, or 4"),
            ({"shape": (4,), "format": "uint8", "num_channels": True}, ValueError, "num_channels must be 1, 2, or 4"),
            ({"shape": 4, "format": "uint8", "num_channels": 1}, TypeError, "shape must be a tuple of ints"),
            ({"shape": (), "format": "uint8", "num_channels": 1}, ValueError, "shape rank must be 1, 2, or 3"),
            ({"shape": (4, 0), "format": "uint8", "num_channels": 1}, ValueError, r"shape\[1\] must be >= 1"),
            ({"shape": (1 << 40,), "format": "uint8", "num_channels": 1}, ValueError, "it is too large"),
            ({"shapes": (4,), "format": "uint8", "num_channels": 1}, TypeError, "did you mean 'shape'"),
            ("float32", TypeError, "must be provided as an object of type OpaqueArrayOptions"),
        ],
    )
    def test_refuses_options_that_make_no_array(self, device, options, error, text):
        with pytest.raises(error, match=text):
            device.create_opaque_array(options)

    def test_refuses_what_it_cannot_copy(self, device, stream, image):
        with pytest.raises(ValueError, match="smaller than the array extent"):
            image.copy_from(bytes(15), stream=stream)
        with pytest.raises(ValueError, match="smaller than the array extent"):
            image.copy_to(device.allocate(8, stream=stream), stream=stream)
        for error in (BufferError, TypeError):
            for unwritable in (bytes(16), memoryview(bytes(16))):
                with pytest.raises(error, match="writable object.*not <class '(bytes|memoryview)'>: "):
                    image.copy_to(unwritable, stream=stream)
        with pytest.raises(TypeError, match="src must be a Buffer, an OpaqueArray or"):
            image.copy_from(3, stream=stream)
        with pytest.raises(TypeError, match="Stream or GraphBuilder expected"):
            image.copy_from(bytes(16), stream=3)
        with pytest.raises(TypeError, match="stream is required"):
            image.copy_from(bytes(16), stream=None)
        image.close()
        with pytest.raises(RuntimeError, match="this array is closed"):
            image.copy_from(bytes(16), stream=stream)

    def test_refuses_memory_with_gaps(self, stream, image):
        gappy = pytest.importorskip("numpy").zeros((16, 2), "uint8")[:, 0]
        for copy in (image.copy_from, image.copy_to):
            for error in (ValueError, TypeError):
                with pytest.raises(error, match="contiguous .*numpy.ndarray"):
                    copy(gappy, stream=stream)

    def test_cannot_be_made_by_hand(self):
        with pytest.raises(RuntimeError, match="^OpaqueArray cannot be instantiated directly"):
            OpaqueArray()

    def test_needs_a_device_that_is_current(self, results_of_threads):
        def create():
            from cuprum import CUDAError

            raised = []

            def other():
                try:
                    Device(0).create_opaque_array({"shape": (4,), "format": "uint8", "num_channels": 1})
                except CUDAError as error:
                    raised.append(str(error))

            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            return raised

        assert "not yet initialized" in results_of_threads(create, 1)[0][0]

    @pytest.mark.parametrize("way", ["copy_from", "copy_to"])
    def test_copies_keep_host_memory(self, stream, image, way):
        go_on = threading.Event()
        graph = GraphDefinition()
        graph.callback(lambda: go_on.wait(10))
        executable = graph.instantiate()
        pinned = PinnedMemoryResource().allocate(16, stream=stream)
        host = memoryview(pinned)  # page-locked, so that the copy does not hold the host up
        kept = weakref.ref(host)
        executable.launch(stream)
        getattr(image, way)(host, stream=stream)
        del host
        gc.collect()
        was_kept = kept() is not None
        go_on.set()
        stream.sync()
        gc.collect()
        assert was_kept
        assert kept() is None


class TestMipmappedArray:
    def test_says_what_it_is(self, device):
        options = MipmappedArrayOptions(shape=(16, 4), format="uint16", num_channels=2, num_levels=3)
        with device.create_mipmapped_array(options) as made:
            assert (made.shape, made.format, made.num_channels, made.num_levels) == ((16, 4), "uint16", 2, 3)
            assert made.is_surface_load_store is False and made.device is device and made.handle != 0
            assert [made.get_level(level).shape for level in range(3)] == [(16, 4), (8, 2), (4, 1)]
        assert made.handle == 0
        assert repr(made) == "MipmappedArray(shape=(16, 4), format=UINT16, num_channels=2, num_levels=3)"

    def test_takes_whatever_counts_for_the_number_of_levels(self):
        class Two:
            def __index__(self):
                return 2

        assert MipmappedArrayOptions((4,), "uint8", 1, Two()).num_levels == 2
        with pytest.raises(TypeError, match="num_levels must be an int, not list"):
            MipmappedArrayOptions((4,), "uint8", 1, [2])

    def test_refuses_levels_that_are_not_there(self, device):
        options = {"shape": (16,), "format": "uint8", "num_channels": 1}
        made = device.create_mipmapped_array({**options, "num_levels": 2})
        for level, text in ((2, "num_levels"), (-1, ">= 0")):
            with pytest.raises(ValueError, match=text):
                made.get_level(level)
        with pytest.raises(TypeError):
            made.get_level("first")
        with pytest.raises(ValueError, match="num_levels must be >= 1"):
            device.create_mipmapped_array({**options, "num_levels": 0})

    def test_has_no_levels_after_a_single_texel(self, device):
        options = {"shape": (8, 3), "format": "uint8", "num_channels": 1}
        made = device.create_mipmapped_array({**options, "num_levels": 6})
        assert made.num_levels == 4
        assert made.get_level(3).shape == (1, 1)
        assert repr(made).endswith("num_levels=4)")
        with pytest.raises(ValueError, match=r"level \(4\) must be < num_levels \(4\)"):
            made.get_level(4)


class TestTexture:
    def test_is_read_by_kernels(self, device, stream, code, image, places, out):
        launch(stream, FOUR, code.get_kernel("row"), texture_of(device, image), places, out)
        assert floats(stream, out) == [10, 20, 30, 40]

    def test_options_say_how_it_is_read(self, device, stream, code, image, places, out):
        places.copy_from(array.array("f", [0.25, -0.1, 1.1, 0.875]), stream=stream)
        wrapped = texture_of(
            device,
            image,
            address_mode=("wrap", AddressModeType.CLAMP),
            filter_mode=FilterModeType.LINEAR,
            normalized_coords=True,
        )
        launch(stream, FOUR, code.get_kernel("row"), wrapped, places, out)
        assert floats(stream, out) == pytest.approx([15, 37, 13, 40], abs=0.2)
        bordered = texture_of(device, image, address_mode="border", border_color=(7, 0, 0, 0))
        places.copy_from(array.array("f", [-3, 0.5, 3.5, 4.5]), stream=stream)
        launch(stream, FOUR, code.get_kernel("row"), bordered, places, out)
        assert floats(stream, out) == [7, 10, 40, 7]

    def test_is_passed_as_a_number_too(self, device, stream, code, image, places, out):
        made = texture_of(device, image)
        launch(stream, FOUR, code.get_kernel("row"), ctypes.c_uint64(made.handle), places, out)
        assert floats(stream, out) == [10, 20, 30, 40]

    def test_keeps_what_it_shows(self, device, stream, code, image, places, out):
        made = texture_of(device, image)
        image.close()
        launch(stream, FOUR, code.get_kernel("row"), made, places, out)
        assert floats(stream, out) == [10, 20, 30, 40]

    def test_graphs_keep_it(self, device, stream, code, image, places, out):
        made = texture_of(device, image)
        definition = GraphDefinition()
        definition.launch(FOUR, code.get_kernel("row"), made, places, out)
        made.close()
        image.close()
        del made
        gc.collect()
        definition.instantiate().launch(stream)
        assert floats(stream, out) == [10, 20, 30, 40]

    def test_captured_work_keeps_it(self, device, stream, code, image, places, out):
        stream.sync()
        builder = device.create_graph_builder().begin_building()
        image.copy_from(array.array("f", [1, 2, 3, 4]), stream=builder)
        made = texture_of(device, image)
        launch(builder, FOUR, code.get_kernel("row"), made, places, out)
        graph = builder.end_building().complete()
        made.close()
        image.close()
        gc.collect()
        graph.launch(stream)
        assert floats(stream, out) == [1, 2, 3, 4]

    def test_says_what_it_is(self, device, image):
        options = TextureObjectOptions(read_mode=ReadModeType.ELEMENT_TYPE)
        resource = ResourceDescriptor.from_opaque_array(image)
        with device.create_texture_object(resource=resource, options=options) as made:
            assert made.resource is resource and made.options is options and made.device is device
            assert resource.kind == "array" and resource.source is image
            assert resource.format is None and resource.num_channels is None and resource.pitch_bytes is None
            assert repr(made) == f"TextureObject(handle={made.handle:#x})"
        assert made.handle == 0 and made.resource is None and made.options is options
        assert repr(made) == "TextureObject(handle=0x0)"

    def test_refuses_what_is_closed(self, device, stream, code, image, places, out):
        made = texture_of(device, image)
        made.close()
        with pytest.raises(RuntimeError, match="this texture is closed"):
            launch(stream, FOUR, code.get_kernel("row"), made, places, out)
        image.close()
        with pytest.raises(RuntimeError, match="this array is closed"):
            ResourceDescriptor.from_opaque_array(image)

    @pytest.mark.parametrize(
        "format, options, text",
        [
            ("uint8", {"filter_mode": "linear"}, "uint8 is read as integers"),
            ("int32", {"filter_mode": "linear"}, "int32 is read as integers"),
            ("uint32", {"read_mode": "normalized_float"}, "read_mode is normalized_float, but uint32 can't be"),
            ("float32", {"srgb": True}, "srgb is for uint8"),
            ("float32", {"seamless_cubemap": True}, "seamless_cubemap is for cubemaps"),
            ("float32", {"max_anisotropy": -1}, "max_anisotropy must be >= 0"),
            ("float32", {"border_color": (1, 2)}, "border_color must have 4"),
            ("float32", {"address_mode": ()}, "address_mode tuple must have 1-3"),
            ("float32", {"address_mode": ("wrap", "bend")}, r"address_mode\[1\] must be"),
        ],
    )
    def test_refuses_options_that_do_not_go_with_the_format(self, device, format, options, text):
        made = device.create_opaque_array(OpaqueArrayOptions(shape=(4,), format=format, num_channels=1))
        with pytest.raises(ValueError, match=text):
            texture_of(device, made, **options)

    @pytest.mark.parametrize("color", [("a",) * 4, (1, 2, 3, "4"), 1])
    def test_colors_are_numbers(self, device, image, color):
        with pytest.raises(TypeError):
            texture_of(device, image, border_color=color)

    def test_modes_that_were_assigned_to_options_are_checked(self, device, image):
        resource = ResourceDescriptor.from_opaque_array(image)
        for name in ("filter_mode", "read_mode", "mipmap_filter_mode", "address_mode"):
            for value in ("LINEAR", ("no such",)):
                options = TextureObjectOptions()
                setattr(options, name, value)
                with pytest.raises(ValueError, match=name):
                    device.create_texture_object(resource=resource, options=options)
        options = TextureObjectOptions()
        options.filter_mode = "linear"
        assert device.create_texture_object(resource=resource, options=options).options is options

    def test_cycles_are_collected(self, device, image):
        class Options(TextureObjectOptions):
            pass

        options = Options()
        made = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(image), options=options)
        options.texture = made
        gone = weakref.ref(made)
        del options, made
        gc.collect()
        assert gone() is None


class TestMemory:
    def test_a_line_of_texels(self, device, stream):
        buffer = device.allocate(4096, stream=stream)
        line = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=2, size_bytes=2048)
        assert (line.kind, line.format, line.num_channels, line.size_bytes) == ("linear", "float32", 2, 2048)
        assert line.source is buffer and line.width is None
        assert repr(line) == "ResourceDescriptor(kind='linear', format=FLOAT32, num_channels=2, size_bytes=2048)"
        assert device.create_texture_object(resource=line).handle != 0
        part = buffer.__class__.from_handle(int(buffer.handle) + 4, 64, owner=buffer)
        with pytest.raises(ValueError, match="the address of the buffer must be a multiple of"):
            device.create_texture_object(resource=ResourceDescriptor.from_linear(part, format="float32", num_channels=1))

    def test_rows_of_texels(self, device, stream):
        buffer = device.allocate(8192, stream=stream)
        pitch = max(device.properties.texture_pitch_alignment, 64)
        rows = ResourceDescriptor.from_pitch2d(
            buffer, format="uint8", num_channels=4, width=16, height=8, pitch_bytes=pitch
        )
        assert (rows.width, rows.height, rows.pitch_bytes, rows.size_bytes) == (16, 8, pitch, None)
        assert device.create_texture_object(resource=rows).handle != 0
        odd = ResourceDescriptor.from_pitch2d(
            buffer, format="uint8", num_channels=4, width=16, height=8, pitch_bytes=pitch + 4
        )
        with pytest.raises(ValueError, match="pitch_bytes must be a multiple of"):
            device.create_texture_object(resource=odd)


    def test_sizes_of_lines_are_checked(self, device, stream):
        buffer = device.allocate(64, stream=stream)
        for size, error in ((-1, ValueError), (-1, OverflowError), (-(1 << 80), ValueError), ("a", TypeError)):
            with pytest.raises(error, match="size_bytes"):
                ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1, size_bytes=size)


class TestSurface:
    def test_is_written_by_kernels(self, device, stream, code, canvas):
        surface = surface_of(device, canvas)
        canvas.close()
        launch(stream, FOUR, code.get_kernel("paint"), surface, ctypes.c_float(2))
        texture = device.create_texture_object(resource=surface.resource)
        places, out = device.allocate(16, stream=stream), device.allocate(16, stream=stream)
        places.copy_from(array.array("f", [0.5, 1.5, 2.5, 3.5]), stream=stream)
        launch(stream, FOUR, code.get_kernel("row"), texture, places, out)
        assert floats(stream, out) == [2, 3, 4, 5]

    def test_says_what_it_is(self, device, canvas):
        with surface_of(device, canvas) as surface:
            assert surface.resource.source is canvas and surface.device is device
            assert repr(surface) == f"SurfaceObject(handle={surface.handle:#x})"
        assert surface.handle == 0 and surface.resource is None

    def test_refuses_what_kernels_cannot_write(self, device, image, stream, code):
        with pytest.raises(ValueError, match="is_surface_load_store=True"):
            surface_of(device, image)
        line = ResourceDescriptor.from_linear(device.allocate(64, stream=stream), format="uint8", num_channels=1)
        with pytest.raises(ValueError, match="array-backed"):
            device.create_surface_object(resource=line)
        with pytest.raises(TypeError, match="resource must be a ResourceDescriptor"):
            device.create_surface_object(resource=image)
        with pytest.raises(TypeError):
            device.create_surface_object(line)


def test_everything_says_whether_it_is_closed(device):
    options = {"shape": (8, 8), "format": "uint8", "num_channels": 1, "is_surface_load_store": True}
    image = device.create_opaque_array(options)
    resource = ResourceDescriptor.from_opaque_array(image)
    for made in (
        device.create_surface_object(resource=resource),
        device.create_texture_object(resource=resource),
        device.create_mipmapped_array({**options, "num_levels": 2}),
        image,
    ):
        assert made.is_closed is False
        made.close()
        assert made.is_closed is True
