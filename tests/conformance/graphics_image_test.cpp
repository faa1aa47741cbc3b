// Textures and renderbuffers of OpenGL as graphics resources.
#include <algorithm>
#include <random>

#include "conformance/graphics.hpp"
#include "conformance/texture.hpp"

namespace conformance {
namespace {

struct Format {
  const char* name;
  GLint internal_format;
  GLenum format, type;
  CUarray_format cuda_format;
  unsigned channels;
  std::size_t bytes;  // of a pixel
};
void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

class GraphicsImage : public GraphicsTest {
 protected:
  explicit GraphicsImage(Profile profile = Profile::core) : GraphicsTest(profile) {}

  GLuint make_texture(GLenum target) const {
    GLuint name = 0;
    GL(glGenTextures)(1, &name);
    GL(glBindTexture)(target, name);
    if (target != GL_TEXTURE_RECTANGLE) GL(glTexParameteri)(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    GL(glPixelStorei)(GL_UNPACK_ALIGNMENT, 1);
    GL(glPixelStorei)(GL_PACK_ALIGNMENT, 1);
    return name;
  }
  GLuint make_picture(unsigned width, unsigned height, const std::vector<std::uint32_t>& pixels) const {
    const GLuint name = make_texture(GL_TEXTURE_2D);
    GL(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA8, static_cast<GLsizei>(width), static_cast<GLsizei>(height), 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, pixels.data());
    return name;
  }
  template <typename T>
  std::vector<T> image_of(GLuint name, GLenum target, GLenum image, int level, GLenum format, GLenum type,
                          std::size_t count) const {
    std::vector<T> pixels(count);
    GL(glBindTexture)(target, name);
    GL(glGetTexImage)(image, level, format, type, pixels.data());
    return pixels;
  }
  void delete_texture(GLuint name) const { GL(glDeleteTextures)(1, &name); }
  CUresult try_register(GLuint name, GLenum target, unsigned flags = 0) const {
    CUgraphicsResource resource = nullptr;
    const CUresult result = CU(cuGraphicsGLRegisterImage)(&resource, name, target, flags);
    if (result == CUDA_SUCCESS) CU(cuGraphicsUnregisterResource)(resource);
    return result;
  }
};

std::vector<std::uint32_t> random_words(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return words;
}

TEST_F(GraphicsImage, IsWrittenThroughASurface) {
  const std::vector<std::uint32_t> before = random_words(16 * 8, 1);
  const GLuint name = make_picture(16, 8, before);
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    ASSERT_SUCCESS(image.map());
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    EXPECT_SUCCESS(CU(cuArray3DGetDescriptor)(&descriptor, image.array()));
    EXPECT_EQ(descriptor.Width, 16u);
    EXPECT_EQ(descriptor.Height, 8u);
    EXPECT_EQ(descriptor.Depth, 0u);
    EXPECT_EQ(descriptor.Format, CU_AD_FORMAT_UNSIGNED_INT8);
    EXPECT_EQ(descriptor.NumChannels, 4u);
    EXPECT_EQ(read_array<std::uint32_t>(image.array(), 16, 8, 1), before);
    {
      const TestSurface surface(image.array());
      run_on_lanes("sust.b.2d.b32.trap [%h, {%r0, %r1}], {%r2};", surface.get(), {{4 * 3, 2, 0x11223344}});
    }
    ASSERT_SUCCESS(image.unmap());
    std::vector<std::uint32_t> after = before;
    after[2 * 16 + 3] = 0x11223344;
    EXPECT_EQ(image_of<std::uint32_t>(name, GL_TEXTURE_2D, GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, 128), after);
  }
  delete_texture(name);
}

TEST_F(GraphicsImage, IsSampledAsATexture) {
  const GLuint name = make_picture(4, 4, random_words(16, 2));
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    ASSERT_SUCCESS(image.map());
    {
      const TestTexture texture(resource_of(image.array()), nearest_texel());
      const auto texels =
          run_on_lanes("tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1}];", texture.get(), {lanes(1.5f, 2.5f)});
      const std::uint32_t expected = random_words(16, 2)[2 * 4 + 1];
      EXPECT_EQ(texels[0], (Lanes{expected & 255, expected >> 8 & 255, expected >> 16 & 255, expected >> 24}));
    }
    ASSERT_SUCCESS(image.unmap());
  }
  delete_texture(name);
}

TEST_F(GraphicsImage, IsNoBuffer) {
  const GLuint name = make_picture(4, 4, random_words(16, 2));
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D);
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    CUarray array = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED, CU(cuGraphicsSubResourceGetMappedArray)(&array, image.get(), 0, 0));
    ASSERT_SUCCESS(image.map());
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED_AS_POINTER,
                      CU(cuGraphicsResourceGetMappedPointer)(&pointer, &size, image.get()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsSubResourceGetMappedArray)(&array, image.get(), 1, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsSubResourceGetMappedArray)(&array, image.get(), 0, 1));
    ASSERT_SUCCESS(image.unmap());
  }
  delete_texture(name);
}

