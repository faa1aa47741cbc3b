"""A kernel paints a picture, and OpenGL draws it: CUDA and OpenGL share the memory that the picture is in.

OpenGL makes a texture. CUDA maps it, a kernel writes each pixel through a surface, and unmapping hands it back to OpenGL,
which draws it with a frame around it. There is no window: what was drawn is read back, and written to the file that the
command line names, as a PNG. OpenGL is called through ctypes here; a program would have PyOpenGL or the like.
"""

import ctypes
import struct
import sys
import zlib

from cuprum import Device, GraphicsResource, LaunchConfig, Program, launch
from cuprum.texture import ResourceDescriptor

SIZE = 160
failures = 0

# Mandelbrot's set in fixed-point numbers, so that every device paints the same pixels.
SOURCE = r"""
extern "C" __global__ void paint(cudaSurfaceObject_t pixels, int size) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= size || y >= size) return;
  const long long one = 1 << 20;
  long long cr = one * 5 * x / (2 * size) - one * 7 / 4, ci = one * 5 * y / (2 * size) - one * 5 / 4, r = 0, i = 0;
  int steps = 0;
  while (steps < 64 && r * r + i * i < 4 * one * one) {
    long long next = (r * r - i * i) / one + cr;
    i = 2 * r * i / one + ci;
    r = next;
    ++steps;
  }
  uchar4 inside = make_uchar4(12, 12, 28, 255);
  uchar4 outside = make_uchar4(min(255, 6 * steps), min(255, steps * steps / 3), min(255, 70 + 9 * steps), 255);
  surf2Dwrite(steps == 64 ? inside : outside, pixels, x * 4, y);
}
"""

VERTICES = b"""#version 330 core
void main() { gl_Position = vec4(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1, 0, 1); }"""
FRAGMENTS = b"""#version 330 core
uniform sampler2D picture;
out vec4 color;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), size = textureSize(picture, 0);
  bool is_frame = any(lessThan(at, ivec2(4))) || any(greaterThanEqual(at, size - 4));
  color = is_frame ? vec4(0.2, 0.2, 0.2, 1) : texelFetch(picture, at, 0);
}"""

# The constants of OpenGL and EGL that are used.
TEXTURE_2D, TEXTURE_MIN_FILTER, NEAREST, RGBA, RGBA8, UNSIGNED_BYTE = 0x0DE1, 0x2801, 0x2600, 0x1908, 0x8058, 0x1401
FRAMEBUFFER, COLOR_ATTACHMENT0, TRIANGLES = 0x8D40, 0x8CE0, 4
VERTEX_SHADER, FRAGMENT_SHADER = 0x8B31, 0x8B30
EGL_PLATFORM_SURFACELESS_MESA, EGL_OPENGL_API, EGL_NONE = 0x31DD, 0x30A2, 0x3038
EGL_CONTEXT_MAJOR_VERSION, EGL_CONTEXT_MINOR_VERSION = 0x3098, 0x30FB


def check(is_right, what):
    global failures
    print("  ok:" if is_right else "  WRONG:", what)
    failures += not is_right


class OpenGL:
    """An OpenGL context without a window, current on this thread. Its attributes are OpenGL's functions, without "gl"."""

    def __init__(self):
        self.egl = ctypes.CDLL("libEGL.so.1")
        self.egl.eglGetProcAddress.restype = ctypes.c_void_p
        pointer = ctypes.c_void_p
        display_of = ctypes.CFUNCTYPE(pointer, ctypes.c_uint, pointer, pointer)(self.address("eglGetPlatformDisplayEXT"))
        display = pointer(display_of(EGL_PLATFORM_SURFACELESS_MESA, None, None))
        if not self.egl.eglInitialize(display, None, None) or not self.egl.eglBindAPI(EGL_OPENGL_API):
            raise RuntimeError("EGL has no OpenGL without a display")
        attributes = (ctypes.c_int * 5)(EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE)
        self.egl.eglCreateContext.restype = pointer
        context = pointer(self.egl.eglCreateContext(display, None, None, attributes))
        if not self.egl.eglMakeCurrent(display, None, None, context):
            raise RuntimeError("EGL makes no OpenGL 3.3 context")

    def address(self, name):
        return self.egl.eglGetProcAddress(name.encode())

    def __getattr__(self, name):
        function = ctypes.CFUNCTYPE(ctypes.c_uint)(self.address("gl" + name))
        function.argtypes = None  # as C calls a function that is not declared: ints and pointers
        return function

    def new(self, kind):
        """The name of a new object: a "Buffers", "Textures" and so on."""
        name = ctypes.c_uint()
        getattr(self, "Gen" + kind)(1, ctypes.byref(name))
        return name.value


