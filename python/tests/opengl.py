"""An OpenGL context without a display for tests, by EGL and ctypes: skips where there is none."""

import ctypes

import pytest

ARRAY_BUFFER, DYNAMIC_DRAW = 0x8892, 0x88E8
TEXTURE_2D, TEXTURE_MIN_FILTER, NEAREST, RGBA, RGBA8, UNSIGNED_BYTE = 0x0DE1, 0x2801, 0x2600, 0x1908, 0x8058, 0x1401

_SURFACELESS, _OPENGL_API, _NONE = 0x31DD, 0x30A2, 0x3038
_MAJOR_VERSION, _MINOR_VERSION = 0x3098, 0x30FB


class OpenGL:
    """Its attributes are OpenGL's functions, without "gl". The context is current on the thread that makes it."""

    def __init__(self):
        pointer = ctypes.c_void_p
        try:
            self._egl = ctypes.CDLL("libEGL.so.1")
        except OSError:
            pytest.skip("there is no EGL here")
        self._egl.eglGetProcAddress.restype = pointer
        self._egl.eglCreateContext.restype = pointer
        display_of = ctypes.CFUNCTYPE(pointer, ctypes.c_uint, pointer, pointer)(self._address("eglGetPlatformDisplayEXT"))
        self._display = pointer(display_of(_SURFACELESS, None, None))
        if not self._egl.eglInitialize(self._display, None, None) or not self._egl.eglBindAPI(_OPENGL_API):
            pytest.skip("EGL has no OpenGL without a display")
        attributes = (ctypes.c_int * 5)(_MAJOR_VERSION, 4, _MINOR_VERSION, 5, _NONE)
        self._context = pointer(self._egl.eglCreateContext(self._display, None, None, attributes))
        self.make_current()

    def make_current(self):
        assert self._egl.eglMakeCurrent(self._display, None, None, self._context)

    def leave(self):
        self._egl.eglMakeCurrent(self._display, None, None, None)

    def close(self):
        self.leave()
        self._egl.eglDestroyContext(self._display, self._context)

    def _address(self, name):
        return self._egl.eglGetProcAddress(name.encode())

    def __getattr__(self, name):
        return ctypes.CFUNCTYPE(ctypes.c_uint)(self._address("gl" + name))

    def make_buffer(self, contents):
        name = ctypes.c_uint()
        self.GenBuffers(1, ctypes.byref(name))
        self.BindBuffer(ARRAY_BUFFER, name)
        self.BufferData(ARRAY_BUFFER, ctypes.c_ssize_t(len(contents)), bytes(contents), DYNAMIC_DRAW)
        return name.value

    def contents(self, buffer, size):
        found = ctypes.create_string_buffer(size)
        self.BindBuffer(ARRAY_BUFFER, buffer)
        self.GetBufferSubData(ARRAY_BUFFER, ctypes.c_ssize_t(0), ctypes.c_ssize_t(size), found)
        return found.raw

    def make_texture(self, width, height):
        name = ctypes.c_uint()
        self.GenTextures(1, ctypes.byref(name))
        self.BindTexture(TEXTURE_2D, name)
        self.TexParameteri(TEXTURE_2D, TEXTURE_MIN_FILTER, NEAREST)
        self.TexImage2D(TEXTURE_2D, 0, RGBA8, width, height, 0, RGBA, UNSIGNED_BYTE, None)
        return name.value