TEST_F(GraphicsImage, KeepsItsArraysFromBeingDestroyed) {
  if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver need not look";
  const GLuint name = make_picture(4, 4, random_words(16, 2));
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D);
    ASSERT_SUCCESS(image.map());
    CUmipmappedArray levels = nullptr;
    EXPECT_SUCCESS(CU(cuGraphicsResourceGetMappedMipmappedArray)(&levels, image.get()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuMipmappedArrayDestroy)(levels));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuArrayDestroy)(image.array()));
    EXPECT_EQ(read_array<std::uint32_t>(image.array(), 4, 4, 1), random_words(16, 2));
    ASSERT_SUCCESS(image.unmap());
  }
  delete_texture(name);
}

TEST_F(GraphicsImage, HasLevels) {
  const GLuint name = make_texture(GL_TEXTURE_2D);
  GL(glTexStorage2D)(GL_TEXTURE_2D, 3, GL_R32UI, 8, 4);
  for (int level = 0; level < 3; ++level) {
    const auto words = random_words(32, 10 + static_cast<unsigned>(level));
    GL(glTexSubImage2D)(GL_TEXTURE_2D, level, 0, 0, 8 >> level, 4 >> level, GL_RED_INTEGER, GL_UNSIGNED_INT,
                        words.data());
  }
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D);
    ASSERT_SUCCESS(image.map());
    CUmipmappedArray levels = nullptr;
    EXPECT_SUCCESS(CU(cuGraphicsResourceGetMappedMipmappedArray)(&levels, image.get()));
    CUarray array = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMipmappedArrayGetLevel)(&array, levels, 3));
    for (unsigned level = 0; level < 3; ++level) {
      auto words = random_words(32, 10 + level);
      words.resize(std::size_t{8} * 4 >> 2 * level);
      EXPECT_SUCCESS(CU(cuMipmappedArrayGetLevel)(&array, levels, level));
      EXPECT_EQ(read_array<std::uint32_t>(array, 8 >> level, 4 >> level, 1), words);
    }
    fill_array(image.array(0, 2), 2, 1, 1, std::vector<std::uint32_t>{77, 88});
    ASSERT_SUCCESS(image.unmap());
    EXPECT_EQ(image_of<std::uint32_t>(name, GL_TEXTURE_2D, GL_TEXTURE_2D, 2, GL_RED_INTEGER, GL_UNSIGNED_INT, 2),
              (std::vector<std::uint32_t>{77, 88}));
  }
  delete_texture(name);
}

TEST_F(GraphicsImage, HasSlices) {
  const GLuint name = make_texture(GL_TEXTURE_3D);
  const auto words = random_words(4 * 3 * 5, 3);
  GL(glTexImage3D)(GL_TEXTURE_3D, 0, GL_R32UI, 4, 3, 5, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, words.data());
  {
    Registered image = Registered::image(name, GL_TEXTURE_3D);
    ASSERT_SUCCESS(image.map());
    EXPECT_EQ(read_array<std::uint32_t>(image.array(), 4, 3, 5), words);
    fill_array(image.array(), 4, 3, 5, random_words(60, 4));
    ASSERT_SUCCESS(image.unmap());
  }
  EXPECT_EQ(image_of<std::uint32_t>(name, GL_TEXTURE_3D, GL_TEXTURE_3D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 60),
            random_words(60, 4));
  delete_texture(name);
}

TEST_F(GraphicsImage, HasLayers) {
  const GLuint name = make_texture(GL_TEXTURE_2D_ARRAY);
  auto words = random_words(4 * 2 * 3, 5);
  GL(glTexImage3D)(GL_TEXTURE_2D_ARRAY, 0, GL_R32UI, 4, 2, 3, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, words.data());
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D_ARRAY);
    ASSERT_SUCCESS(image.map());
    for (unsigned layer = 0; layer < 3; ++layer)
      EXPECT_EQ(read_array<std::uint32_t>(image.array(layer), 4, 2, 1),
                std::vector<std::uint32_t>(words.begin() + 8 * layer, words.begin() + 8 * (layer + 1)));
    CUarray array = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsSubResourceGetMappedArray)(&array, image.get(), 3, 0));
    fill_array(image.array(1), 4, 2, 1, std::vector<std::uint32_t>(8, 9));
    ASSERT_SUCCESS(image.unmap());
  }
  std::fill_n(words.begin() + 8, 8, 9u);
  EXPECT_EQ(
      image_of<std::uint32_t>(name, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_ARRAY, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 24),
      words);
  delete_texture(name);
}

