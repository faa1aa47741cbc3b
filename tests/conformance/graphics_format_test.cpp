// The formats of images that CUDA and OpenGL share.
#include <random>

#include "conformance/graphics_image.hpp"

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
