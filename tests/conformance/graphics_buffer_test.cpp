// Buffers of OpenGL as graphics resources, and the states that resources go through.
#include <numeric>
#include <thread>

#include "conformance/gate.hpp"
#include "conformance/graphics.hpp"

namespace conformance {
namespace {

using GraphicsBuffer = GraphicsTest;

std::vector<int> numbers(std::size_t count, int first = 0) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(GraphicsBuffer, IsReadAndWrittenByKernels) {
  const GLuint name = make_buffer(numbers(1000));
  {
    Registered buffer = Registered::buffer(name);
    const TestStream stream;
    ASSERT_SUCCESS(buffer.map(stream.get()));
    EXPECT_SUCCESS(increment(buffer.pointer(), 1000, stream.get()));
    ASSERT_SUCCESS(buffer.unmap(stream.get()));
    EXPECT_EQ(contents<int>(name, 1000), numbers(1000, 1));
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, TellsItsSize) {
  const GLuint name = make_buffer(std::vector<char>(77));
  {
    Registered buffer = Registered::buffer(name);
    ASSERT_SUCCESS(buffer.map());
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    EXPECT_SUCCESS(CU(cuGraphicsResourceGetMappedPointer)(&pointer, &size, buffer.get()));
    EXPECT_NE(pointer, 0u);
    EXPECT_EQ(size, 77u);
    unsigned kind = 0;
    EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
    EXPECT_EQ(kind, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
    EXPECT_SUCCESS(buffer.unmap());
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, SeesWhatOpenGLDidBetweenTwoMappings) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    for (int round = 0; round < 3; ++round) {
      const std::vector<int> values = numbers(64, 1000 * round);
      GL(glBindBuffer)(GL_ARRAY_BUFFER, name);
      GL(glBufferSubData)(GL_ARRAY_BUFFER, 0, 64 * sizeof(int), values.data());
      ASSERT_SUCCESS(buffer.map());
      EXPECT_SUCCESS(increment(buffer.pointer(), 64, nullptr));
      ASSERT_SUCCESS(buffer.unmap());
      EXPECT_EQ(contents<int>(name, 64), numbers(64, 1000 * round + 1));
    }
  }
  delete_buffer(name);
}

// Work of the stream before the unmapping comes first, however long it takes.
TEST_F(GraphicsBuffer, UnmappingWaitsForTheStream) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    const TestStream stream(CU_STREAM_NON_BLOCKING);
    ASSERT_SUCCESS(buffer.map(stream.get()));
    Gate gate(stream.get());
    EXPECT_SUCCESS(increment(buffer.pointer(), 64, stream.get()));
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gate.open();
    });
    EXPECT_SUCCESS(buffer.unmap(stream.get()));
    EXPECT_EQ(contents<int>(name, 64), numbers(64, 1));
    opener.join();
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, MappingDoesNotWaitForTheStream) {
  if (!is_softgpu()) GTEST_SKIP() << "whether mapping blocks is each driver's own affair";
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    const TestStream stream(CU_STREAM_NON_BLOCKING);
    Gate gate(stream.get());
    EXPECT_SUCCESS(buffer.map(stream.get()));
    EXPECT_SUCCESS(increment(buffer.pointer(), 64, stream.get()));
    gate.open();
    EXPECT_SUCCESS(buffer.unmap(stream.get()));
    EXPECT_EQ(contents<int>(name, 64), numbers(64, 1));
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, ThatIsOnlyReadStaysAsItIs) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    ASSERT_SUCCESS(buffer.map());
    std::vector<int> seen(64);
    EXPECT_SUCCESS(CU(cuMemcpyDtoH)(seen.data(), buffer.pointer(), 64 * sizeof(int)));
    EXPECT_EQ(seen, numbers(64));
    ASSERT_SUCCESS(buffer.unmap());
    EXPECT_EQ(contents<int>(name, 64), numbers(64));
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, ThatIsDiscardedIsWrittenWhole) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    ASSERT_SUCCESS(buffer.map());
    EXPECT_SUCCESS(CU(cuMemsetD32)(buffer.pointer(), 7, 64));
    ASSERT_SUCCESS(buffer.unmap());
    EXPECT_EQ(contents<int>(name, 64), std::vector<int>(64, 7));
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, TakesMapFlagsForTheNextMapping) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsResourceSetMapFlags)(buffer.get(), 8));
    EXPECT_SUCCESS(CU(cuGraphicsResourceSetMapFlags)(buffer.get(), CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD));
    ASSERT_SUCCESS(buffer.map());
    EXPECT_CUDA_ERROR(CUDA_ERROR_ALREADY_MAPPED,
                      CU(cuGraphicsResourceSetMapFlags)(buffer.get(), CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE));
    EXPECT_SUCCESS(CU(cuMemsetD32)(buffer.pointer(), 9, 64));
    ASSERT_SUCCESS(buffer.unmap());
    EXPECT_EQ(contents<int>(name, 64), std::vector<int>(64, 9));
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, CanHaveMemoryThatTheHostCannotMap) {
  GLuint name = 0;
  const std::vector<int> values = numbers(64);
  GL(glGenBuffers)(1, &name);
  GL(glBindBuffer)(GL_ARRAY_BUFFER, name);
  GL(glBufferStorage)(GL_ARRAY_BUFFER, 64 * sizeof(int), values.data(), 0);
  {
    Registered buffer = Registered::buffer(name);
    ASSERT_SUCCESS(buffer.map());
    EXPECT_SUCCESS(increment(buffer.pointer(), 64, nullptr));
    ASSERT_SUCCESS(buffer.unmap());
    EXPECT_EQ(contents<int>(name, 64), numbers(64, 1));
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, LeavesTheBindingsOfTheProgram) {
  const GLuint name = make_buffer(numbers(64)), other = make_buffer(numbers(8));
  GL(glBindBuffer)(GL_COPY_READ_BUFFER, other);
  GL(glBindBuffer)(GL_COPY_WRITE_BUFFER, other);
  {
    Registered buffer = Registered::buffer(name);
    ASSERT_SUCCESS(buffer.map());
    ASSERT_SUCCESS(buffer.unmap());
  }
  for (const GLenum binding : {GL_COPY_READ_BUFFER_BINDING, GL_COPY_WRITE_BUFFER_BINDING}) {
    GLint bound = 0;
    GL(glGetIntegerv)(binding, &bound);
    EXPECT_EQ(static_cast<GLuint>(bound), other);
  }
  delete_buffer(name);
  delete_buffer(other);
}

TEST_F(GraphicsBuffer, IsMappedTogetherWithOthers) {
  const GLuint first = make_buffer(numbers(64)), second = make_buffer(numbers(64, 100));
  {
    const Registered a = Registered::buffer(first), b = Registered::buffer(second);
    CUgraphicsResource both[] = {a.get(), b.get()}, twice[] = {a.get(), a.get()};
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsMapResources)(2, twice, nullptr));
    ASSERT_SUCCESS(CU(cuGraphicsMapResources)(2, both, nullptr));
    EXPECT_NE(a.pointer(), b.pointer());
    EXPECT_SUCCESS(increment(a.pointer(), 64, nullptr));
    EXPECT_SUCCESS(increment(b.pointer(), 64, nullptr));
    ASSERT_SUCCESS(CU(cuGraphicsUnmapResources)(2, both, nullptr));
    EXPECT_EQ(contents<int>(first, 64), numbers(64, 1));
    EXPECT_EQ(contents<int>(second, 64), numbers(64, 101));
  }
  delete_buffer(first);
  delete_buffer(second);
}

