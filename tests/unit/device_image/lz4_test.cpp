#include "device_image/lz4.hpp"

#include <gtest/gtest.h>

namespace cuprum::device_image {
namespace {

std::optional<std::string> decode(const std::string& block, std::size_t bytes) {
  return lz4_decode(std::as_bytes(std::span(block)), bytes);
}

TEST(Lz4, LiteralsAlone) { EXPECT_EQ(decode(std::string("\x50hello"), 5), "hello"); }

TEST(Lz4, MatchOfWhatCameBefore) {
  // "abcd", then 4 bytes from 4 back, then "!".
  EXPECT_EQ(decode(std::string("\x40"
                               "abcd\x04\x00\x10!",
                               9),
                   9),
            "abcdabcd!");
}

TEST(Lz4, MatchThatOverlapsItself) {
  // "a", then 9 bytes from 1 back (4 and 5 more), then "b".
  EXPECT_EQ(decode(std::string("\x15"
                               "a\x01\x00\x10"
                               "b",
                               6),
                   11),
            "aaaaaaaaaab");
}

TEST(Lz4, LongLengthsTakeMoreBytes) {
  const std::string text(300, 'x');
  EXPECT_EQ(decode(std::string("\xf0\xff\x1e", 3) + text, 300), text);  // 15 + 255 + 30
}

TEST(Lz4, DamagedInputIsRefused) {
  EXPECT_FALSE(decode("\x50hell", 5)) << "cut off";
  EXPECT_FALSE(decode(std::string("\x50hello"), 6)) << "too short";
  EXPECT_FALSE(decode(std::string("\x50hello"), 4)) << "too long";
  EXPECT_FALSE(decode(std::string("\x40"
                                  "abcd\x05\x00\x10!",
                                  9),
                      9))
      << "match from before the start";
  EXPECT_FALSE(decode(std::string("\x40"
                                  "abcd\x00\x00\x10!",
                                  9),
                      9))
      << "match from nowhere";
  EXPECT_FALSE(decode("", 1));
}

}  // namespace
}  // namespace cuprum::device_image
