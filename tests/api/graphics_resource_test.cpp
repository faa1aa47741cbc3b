#include <cuprum/driver.hpp>
#include <sstream>
#include <thread>
#include <unordered_set>

#include "api/captured_log.hpp"
#include "api/fixture.hpp"
#include "api/gate.hpp"
#include "support/opengl.hpp"

namespace cuprum::tests {
namespace {

using ::support::OpenGL;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Skipped where there is no OpenGL.
class GraphicsResourceTest : public ApiTest {
 protected:
  void SetUp() override {
    std::string why;
    gl = OpenGL::make(driver::info().kind == driver::Choice::nvidia, ::support::Profile::core, why);
    if (!gl) GTEST_SKIP() << why;
    SUPPORT_GL(*gl, glGenBuffers)(1, &name);
    SUPPORT_GL(*gl, glBindBuffer)(GL_ARRAY_BUFFER, name);
    const std::vector<float> values = numbers(count);
    SUPPORT_GL(*gl, glBufferData)
    (GL_ARRAY_BUFFER, count * sizeof(float), values.data(), GL_DYNAMIC_DRAW);
    SUPPORT_GL(*gl, glGenTextures)(1, &texture);
    SUPPORT_GL(*gl, glBindTexture)(GL_TEXTURE_2D, texture);
    SUPPORT_GL(*gl, glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    SUPPORT_GL(*gl, glTexImage2D)
    (GL_TEXTURE_2D, 0, GL_RGBA8, 8, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  }
  void TearDown() override {
    if (!gl) return;
    gl->make_current();
    SUPPORT_GL(*gl, glDeleteBuffers)(1, &name);
    SUPPORT_GL(*gl, glDeleteTextures)(1, &texture);
  }

  std::vector<float> contents() const {
    std::vector<float> values(count);
    SUPPORT_GL(*gl, glGetBufferSubData)(GL_ARRAY_BUFFER, 0, count * sizeof(float), values.data());
    return values;
  }
  std::vector<float> scaled(float factor) const {
    std::vector<float> values = numbers(count);
    for (float& value : values) value *= factor;
    return values;
  }

  static constexpr std::size_t count = 256;
  std::unique_ptr<OpenGL> gl;
  GLuint name = 0, texture = 0;
  Stream stream = device.create_stream();
};

TEST_F(GraphicsResourceTest, BufferIsMappedForKernels) {
  Kernel scale = compile(scale_source, "scale");
  GraphicsResource resource = GraphicsResource::from_gl_buffer(name);
  EXPECT_NE(resource.handle(), nullptr);
  EXPECT_EQ(resource.resource_handle(), resource.handle());
  EXPECT_FALSE(resource.is_mapped());
  Buffer buffer = resource.map(stream);
  EXPECT_TRUE(resource.is_mapped());
  EXPECT_EQ(buffer.size(), count * sizeof(float));
  EXPECT_TRUE(buffer.is_device_accessible());
  EXPECT_FALSE(buffer.is_managed());
  EXPECT_EQ(buffer.device_id(), 0);
  EXPECT_EQ(buffer.memory_resource(), std::nullopt);
  EXPECT_THROW(buffer.copy_to(stream), WrongState);
  launch(stream, {.grid = 1, .block = 256}, scale, buffer, 3.0f, count);
  resource.unmap();
  EXPECT_FALSE(resource.is_mapped());
  EXPECT_EQ(buffer.handle(), 0u);
  EXPECT_EQ(contents(), scaled(3));
}

TEST_F(GraphicsResourceTest, ClosingTheBufferUnmaps) {
  GraphicsResource resource = GraphicsResource::from_gl_buffer(name, {.write_discard = true});
  Buffer buffer = resource.map(stream);
  buffer.fill<float>(2.5f, stream);
  buffer.close();
  EXPECT_FALSE(resource.is_mapped());
  EXPECT_EQ(contents(), std::vector<float>(count, 2.5f));
  resource.map(stream).fill<float>(1.5f, stream);
  EXPECT_TRUE(resource.is_mapped());  // though nobody kept the buffer
  resource.unmap(device.create_stream());
  resource.close();
}

TEST_F(GraphicsResourceTest, BufferOutlivesItsResource) {
  Buffer buffer = GraphicsResource::from_gl_buffer(name, {.write_discard = true}).map(stream);
  buffer.fill<float>(4, stream);
  buffer = {};
  EXPECT_EQ(contents(), std::vector<float>(count, 4));
}

TEST_F(GraphicsResourceTest, ClosingTheResourceUnmaps) {
  GraphicsResource resource = GraphicsResource::from_gl_buffer(name, {.write_discard = true});
  Buffer buffer = resource.map(stream);
  buffer.fill<float>(5, stream);
  resource.close(stream);
  EXPECT_EQ(buffer.handle(), 0u);
  EXPECT_EQ(contents(), std::vector<float>(count, 5));
  resource.close();
  EXPECT_EQ(resource.handle(), nullptr);
  EXPECT_FALSE(resource.is_mapped());
  EXPECT_THAT(error_of<WrongState>([&] { resource.map(stream); }), HasSubstr("closed"));
  EXPECT_THAT(error_of<WrongState>([&] { resource.unmap(); }), HasSubstr("closed"));
}

TEST_F(GraphicsResourceTest, UnmappingComesAfterTheStream) {
  GraphicsResource resource = GraphicsResource::from_gl_buffer(name, {.write_discard = true});
  Buffer buffer = resource.map(stream);
  Gate gate(stream);
  buffer.fill<float>(6, stream);
  std::thread opener([&] { gate.open(); });
  resource.unmap();
  opener.join();
  EXPECT_EQ(contents(), std::vector<float>(count, 6));
}

TEST_F(GraphicsResourceTest, StatesAreTold) {
  GraphicsResource resource = GraphicsResource::from_gl_buffer(name);
  EXPECT_THAT(error_of<WrongState>([&] { resource.unmap(); }), HasSubstr("not mapped"));
  Buffer buffer = resource.map(stream);
  EXPECT_THAT(error_of<WrongState>([&] { resource.map(stream); }), HasSubstr("already mapped"));
  EXPECT_THAT(error_of<WrongState>([&] { resource.map_image(stream); }), HasSubstr("already mapped"));
  resource.unmap();
  EXPECT_THAT(error_of<WrongState>([&] { GraphicsResource().map(stream); }), HasSubstr("empty"));
}

TEST_F(GraphicsResourceTest, ImageIsMappedAsArrays) {
  GraphicsResource resource = GraphicsResource::from_gl_image(texture, GL_TEXTURE_2D, {.surface_load_store = true});
  MappedImage image = resource.map_image(stream);
  EXPECT_TRUE(resource.is_mapped());
  EXPECT_EQ(image.handle(), resource.handle());
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  driver::call<&driver::Api::cuArray3DGetDescriptor>(&descriptor, image.array());
  EXPECT_EQ(descriptor.Width, 8u);
  EXPECT_EQ(descriptor.Height, 4u);
  CUarray first = nullptr;
  driver::call<&driver::Api::cuMipmappedArrayGetLevel>(&first, image.mipmapped_array(), 0u);
  EXPECT_NE(first, nullptr);
  EXPECT_THROW(image.array(0, 1), DriverError);
  EXPECT_THROW(image.array(1), DriverError);
  const MappedImage same = image;
  EXPECT_EQ(same, image);
  EXPECT_EQ(std::unordered_set<MappedImage>({same, image}).size(), 1u);
  image.close(stream);
  EXPECT_FALSE(resource.is_mapped());
  EXPECT_THROW(same.array(), WrongState);
  MappedImage again = resource.map_image(stream);
  EXPECT_NE(again, image);
  resource.unmap();
  EXPECT_EQ(again.handle(), nullptr);
}

TEST_F(GraphicsResourceTest, KernelsWriteImagesThroughSurfaces) {
  Kernel number = compile(R"(extern "C" __global__ void number(unsigned long long pixels) {
      surf2Dwrite(make_uchar4(threadIdx.x, threadIdx.y, 3, 4), pixels, 4 * threadIdx.x, threadIdx.y);
    })",
                          "number");
  GraphicsResource resource = GraphicsResource::from_gl_image(texture, GL_TEXTURE_2D, {.surface_load_store = true});
  MappedImage image = resource.map_image(stream);
  const texture::OpaqueArray array = image.opaque_array();
  EXPECT_EQ(array.handle(), image.array());
  EXPECT_EQ(array.shape(), (std::vector<std::size_t>{8, 4}));
  EXPECT_EQ(array.format(), texture::ArrayFormatType::uint8);
  texture::SurfaceObject pixels = device.create_surface_object(texture::ResourceDescriptor::from_opaque_array(array));
  launch(stream, {.grid = 1, .block = {8, 4}}, number, pixels);
  resource.unmap();
  std::vector<std::array<std::uint8_t, 4>> seen(32);
  SUPPORT_GL(*gl, glGetTexImage)(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, seen.data());
  for (std::uint8_t i = 0; i < 32; ++i)
    EXPECT_EQ(seen[i],
              (std::array<std::uint8_t, 4>{static_cast<std::uint8_t>(i % 8), static_cast<std::uint8_t>(i / 8), 3, 4}));
  EXPECT_THROW(image.opaque_array(), WrongState);
}

TEST_F(GraphicsResourceTest, WhatItIsNotCannotBeMapped) {
  GraphicsResource buffer = GraphicsResource::from_gl_buffer(name),
                   image = GraphicsResource::from_gl_image(texture, GL_TEXTURE_2D);
  EXPECT_THAT(error_of<DriverError>([&] { image.map(stream); }),
              AllOf(HasSubstr("NOT_MAPPED_AS_POINTER"), HasSubstr("map_image()")));
  EXPECT_FALSE(image.is_mapped());
  EXPECT_THAT(error_of<DriverError>([&] { buffer.map_image(stream); }),
              AllOf(HasSubstr("NOT_MAPPED_AS_ARRAY"), HasSubstr("map()")));
  EXPECT_FALSE(buffer.is_mapped());
  buffer.map(stream);
  buffer.unmap();
}

TEST_F(GraphicsResourceTest, RefusalsSayWhat) {
  EXPECT_THAT(error_of<DriverError>([&] { GraphicsResource::from_gl_buffer(4711); }), HasSubstr("buffer 4711"));
  EXPECT_THAT(error_of<DriverError>([&] { GraphicsResource::from_gl_image(texture, GL_TEXTURE_3D); }),
              HasSubstr("target"));
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { GraphicsResource::from_gl_buffer(name, {.read_only = true, .write_discard = true}); }),
              HasSubstr("read_only"));
}