TEST_F(GraphicsBuffer, MapsAllOrNone) {
  const GLuint first = make_buffer(numbers(64)), second = make_buffer(numbers(64));
  {
    Registered a = Registered::buffer(first), b = Registered::buffer(second);
    CUgraphicsResource both[] = {a.get(), b.get()};
    ASSERT_SUCCESS(b.map());
    EXPECT_CUDA_ERROR(CUDA_ERROR_ALREADY_MAPPED, CU(cuGraphicsMapResources)(2, both, nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED, a.unmap());
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED, CU(cuGraphicsUnmapResources)(2, both, nullptr));
    EXPECT_SUCCESS(b.unmap());
  }
  delete_buffer(first);
  delete_buffer(second);
}

TEST_F(GraphicsBuffer, IsMappedOnceAndUnmappedOnce) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED, buffer.unmap());
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    CUarray array = nullptr;
    CUmipmappedArray levels = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED, CU(cuGraphicsResourceGetMappedPointer)(&pointer, &size, buffer.get()));
    ASSERT_SUCCESS(buffer.map());
    EXPECT_CUDA_ERROR(CUDA_ERROR_ALREADY_MAPPED, buffer.map());
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
                      CU(cuGraphicsSubResourceGetMappedArray)(&array, buffer.get(), 0, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
                      CU(cuGraphicsResourceGetMappedMipmappedArray)(&levels, buffer.get()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_ALREADY_MAPPED, CU(cuGraphicsUnregisterResource)(buffer.get()));
    ASSERT_SUCCESS(buffer.unmap());
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED, buffer.unmap());
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, GoesThroughAContextThatSharesIt) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    const auto other = gl_->sharing();
    ASSERT_NE(other, nullptr);
    other->make_current();
    ASSERT_SUCCESS(buffer.map());
    EXPECT_SUCCESS(increment(buffer.pointer(), 64, nullptr));
    ASSERT_SUCCESS(buffer.unmap());
    gl_->make_current();
    EXPECT_EQ(contents<int>(name, 64), numbers(64, 1));
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, NeedsAnOpenGLContext) {
  if (!is_softgpu()) GTEST_SKIP() << "what NVIDIA's driver does without a context is not documented for each call";
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    ASSERT_SUCCESS(buffer.map());
    gl_->leave();
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, buffer.unmap());
    CUgraphicsResource resource = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, CU(cuGraphicsGLRegisterBuffer)(&resource, name, 0));
    gl_->make_current();
    EXPECT_SUCCESS(buffer.unmap());  // it was still mapped
    gl_->leave();
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, buffer.map());
    gl_->make_current();
  }
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, ListsTheDevicesOfTheContext) {
  unsigned count = 0;
  CUdevice devices[8];
  EXPECT_SUCCESS(CU(cuGLGetDevices)(&count, devices, 8, CU_GL_DEVICE_LIST_ALL));
  ASSERT_GE(count, 1u);
  EXPECT_EQ(devices[0], device_);
  gl_->leave();
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, CU(cuGLGetDevices)(&count, devices, 8, CU_GL_DEVICE_LIST_ALL));
}

