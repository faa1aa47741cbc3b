#include "softgpu/runtime/code/device_code.hpp"

#include <gtest/gtest.h>

#include "device_image/fatbin.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "tests/unit/device_image/images.hpp"

namespace softgpu::runtime {
namespace {

using cuprum::device_image::EntryKind;
using cuprum::device_image::FatbinImage;
using cuprum::device_image::write_fatbin;

FatbinImage ptx_for(unsigned architecture, std::string_view text) {
  return {.kind = EntryKind::ptx, .architecture = {architecture}, .contents = text};
}

FatbinImage machine_code() { return {.kind = EntryKind::cubin, .architecture = {90}, .contents = "machine code"}; }

// The text of the only part.
std::string ptx(const void* image, std::size_t size, unsigned capability = 90) {
  const std::vector<PtxPart> parts = ptx_of(image, size, capability);
  EXPECT_EQ(parts.size(), 1u);
  return parts.front().text;
}
std::string ptx(const std::string& image, unsigned capability = 90) {
  return ptx(image.data(), image.size(), capability);
}

CUresult refusal_of(const std::string& image, unsigned capability = 90) {
  try {
    ptx(image, capability);
  } catch (const Failure& failure) {
    EXPECT_STRNE(failure.what(), "");
    return failure.code();
  }
  return CUDA_SUCCESS;
}

TEST(DeviceCode, NewestPtxForTheDeviceIsTaken) {
  const std::string image =
      write_fatbin({ptx_for(75, "seventy-five"), ptx_for(90, "ninety"), ptx_for(100, "hundred"), machine_code()});
  EXPECT_EQ(ptx(image, 90), "ninety");
  EXPECT_EQ(ptx(image, 89), "seventy-five");
  EXPECT_EQ(ptx(image, 120), "hundred");
}

TEST(DeviceCode, PtxForAllGpusOfACapabilityComesFirst) {
  FatbinImage specific = ptx_for(90, "ninety-a");
  specific.architecture.variant = 'a';
  EXPECT_EQ(ptx(write_fatbin({specific, ptx_for(90, "ninety"), ptx_for(80, "eighty")})), "ninety");
  EXPECT_EQ(ptx(write_fatbin({ptx_for(80, "eighty"), specific})), "ninety-a");
}

TEST(DeviceCode, SeveralModulesForOneArchitectureBelongTogether) {
  const std::string image = write_fatbin({ptx_for(80, "old"), ptx_for(90, "one"), machine_code(), ptx_for(90, "two")});
  const std::vector<PtxPart> parts = ptx_of(image.data(), image.size(), 90);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].text, "one");
  EXPECT_EQ(parts[1].text, "two");
}

TEST(DeviceCode, ImageKeepsModulesAndTheirNames) {
  const std::string image = image_of({{"a.ptx", "one"}, {"", "two"}}, 75);
  const std::vector<PtxPart> parts = ptx_of(image.data(), image.size(), 90);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "a.ptx");
  EXPECT_EQ(parts[0].text, "one");
  EXPECT_EQ(parts[1].name, "");
  EXPECT_EQ(refusal_of(image, 70), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST(DeviceCode, MachineCodeAloneIsRefused) {
  EXPECT_EQ(refusal_of(write_fatbin({machine_code()})), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(refusal_of(write_fatbin({ptx_for(100, "hundred")})), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(refusal_of(cuprum::tests::raw_elf()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

std::string words_of_refusal(const std::string& image) {
  try {
    ptx(image);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

TEST(DeviceCode, RefusalsSayWhatToDo) {
  using cuprum::tests::raw_elf;
  EXPECT_NE(words_of_refusal(raw_elf()).find("compile to PTX"), std::string::npos);
  EXPECT_NE(words_of_refusal(raw_elf({.machine = EM_X86_64})).find("cuLinkAddData"), std::string::npos);
  EXPECT_NE(words_of_refusal("\177ELF\2\1").find("cut off"), std::string::npos);
  EXPECT_NE(words_of_refusal(cuprum::tests::raw_archive({})).find("archive"), std::string::npos);
  EXPECT_NE(words_of_refusal(cuprum::tests::raw_ltoir()).find("nvJitLink"), std::string::npos);
  EXPECT_EQ(
      words_of_refusal(write_fatbin({machine_code()})),
      "softgpu runs PTX, and the fatbin holds none for compute_90 or older; it holds sm_90: compile it for that, too "
      "(nvcc -gencode arch=compute_90,code=compute_90)");
  EXPECT_NE(words_of_refusal(write_fatbin({machine_code(), ptx_for(120, "newer")}))
                .find("or set SOFTGPU_COMPUTE_CAPABILITY=12.0"),
            std::string::npos);
}

TEST(DeviceCode, TruncatedFatbinIsRefused) {
  const std::string whole = write_fatbin({ptx_for(90, "ninety")});
  for (const std::size_t size : {4, 15, 16, 60, 100})
    EXPECT_EQ(refusal_of(whole.substr(0, size)), CUDA_ERROR_INVALID_IMAGE) << size;
}

TEST(DeviceCode, FatbinOfUnknownSizeEndsWhereItsHeaderSays) {
  const std::string image = write_fatbin({ptx_for(90, "ninety")}) + "and more";
  EXPECT_EQ(ptx(image.data(), kUnknownSize), "ninety");
}

TEST(DeviceCode, ProgramsPointToTheirFatbin) {
  const std::string inner = write_fatbin({ptx_for(90, "text")});
  const struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* fatbin;
    const void* unused = nullptr;
  } wrapper{.fatbin = inner.data()};
  EXPECT_EQ(ptx(&wrapper, kUnknownSize), "text");
}

TEST(DeviceCode, TextEndsAtItsNullCharacterOrItsSize) {
  EXPECT_EQ(ptx("text", kUnknownSize), "text");
  EXPECT_EQ(ptx("text and more", 4), "text");
  EXPECT_EQ(ptx("text\0more", 9), "text");
}

TEST(DeviceCode, GarbageIsRefused) {
  EXPECT_EQ(refusal_of("\1\2\3\4"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_THROW(ptx_of("", kUnknownSize, 90), Failure);
  EXPECT_THROW(ptx_of(nullptr, kUnknownSize, 90), Failure);
}

}  // namespace
}  // namespace softgpu::runtime