TEST_F(GraphicsImage, HasFaces) {
  const GLuint name = make_texture(GL_TEXTURE_CUBE_MAP);
  for (unsigned face = 0; face < 6; ++face)
    GL(glTexImage2D)(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_R32UI, 4, 4, 0, GL_RED_INTEGER, GL_UNSIGNED_INT,
                     random_words(16, 20 + face).data());
  {
    Registered image = Registered::image(name, GL_TEXTURE_CUBE_MAP);
    ASSERT_SUCCESS(image.map());
    for (unsigned face = 0; face < 6; ++face)
      EXPECT_EQ(read_array<std::uint32_t>(image.array(face), 4, 4, 1), random_words(16, 20 + face));
    fill_array(image.array(CU_CUBEMAP_FACE_NEGATIVE_Y), 4, 4, 1, random_words(16, 30));
    ASSERT_SUCCESS(image.unmap());
  }
  EXPECT_EQ(image_of<std::uint32_t>(name, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_NEGATIVE_Y, 0, GL_RED_INTEGER,
                                    GL_UNSIGNED_INT, 16),
            random_words(16, 30));
  delete_texture(name);
}

TEST_F(GraphicsImage, MayBeARenderbuffer) {
  GLuint name = 0, framebuffer = 0;
  GL(glGenRenderbuffers)(1, &name);
  GL(glBindRenderbuffer)(GL_RENDERBUFFER, name);
  GL(glRenderbufferStorage)(GL_RENDERBUFFER, GL_RGBA8, 8, 4);
  GL(glGenFramebuffers)(1, &framebuffer);
  GL(glBindFramebuffer)(GL_FRAMEBUFFER, framebuffer);
  GL(glFramebufferRenderbuffer)(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name);
  GL(glClearColor)(1, 0, 0, 1);
  GL(glClear)(GL_COLOR_BUFFER_BIT);
  {
    Registered image = Registered::image(name, GL_RENDERBUFFER);
    ASSERT_SUCCESS(image.map());
    EXPECT_EQ(read_array<std::uint32_t>(image.array(), 8, 4, 1), std::vector<std::uint32_t>(32, 0xff0000ff));
    fill_array(image.array(), 8, 4, 1, random_words(32, 6));
    ASSERT_SUCCESS(image.unmap());
  }
  std::vector<std::uint32_t> pixels(32);
  GL(glReadPixels)(0, 0, 8, 4, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  EXPECT_EQ(pixels, random_words(32, 6));
  GL(glRenderbufferStorageMultisample)(GL_RENDERBUFFER, 4, GL_RGBA8, 8, 4);
  EXPECT_NE(try_register(name, GL_RENDERBUFFER), CUDA_SUCCESS);
  GL(glDeleteFramebuffers)(1, &framebuffer);
  GL(glDeleteRenderbuffers)(1, &name);
}

TEST_F(GraphicsImage, LeavesPixelStorageAndBindingsOfTheProgram) {
  const GLuint name = make_picture(4, 4, random_words(16, 2)), other = make_texture(GL_TEXTURE_2D);
  const GLuint pixels = make_buffer(std::vector<char>(1024));
  GL(glPixelStorei)(GL_PACK_ROW_LENGTH, 100);
  GL(glPixelStorei)(GL_UNPACK_ROW_LENGTH, 100);
  GL(glPixelStorei)(GL_UNPACK_SKIP_ROWS, 3);
  GL(glBindBuffer)(GL_PIXEL_PACK_BUFFER, pixels);
  GL(glBindBuffer)(GL_PIXEL_UNPACK_BUFFER, pixels);
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D);
    ASSERT_SUCCESS(image.map());
    EXPECT_EQ(read_array<std::uint32_t>(image.array(), 4, 4, 1), random_words(16, 2));
    fill_array(image.array(), 4, 4, 1, random_words(16, 7));
    ASSERT_SUCCESS(image.unmap());
  }
  const std::pair<GLenum, GLuint> expected[] = {{GL_PACK_ROW_LENGTH, 100u},
                                                {GL_UNPACK_ROW_LENGTH, 100u},
                                                {GL_UNPACK_SKIP_ROWS, 3u},
                                                {GL_PIXEL_PACK_BUFFER_BINDING, pixels},
                                                {GL_PIXEL_UNPACK_BUFFER_BINDING, pixels},
                                                {GL_TEXTURE_BINDING_2D, other}};
  for (const auto& [parameter, value] : expected) {
    GLint now = -1;
    GL(glGetIntegerv)(parameter, &now);
    EXPECT_EQ(static_cast<GLuint>(now), value) << parameter;
  }
  GL(glPixelStorei)(GL_PACK_ROW_LENGTH, 0);
  GL(glBindBuffer)(GL_PIXEL_PACK_BUFFER, 0);
  EXPECT_EQ(image_of<std::uint32_t>(name, GL_TEXTURE_2D, GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, 16),
            random_words(16, 7));
  delete_buffer(pixels);
  delete_texture(other);
  delete_texture(name);
}