def make_texture(gl):
    texture = gl.new("Textures")
    gl.BindTexture(TEXTURE_2D, texture)
    gl.TexParameteri(TEXTURE_2D, TEXTURE_MIN_FILTER, NEAREST)
    gl.TexImage2D(TEXTURE_2D, 0, RGBA8, SIZE, SIZE, 0, RGBA, UNSIGNED_BYTE, None)
    return texture


def make_program(gl):
    program = gl.CreateProgram()
    for kind, text in ((VERTEX_SHADER, VERTICES), (FRAGMENT_SHADER, FRAGMENTS)):
        shader = gl.CreateShader(kind)
        gl.ShaderSource(shader, 1, ctypes.byref(ctypes.c_char_p(text)), None)
        gl.CompileShader(shader)
        gl.AttachShader(program, shader)
    gl.LinkProgram(program)
    return program


def draw(gl, picture):
    """Draws the texture into another one, and reads that."""
    canvas = make_texture(gl)
    gl.BindFramebuffer(FRAMEBUFFER, gl.new("Framebuffers"))
    gl.FramebufferTexture2D(FRAMEBUFFER, COLOR_ATTACHMENT0, TEXTURE_2D, canvas, 0)
    gl.Viewport(0, 0, SIZE, SIZE)
    gl.BindVertexArray(gl.new("VertexArrays"))
    gl.UseProgram(make_program(gl))
    gl.BindTexture(TEXTURE_2D, picture)
    gl.DrawArrays(TRIANGLES, 0, 3)
    pixels = ctypes.create_string_buffer(SIZE * SIZE * 4)
    gl.ReadPixels(0, 0, SIZE, SIZE, RGBA, UNSIGNED_BYTE, pixels)
    return pixels.raw


def write_png(path, pixels):
    """OpenGL has the lowest row first, a PNG the highest."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = [pixels[4 * SIZE * y : 4 * SIZE * (y + 1)] for y in reversed(range(SIZE))]
    without_alpha = [bytes(value for place, value in enumerate(row) if place % 4 != 3) for row in rows]
    data = zlib.compress(b"".join(b"\0" + row for row in without_alpha), 9)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", data) + chunk(b"IEND", b""))


gl = OpenGL()
picture = make_texture(gl)

device = Device()
device.set_current()
stream = device.create_stream()
paint = Program(SOURCE, "c++").compile("cubin").get_kernel("paint")

with GraphicsResource.from_gl_image(picture, TEXTURE_2D, flags="surface_load_store") as shared:
    with shared.map_image(stream=stream) as image:
        array = image.opaque_array()
        check(shared.is_mapped and array.size_bytes == SIZE * SIZE * 4, "the texture of OpenGL is CUDA's now")
        with device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array)) as pixels:
            config = LaunchConfig(grid=(SIZE // 16, SIZE // 16), block=(16, 16))
            launch(stream, config, paint, pixels, ctypes.c_int(SIZE))
            stream.sync()
    check(not shared.is_mapped, "and OpenGL's again")

drawn = draw(gl, picture)
middle = 4 * (SIZE // 2 * SIZE + SIZE // 2)
check(drawn[:4] == bytes([51, 51, 51, 255]), "OpenGL drew the frame")
check(drawn[middle : middle + 4] == bytes([12, 12, 28, 255]), "and inside of it what the kernel painted")
check(gl.GetError() == 0, "OpenGL reports no error")
if len(sys.argv) > 1:
    write_png(sys.argv[1], drawn)
sys.exit(failures != 0)
