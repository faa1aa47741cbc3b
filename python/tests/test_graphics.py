"""Buffers and images of OpenGL that kernels use."""

import gc
import os
import pathlib
import subprocess
import sys

import opengl
import pytest

from cuprum import Buffer, CUDAError, GraphicsResource, MappedImage, _core
from cuprum._graphics import _parse_register_flags
from cuprum.utils import StridedMemoryView

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def gl(device):
    if _core.driver_info()[0] != "softgpu":
        pytest.skip("this OpenGL draws with the CPU: NVIDIA's driver does not share objects with it")
    context = opengl.OpenGL()
    yield context
    context.make_current()
    assert context.GetError() == 0
    context.close()


@pytest.fixture
def name(gl):
    return gl.make_buffer(bytes(range(256)))


def test_buffer_is_mapped_and_unmapped(gl, name, stream):
    resource = GraphicsResource.from_gl_buffer(name)
    assert resource.handle != 0 and resource.resource_handle == resource.handle
    assert not resource.is_mapped
    buffer = resource.map(stream=stream)
    assert isinstance(buffer, Buffer) and buffer.size == 256 and buffer.handle != 0
    assert buffer.memory_resource is None and buffer.owner is None and buffer.is_device_accessible
    assert resource.is_mapped and " mapped" in repr(resource)
    buffer.fill(7, stream=stream)
    resource.unmap()
    assert not resource.is_mapped and buffer.handle == 0 and buffer.size == 0
    assert gl.contents(name, 256) == bytes([7]) * 256
    resource.close()
    resource.close()
    assert resource.handle == 0 and "closed" in repr(resource)


def test_buffer_as_a_context_manager(gl, name, stream):
    resource = GraphicsResource.from_gl_buffer(name, flags="write_discard")
    with pytest.raises(ZeroDivisionError), resource.map(stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        1 / 0
    assert not resource.is_mapped and gl.contents(name, 256) == bytes([1]) * 256
    with resource.map(stream=stream) as buffer:
        view = StridedMemoryView.from_buffer(buffer, shape=(64,), itemsize=4)
        assert view.ptr == buffer.handle and view.is_device_accessible
    del view
    resource.close()


def test_resource_as_a_context_manager(gl, name, stream):
    with GraphicsResource.from_gl_buffer(name) as resource:
        assert isinstance(resource, GraphicsResource) and not resource.is_mapped
    assert resource.handle == 0
    with GraphicsResource.from_gl_buffer(name, stream=stream) as buffer:
        assert isinstance(buffer, Buffer)
        buffer.fill(2, stream=stream)
    assert buffer.handle == 0 and gl.contents(name, 256) == bytes([2]) * 256
    with GraphicsResource.from_gl_buffer(name).map(stream=stream) as buffer:
        gc.collect()
        buffer.fill(3, stream=stream)
    assert gl.contents(name, 256) == bytes([3]) * 256


def test_refuses_what_is_no_stream_before_with_maps_on_it(gl, name):
    with pytest.raises(TypeError, match="stream"):
        GraphicsResource.from_gl_buffer(name, stream=3)


def test_a_mapping_stays_that_nobody_keeps(gl, name, stream, device):
    resource = GraphicsResource.from_gl_buffer(name)
    resource.map(stream=stream)
    gc.collect()
    with pytest.raises(RuntimeError, match="already mapped"):
        resource.map(stream=stream)
    resource.unmap(stream=device.create_stream())
    with pytest.raises(RuntimeError, match="not mapped"):
        resource.unmap()
    buffer = resource.map(stream=stream)
    resource.close(device.create_stream())
    assert buffer.handle == 0
    with pytest.raises(RuntimeError, match="has been closed"):
        resource.map(stream=stream)
    with pytest.raises(RuntimeError, match="has been closed"):
        resource.unmap()


def test_image_is_mapped_as_arrays(gl, stream):
    texture = gl.make_texture(8, 4)
    with GraphicsResource.from_gl_image(texture, opengl.TEXTURE_2D, flags=["surface_load_store"]) as resource:
        with resource.map_image(stream=stream) as image:
            assert isinstance(image, MappedImage) and resource.is_mapped
            assert image.array() == image.array(index=0, level=0) != 0
            array = image.opaque_array()
            assert array.handle == image.array() and array.shape == (8, 4)
            array.copy_from(bytes(range(128)), stream=stream)
            assert image.mipmapped_array != 0
            with pytest.raises(CUDAError, match="INVALID_VALUE"):
                image.array(level=5)
        assert not resource.is_mapped and "closed" in repr(image)
        with pytest.raises(RuntimeError, match="closed"):
            image.opaque_array()
        with pytest.raises(RuntimeError, match="closed"):
            image.array()
        with pytest.raises(CUDAError, match="NOT_MAPPED_AS_POINTER"):
            resource.map(stream=stream)
        assert not resource.is_mapped


def test_flags():
    assert _parse_register_flags(None) == 0
    assert _parse_register_flags("none") == 0
    assert _parse_register_flags("texture_gather") == 8
    assert _parse_register_flags(("surface_load_store", "read_only")) == 5
    with pytest.raises(ValueError, match="Unknown register flag 'bogus'.*write_discard"):
        _parse_register_flags("bogus")


def test_what_is_wrong_is_told(gl, name, stream):
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        GraphicsResource()
    with pytest.raises(CUDAError, match="buffer 4711"):
        GraphicsResource.from_gl_buffer(4711)
    with pytest.raises(CUDAError, match="target"):
        GraphicsResource.from_gl_image(gl.make_texture(2, 2), 0x806F)
    with pytest.raises(ValueError, match="Unknown register flag"):
        GraphicsResource.from_gl_buffer(name, flags="readonly")
    with pytest.raises(ValueError, match="read_only and write_discard"):
        GraphicsResource.from_gl_buffer(name, flags=("read_only", "write_discard"))
    with pytest.raises(TypeError):
        GraphicsResource.from_gl_buffer("1")
    with pytest.raises((ValueError, OverflowError)):
        GraphicsResource.from_gl_buffer(-1)
    with GraphicsResource.from_gl_buffer(name) as resource:
        with pytest.raises(TypeError, match="keyword-only argument"):
            resource.map()
        with pytest.raises(TypeError):
            resource.map(stream=None)
        with pytest.raises(TypeError):
            resource.map(stream="stream")


def test_without_a_context(gl, name, stream):
    resource = GraphicsResource.from_gl_buffer(name)
    buffer = resource.map(stream=stream)
    gl.leave()
    with pytest.raises(CUDAError, match="INVALID_GRAPHICS_CONTEXT"):
        resource.unmap()
    with pytest.raises(CUDAError, match="INVALID_GRAPHICS_CONTEXT"):
        GraphicsResource.from_gl_buffer(name)
    gl.make_current()
    assert resource.is_mapped and buffer.handle != 0
    resource.close()


def test_the_guide_has_the_picture_of_the_example(gl):
    check = [ROOT / "tests/repository/check_png.py", ROOT / "docs/guide/pictures/opengl_picture.png"]
    example = [sys.executable, ROOT / "examples/opengl_picture.py"]
    subprocess.run([sys.executable, *check, *example], check=True, env=os.environ, timeout=120)