TEST_F(GraphicsImage, MustBeOneThatCudaTakes) {
  const GLuint picture = make_picture(4, 4, random_words(16, 2)), untouched = make_texture(GL_TEXTURE_2D),
               rgb = make_texture(GL_TEXTURE_2D), depth = make_texture(GL_TEXTURE_2D);
  GL(glBindTexture)(GL_TEXTURE_2D, rgb);
  GL(glTexStorage2D)(GL_TEXTURE_2D, 1, GL_RGB8, 4, 4);
  GL(glBindTexture)(GL_TEXTURE_2D, depth);
  GL(glTexStorage2D)(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT24, 4, 4);
  GLuint multisampled = 0;
  GL(glGenTextures)(1, &multisampled);
  GL(glBindTexture)(GL_TEXTURE_2D_MULTISAMPLE, multisampled);
  GL(glTexImage2DMultisample)(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 4, 4, GL_TRUE);
  EXPECT_NE(try_register(picture, GL_TEXTURE_3D), CUDA_SUCCESS);
  EXPECT_NE(try_register(untouched, GL_TEXTURE_2D), CUDA_SUCCESS);
  EXPECT_NE(try_register(rgb, GL_TEXTURE_2D), CUDA_SUCCESS);
  EXPECT_NE(try_register(12345, GL_TEXTURE_2D), CUDA_SUCCESS);
  if (is_softgpu()) {  // what NVIDIA's driver returns in these cases is not documented
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(picture, GL_TEXTURE_3D));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(picture, GL_TEXTURE_1D));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(rgb, GL_TEXTURE_2D));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(depth, GL_TEXTURE_2D));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(multisampled, GL_TEXTURE_2D_MULTISAMPLE));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(multisampled, GL_TEXTURE_2D));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(picture, GL_TEXTURE_2D, 0x10));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, try_register(12345, GL_TEXTURE_2D));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, try_register(12345, GL_RENDERBUFFER));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsGLRegisterImage)(nullptr, picture, GL_TEXTURE_2D, 0));
    Registered image = Registered::image(picture, GL_TEXTURE_2D);
    GL(glBindTexture)(GL_TEXTURE_2D, picture);
    GL(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA8, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, image.map());
  }
  for (const GLuint name : {picture, untouched, rgb, depth, multisampled}) delete_texture(name);
}