TEST_F(GraphicsResourceTest, StaysMappedWithoutTheContext) {
  if (driver::info().kind == driver::Choice::nvidia) GTEST_SKIP() << "what NVIDIA's driver does is not documented";
  GraphicsResource resource = GraphicsResource::from_gl_buffer(name);
  Buffer buffer = resource.map(stream);
  gl->leave();
  const std::string refused = error_of<DriverError>([&] { resource.unmap(); });
  EXPECT_THAT(refused, HasSubstr("INVALID_GRAPHICS_CONTEXT"));
  if (driver::api().cuLogsDumpToMemory.function) {
    EXPECT_THAT(refused, HasSubstr("no OpenGL context is current"));
  }
  EXPECT_THROW(GraphicsResource::from_gl_buffer(name), DriverError);
  EXPECT_TRUE(resource.is_mapped());
  gl->make_current();
  resource.unmap();
  EXPECT_FALSE(resource.is_mapped());
}

TEST_F(GraphicsResourceTest, TellsTheLogWhatFailsWhenItGoes) {
  if (driver::info().kind == driver::Choice::nvidia) GTEST_SKIP() << "what NVIDIA's driver does is not documented";
  CapturedLog log;
  {
    GraphicsResource resource = GraphicsResource::from_gl_buffer(name);
    Buffer buffer = resource.map(stream);
    gl->leave();
    buffer.close();
    EXPECT_TRUE(resource.is_mapped());
    EXPECT_THAT(log.lines, Contains(HasSubstr("INVALID_GRAPHICS_CONTEXT")));
    gl->make_current();
    resource.close();
  }
  EXPECT_EQ(live_objects().graphics_resources, 0u);
}

TEST_F(GraphicsResourceTest, PrintsAndComparesAsHandlesDo) {
  GraphicsResource resource = GraphicsResource::from_gl_buffer(name), copy = resource,
                   other = GraphicsResource::from_gl_buffer(name);
  EXPECT_EQ(resource, copy);
  EXPECT_NE(resource, other);
  EXPECT_EQ(std::unordered_set<GraphicsResource>({resource, copy, other}).size(), 2u);
  EXPECT_EQ(live_objects().graphics_resources, 2u);
  std::ostringstream out;
  out << resource << ' ' << GraphicsResource();
  copy.close();
  out << ' ' << resource;
  EXPECT_THAT(out.str(), AllOf(HasSubstr("graphics resource 0x"), HasSubstr("an empty graphics resource"),
                               HasSubstr("a closed graphics resource")));
  EXPECT_EQ(resource, copy);
}

}  // namespace
}  // namespace cuprum::tests
