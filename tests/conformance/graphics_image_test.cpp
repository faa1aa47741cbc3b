// Textures and renderbuffers of OpenGL as graphics resources.
#include "conformance/graphics_image.hpp"

#include <algorithm>
#include <random>

namespace conformance {
namespace {

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

TEST_F(GraphicsImage, MayBeGivenMoreLevelsAfterItWasRegistered) {
  const GLuint name = make_picture(4, 4, random_words(16, 2));
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D);
    GL(glBindTexture)(GL_TEXTURE_2D, name);
    GL(glGenerateMipmap)(GL_TEXTURE_2D);
    ASSERT_SUCCESS(image.map());
    CUarray array = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsSubResourceGetMappedArray)(&array, image.get(), 0, 1));
    fill_array(image.array(), 4, 4, 1, random_words(16, 3));
    ASSERT_SUCCESS(image.unmap());
  }
  EXPECT_EQ(image_of<std::uint32_t>(name, GL_TEXTURE_2D, GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, 16),
            random_words(16, 3));
  delete_texture(name);
}

TEST_F(GraphicsImage, HasItsLevelsWhicheverOpenGLIsToSample) {
  const GLuint name = make_texture(GL_TEXTURE_2D);
  GL(glTexStorage2D)(GL_TEXTURE_2D, 3, GL_R32UI, 8, 4);
  {
    Registered image = Registered::image(name, GL_TEXTURE_2D);
    ASSERT_SUCCESS(image.map());
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 1);
    fill_array(image.array(0, 2), 2, 1, 1, std::vector<std::uint32_t>{77, 88});
    ASSERT_SUCCESS(image.unmap());
    EXPECT_EQ(image_of<std::uint32_t>(name, GL_TEXTURE_2D, GL_TEXTURE_2D, 2, GL_RED_INTEGER, GL_UNSIGNED_INT, 2),
              (std::vector<std::uint32_t>{77, 88}));
    EXPECT_SUCCESS(image.map());
    EXPECT_SUCCESS(image.unmap());
  }
  delete_texture(name);
}

TEST_F(GraphicsImage, HasNoLevelOfAnotherDepth) {
  const GLuint name = make_texture(GL_TEXTURE_3D);
  const auto words = random_words(4 * 4 * 4, 3);
  GL(glTexImage3D)(GL_TEXTURE_3D, 0, GL_R32UI, 4, 4, 4, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, words.data());
  GL(glTexImage3D)(GL_TEXTURE_3D, 1, GL_R32UI, 2, 2, 512, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, nullptr);
  {
    Registered image = Registered::image(name, GL_TEXTURE_3D);
    ASSERT_SUCCESS(image.map());
    EXPECT_EQ(read_array<std::uint32_t>(image.array(), 4, 4, 4), words);
    CUarray array = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsSubResourceGetMappedArray)(&array, image.get(), 0, 1));
    ASSERT_SUCCESS(image.unmap());
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

TEST_F(GraphicsImage, HasFacesThatAreAlike) {
  if (!is_softgpu()) GTEST_SKIP() << "what NVIDIA's driver returns is not documented";
  const GLuint name = make_texture(GL_TEXTURE_CUBE_MAP);
  const auto put_face = [&](unsigned face, GLenum format, GLsizei size) {
    GL(glTexImage2D)(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, static_cast<GLint>(format), size, size, 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, nullptr);
  };
  for (unsigned face = 0; face < 5; ++face) put_face(face, GL_RGBA8, 4);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(name, GL_TEXTURE_CUBE_MAP)) << "one is missing";
  put_face(5, GL_RGBA8, 512);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(name, GL_TEXTURE_CUBE_MAP)) << "one is larger";
  put_face(5, GL_RGBA32F, 4);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_register(name, GL_TEXTURE_CUBE_MAP)) << "one has another format";
  put_face(5, GL_RGBA8, 4);
  EXPECT_SUCCESS(try_register(name, GL_TEXTURE_CUBE_MAP));
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

}  // namespace
}  // namespace conformance
