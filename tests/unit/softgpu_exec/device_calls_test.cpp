// printf of device code, and the table of what it can call.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "softgpu/exec/device_printf.hpp"
#include "softgpu/exec/runtime_calls.hpp"

namespace softgpu::exec {
namespace {

// Arguments packed as NVRTC does it.
class Packed {
 public:
  template <typename T>
  Packed& operator<<(T value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T) + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  const std::byte* data() const { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

std::string formatted(const char* format, const Packed& arguments, int used) {
  PrintedText text;
  EXPECT_EQ(format_device_printf(text, format, arguments.data()), used) << format;
  return std::string(text.view());
}

TEST(DevicePrintf, TakesArgumentsAtTheirAlignment) {
  EXPECT_EQ(formatted("%d %f %d %lld %s!\n", Packed() << 1 << 2.5 << -3 << 4ll << "five", 5),
            "1 2.500000 -3 4 five!\n");
}

TEST(DevicePrintf, KnowsFlagsWidthPrecisionAndSize) {
  EXPECT_EQ(formatted("[%5d|%-5d|%05d|%+d|%x|%#X|%o]", Packed() << 42 << 42 << 42 << 42 << 255 << 255 << 8, 7),
            "[   42|42   |00042|+42|ff|0XFF|10]");
  EXPECT_EQ(formatted("%8.3f|%.2e|%g|%a", Packed() << 3.14159 << 12345.678 << 0.5 << 1.0, 4),
            "   3.142|1.23e+04|0.5|0x1p+0");
  EXPECT_EQ(formatted("%u %lu %llu", Packed() << ~0u << ~0ul << ~0ull, 3),
            "4294967295 18446744073709551615 18446744073709551615");
  EXPECT_EQ(formatted("%c%c %hhd %*d", Packed() << int{'o'} << int{'k'} << 7 << 4 << 1, 5), "ok 7    1");
  EXPECT_EQ(formatted("%.3s|%5s|%-5s|%*s|%.s|", Packed() << "abcdef" << "ab" << "cd" << -4 << "e" << "f", 6),
            "abc|   ab|cd   |e   ||");
  EXPECT_EQ(
      formatted("%.0d|%-08.3d|%p|%5c|%.3d", Packed() << 0 << 7 << reinterpret_cast<void*>(0x12) << int{'x'} << 5, 5),
      "|007     |0x12|    x|005");
}

// A GPU does the same, but takes no argument for %hh: it prints 44 if an argument of another conversion comes to lie
// there, and else what happens to be in its buffer.
TEST(DevicePrintf, CutsNumbersToTheirSize) {
  const auto with = [](const char* format, int value) { return formatted(format, Packed() << value, 1); };
  EXPECT_EQ(with("%hu", 70000), "4464");
  EXPECT_EQ(with("%hd", 70000), "4464");
  EXPECT_EQ(with("%hd", 40000), "-25536");
  EXPECT_EQ(with("%hx", -300), "fed4");
  EXPECT_EQ(with("%ho", -1), "177777");
  EXPECT_EQ(with("%-5hd|", 70000), "4464 |");
  EXPECT_EQ(with("%hhu", 300), "44");
  EXPECT_EQ(with("%hhd", 128), "-128");
  EXPECT_EQ(with("%08hhx", 0x1fff), "000000ff");
  EXPECT_EQ(with("%c", 300), ",");
}

TEST(DevicePrintf, PrintsPointersAndStringsWithAPrecision) {
  EXPECT_EQ(formatted("%.20p", Packed() << reinterpret_cast<void*>(0x1234abcd), 1), "0x0000000000001234abcd");
  EXPECT_EQ(
      formatted("%5.3s|%.3s|%.6s",
                Packed() << "abcdef" << static_cast<const char*>(nullptr) << static_cast<const char*>(nullptr), 3),
      "  abc||(null)");
}

// As an H200 prints them: CUDA knows the sizes h, l and ll, and no precision from an argument.
TEST(DevicePrintf, LeavesConversionsThatCudaDoesNotKnow) {
  for (const char* format : {"%zu", "%jd", "%td", "%Lf", "%Ld", "%hld", "%llld", "%.*f", "%*.*d", "%5%", "%l%", "% %"})
    EXPECT_EQ(formatted(format, Packed() << 7 << 42 << 1.5, 0), format);
}

TEST(DevicePrintf, LeavesEverythingElseAsItIs) {
  EXPECT_EQ(formatted("100%% of nothing", Packed(), 0), "100% of nothing");
  EXPECT_EQ(formatted("", Packed(), 0), "");
  EXPECT_EQ(formatted("50%", Packed(), 0), "50%");
  EXPECT_EQ(formatted("%y %d", Packed() << 3, 1), "%y 3");
  EXPECT_EQ(formatted("%s", Packed() << static_cast<const char*>(nullptr), 1), "(null)");
}

TEST(RuntimeCalls, AreAllThere) {
  for (const RuntimeCall& call : runtime_calls()) {
    EXPECT_TRUE(call.symbol.starts_with("softgpu_rt_"));
    EXPECT_NE(call.address, nullptr);
  }
}

}  // namespace
}  // namespace softgpu::exec