TEST_F(GraphicsBuffer, MustBeThere) {
  if (!is_softgpu()) GTEST_SKIP() << "what NVIDIA's driver returns here is not documented";
  CUgraphicsResource resource = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsGLRegisterBuffer)(&resource, 12345, 0));
  GLuint empty = 0;
  GL(glGenBuffers)(1, &empty);
  GL(glBindBuffer)(GL_ARRAY_BUFFER, empty);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsGLRegisterBuffer)(&resource, empty, 0));
  delete_buffer(empty);
  const GLuint name = make_buffer(numbers(64));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsGLRegisterBuffer)(&resource, name, 3));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsGLRegisterBuffer)(&resource, name, 64));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsGLRegisterBuffer)(nullptr, name, 0));
  GL(glBindBuffer)(GL_ARRAY_BUFFER, name);
  GL(glMapBuffer)(GL_ARRAY_BUFFER, GL_READ_ONLY);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ALREADY_MAPPED, CU(cuGraphicsGLRegisterBuffer)(&resource, name, 0));
  GL(glUnmapBuffer)(GL_ARRAY_BUFFER);
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, ThatWasDeletedOrResizedCannotBeMapped) {
  if (!is_softgpu()) GTEST_SKIP() << "what NVIDIA's driver does with such a buffer is not documented";
  const GLuint name = make_buffer(numbers(64)), resized = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name), other = Registered::buffer(resized);
    ASSERT_SUCCESS(buffer.map());
    delete_buffer(name);
    EXPECT_SUCCESS(buffer.unmap());  // there is nowhere to write to
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, buffer.map());
    GL(glBindBuffer)(GL_ARRAY_BUFFER, resized);
    GL(glBufferData)(GL_ARRAY_BUFFER, 8, nullptr, GL_DYNAMIC_DRAW);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, other.map());
  }
  delete_buffer(resized);
}