// Every format: random contents go to CUDA and back as they are, whatever the size.
constexpr Format kFormats[] = {
    {"R8", GL_R8, GL_RED, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
    {"RG16", GL_RG16, GL_RG, GL_UNSIGNED_SHORT, CU_AD_FORMAT_UNSIGNED_INT16, 2, 4},
    {"RGBA8", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4},
    {"RGBA", GL_RGBA, GL_RGBA, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 4, 4},
    {"R16F", GL_R16F, GL_RED, GL_HALF_FLOAT, CU_AD_FORMAT_HALF, 1, 2},
    {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, CU_AD_FORMAT_HALF, 4, 8},
    {"RG32F", GL_RG32F, GL_RG, GL_FLOAT, CU_AD_FORMAT_FLOAT, 2, 8},
    {"RGBA32F", GL_RGBA32F, GL_RGBA, GL_FLOAT, CU_AD_FORMAT_FLOAT, 4, 16},
    {"R8UI", GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
    {"RG8I", GL_RG8I, GL_RG_INTEGER, GL_BYTE, CU_AD_FORMAT_SIGNED_INT8, 2, 2},
    {"R16I", GL_R16I, GL_RED_INTEGER, GL_SHORT, CU_AD_FORMAT_SIGNED_INT16, 1, 2},
    {"RGBA16UI", GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, CU_AD_FORMAT_UNSIGNED_INT16, 4, 8},
    {"RGBA32I", GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, CU_AD_FORMAT_SIGNED_INT32, 4, 16},
    {"RG32UI", GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, CU_AD_FORMAT_UNSIGNED_INT32, 2, 8},
};
// Those that only the compatibility profile has.
constexpr Format kOldFormats[] = {
    {"LUMINANCE8", GL_LUMINANCE8, GL_LUMINANCE, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
    {"LUMINANCE", GL_LUMINANCE, GL_LUMINANCE, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
    {"LUMINANCE16_ALPHA16", GL_LUMINANCE16_ALPHA16, GL_LUMINANCE_ALPHA, GL_UNSIGNED_SHORT, CU_AD_FORMAT_UNSIGNED_INT16,
     2, 4},
    {"ALPHA8", GL_ALPHA8, GL_ALPHA, GL_UNSIGNED_BYTE, CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
    {"ALPHA32F", GL_ALPHA32F_ARB, GL_ALPHA, GL_FLOAT, CU_AD_FORMAT_FLOAT, 1, 4},
    {"INTENSITY16", GL_INTENSITY16, GL_RED, GL_UNSIGNED_SHORT, CU_AD_FORMAT_UNSIGNED_INT16, 1, 2},
};

class GraphicsFormat : public GraphicsImage, public testing::WithParamInterface<Format> {
 protected:
  explicit GraphicsFormat(Profile profile = Profile::core) : GraphicsImage(profile) {}

  // Values that no format changes: small numbers, for floats whole ones.
  static std::vector<std::uint8_t> random_pixels(const Format& format, std::size_t pixels, std::mt19937& random) {
    std::vector<std::uint8_t> bytes(pixels * format.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(random());
    if (format.type == GL_FLOAT)
      for (std::size_t i = 0; i < bytes.size(); i += 4) {
        const float value = static_cast<float>(random() % 2048) - 1024;
        std::memcpy(&bytes[i], &value, 4);
      }
    if (format.type == GL_HALF_FLOAT)
      for (std::size_t i = 0; i < bytes.size(); i += 2) bytes[i + 1] = static_cast<std::uint8_t>(0x30 + random() % 16);
    return bytes;
  }

  void go_to_cuda_and_back(unsigned seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Format& format = GetParam();
    const std::size_t width = 1 + random() % 37, height = 1 + random() % 23;
    const auto first = random_pixels(format, width * height, random),
               second = random_pixels(format, width * height, random);
    const GLuint name = make_texture(GL_TEXTURE_2D);
    GL(glTexImage2D)(GL_TEXTURE_2D, 0, format.internal_format, static_cast<GLsizei>(width),
                     static_cast<GLsizei>(height), 0, format.format, format.type, first.data());
    {
      Registered image = Registered::image(name, GL_TEXTURE_2D);
      ASSERT_SUCCESS(image.map());
      CUDA_ARRAY3D_DESCRIPTOR descriptor{};
      EXPECT_SUCCESS(CU(cuArray3DGetDescriptor)(&descriptor, image.array()));
      EXPECT_EQ(descriptor.Format, format.cuda_format);
      EXPECT_EQ(descriptor.NumChannels, format.channels);
      EXPECT_EQ(read_array<std::uint8_t>(image.array(), width * format.bytes, height, 1), first);
      fill_array(image.array(), width * format.bytes, height, 1, second);
      ASSERT_SUCCESS(image.unmap());
    }
    EXPECT_EQ(image_of<std::uint8_t>(name, GL_TEXTURE_2D, GL_TEXTURE_2D, 0, format.format, format.type, second.size()),
              second);
    delete_texture(name);
  }
};

TEST_P(GraphicsFormat, GoesToCudaAndBackAsItIs) {
  for (unsigned seed = 1; seed <= 8; ++seed) go_to_cuda_and_back(seed);
}
INSTANTIATE_TEST_SUITE_P(All, GraphicsFormat, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(format.param.name); });

class OldGraphicsFormat : public GraphicsFormat {
 protected:
  OldGraphicsFormat() : GraphicsFormat(Profile::compatibility) {}
};

TEST_P(OldGraphicsFormat, GoesToCudaAndBackAsItIs) {
  for (unsigned seed = 1; seed <= 8; ++seed) go_to_cuda_and_back(seed);
}
INSTANTIATE_TEST_SUITE_P(All, OldGraphicsFormat, testing::ValuesIn(kOldFormats),
                         [](const auto& format) { return std::string(format.param.name); });

}  // namespace
}  // namespace conformance
