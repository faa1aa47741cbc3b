#include "softgpu/runtime/fatbin.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>

#include "softgpu/runtime/device_code.hpp"
#include "softgpu/runtime/error.hpp"

namespace softgpu::runtime {
namespace {

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

constexpr std::uint64_t kPlain = 0x11, kLz4 = 0x2011, kZstd = 0x8011;

struct Entry {
  bool ptx = true;
  std::uint32_t architecture = 90;
  std::uint64_t flags = kPlain;
  std::string payload;
  std::uint64_t decompressed = 0;
};

// As fatbinary lays it out.
std::string fatbin(const std::vector<Entry>& entries) {
  std::string body;
  for (const Entry& entry : entries) {
    const std::size_t padded = (entry.payload.size() + 7) / 8 * 8;
    const bool compressed = entry.flags != kPlain;
    put<std::uint16_t>(body, entry.ptx ? 1 : 2);
    put<std::uint16_t>(body, 0x101);
    put<std::uint32_t>(body, 64);
    put<std::uint64_t>(body, padded);
    put<std::uint32_t>(body, compressed ? static_cast<std::uint32_t>(entry.payload.size()) : 0);
    put<std::uint32_t>(body, 0);
    put<std::uint32_t>(body, 0x00090000);
    put<std::uint32_t>(body, entry.architecture);
    put<std::uint64_t>(body, 0);
    put<std::uint64_t>(body, entry.flags);
    put<std::uint64_t>(body, 0);
    put<std::uint64_t>(body, entry.decompressed);
    body += entry.payload + std::string(padded - entry.payload.size(), '\0');
  }
  std::string whole;
  put<std::uint32_t>(whole, 0xba55ed50);
  put<std::uint16_t>(whole, 1);
  put<std::uint16_t>(whole, 16);
  put<std::uint64_t>(whole, body.size());
  return whole + body;
}

std::string compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

std::string ptx(const std::string& image, unsigned capability = 90) {
  return ptx_of(image.data(), image.size(), capability);
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

TEST(Fatbin, HoldsPlainPtx) { EXPECT_EQ(ptx(fatbin({{.payload = ".version 9.0"}})), ".version 9.0"); }

TEST(Fatbin, HoldsCompressedPtx) {
  const std::string text(1000, 'x');
  EXPECT_EQ(ptx(fatbin({{.flags = kZstd, .payload = compressed(text), .decompressed = 1000}})), text);
  EXPECT_EQ(ptx(fatbin({{.flags = kLz4, .payload = "\x50hello", .decompressed = 5}})), "hello");
}

TEST(Fatbin, NewestPtxForTheDeviceIsTaken) {
  const std::string image = fatbin({{.architecture = 75, .payload = "seventy-five"},
                                    {.architecture = 90, .payload = "ninety"},
                                    {.architecture = 100, .payload = "hundred"},
                                    {.ptx = false, .architecture = 90, .payload = "machine code"}});
  EXPECT_EQ(ptx(image, 90), "ninety");
  EXPECT_EQ(ptx(image, 89), "seventy-five");
  EXPECT_EQ(ptx(image, 120), "hundred");
}

TEST(Fatbin, MachineCodeAloneIsRefused) {
  EXPECT_EQ(refusal_of(fatbin({{.ptx = false, .payload = "machine code"}})), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(refusal_of(fatbin({{.architecture = 100, .payload = "hundred"}})), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(refusal_of(std::string("\177ELF\2\1\1\0", 8)), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST(Fatbin, EveryTruncationIsRefused) {
  const std::string text(300, 'x');
  const std::string whole = fatbin({{.flags = kZstd, .payload = compressed(text), .decompressed = 300}});
  for (std::size_t size = 4; size < whole.size(); ++size)
    EXPECT_NE(refusal_of(whole.substr(0, size)), CUDA_SUCCESS) << size;
}

TEST(Fatbin, WrongSizesAreRefused) {
  EXPECT_EQ(refusal_of(fatbin({{.flags = kZstd, .payload = "no zstd", .decompressed = 10}})), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(refusal_of(fatbin({{.flags = kLz4, .payload = "\x50hello", .decompressed = 6}})), CUDA_ERROR_INVALID_IMAGE);
}

TEST(Fatbin, ProgramsPointToIt) {
  const std::string inner = fatbin({{.payload = "text"}});
  const struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* fatbin;
    const void* unused = nullptr;
  } wrapper{.fatbin = inner.data()};
  EXPECT_EQ(ptx_of(&wrapper, kUnknownSize, 90), "text");
}

TEST(DeviceCode, TextEndsAtItsNullCharacterOrItsSize) {
  EXPECT_EQ(ptx_of("text", kUnknownSize, 90), "text");
  EXPECT_EQ(ptx_of("text and more", 4, 90), "text");
  EXPECT_EQ(ptx_of("text\0more", 9, 90), "text");
}

TEST(DeviceCode, GarbageIsRefused) {
  EXPECT_EQ(refusal_of("\1\2\3\4"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_THROW(ptx_of(nullptr, kUnknownSize, 90), Failure);
}

}  // namespace
}  // namespace softgpu::runtime