TEST_F(GraphicsBuffer, HandlesThatAreNoneAreRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver follows them";
  CUgraphicsResource none = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsUnregisterResource)(none));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsMapResources)(1, &none, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsMapResources)(0, &none, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsMapResources)(1, nullptr, nullptr));
}

TEST_F(GraphicsBuffer, GoesWithItsContext) {
  if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver follows handles of contexts that are gone";
  const GLuint name = make_buffer(numbers(64));
  CUcontext other = nullptr;
  CUgraphicsResource resource = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&other, nullptr, 0, device_));
  ASSERT_SUCCESS(CU(cuGraphicsGLRegisterBuffer)(&resource, name, 0));
  ASSERT_SUCCESS(CU(cuGraphicsMapResources)(1, &resource, nullptr));
  EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, CU(cuGraphicsUnmapResources)(1, &resource, nullptr));
  EXPECT_SUCCESS(CU(cuCtxDestroy)(other));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsUnmapResources)(1, &resource, nullptr));
  delete_buffer(name);
}

TEST_F(GraphicsBuffer, IsNotPartOfACapture) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    const TestStream stream(CU_STREAM_NON_BLOCKING);
    ASSERT_SUCCESS(CU(cuStreamBeginCapture)(stream.get(), CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_NE(buffer.map(stream.get()), CUDA_SUCCESS);
    CUgraph graph = nullptr;
    CU(cuStreamEndCapture)(stream.get(), &graph);
    if (graph != nullptr) CU(cuGraphDestroy)(graph);
    EXPECT_SUCCESS(buffer.map(stream.get()));
    EXPECT_SUCCESS(buffer.unmap(stream.get()));
  }
  delete_buffer(name);
}

class GraphicsBufferOfES : public GraphicsTest {
 protected:
  GraphicsBufferOfES() : GraphicsTest(Profile::es) {}
};

TEST_F(GraphicsBufferOfES, IsSharedAsWell) {
  const GLuint name = make_buffer(numbers(64));
  {
    Registered buffer = Registered::buffer(name);
    for (int round = 1; round <= 2; ++round) {
      ASSERT_SUCCESS(buffer.map());
      EXPECT_SUCCESS(increment(buffer.pointer(), 64, nullptr));
      std::vector<int> seen(64);
      EXPECT_SUCCESS(CU(cuMemcpyDtoH)(seen.data(), buffer.pointer(), 64 * sizeof(int)));
      EXPECT_EQ(seen, numbers(64, round));
      ASSERT_SUCCESS(buffer.unmap());
    }
  }
  GLuint texture = 0;
  GL(glGenTextures)(1, &texture);
  GL(glBindTexture)(GL_TEXTURE_2D, texture);
  GL(glTexStorage2D)(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
  if (is_softgpu()) {
    CUgraphicsResource resource = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuGraphicsGLRegisterImage)(&resource, texture, GL_TEXTURE_2D, 0));
  }
  GL(glDeleteTextures)(1, &texture);
  delete_buffer(name);
}

}  // namespace
}  // namespace conformance
