#include "toolchain/linker_cache.hpp"

#include <cstdint>
#include <cstring>

#include "unit/toolchain/fake_tree.hpp"

namespace cuprum::toolchain {
namespace {

using ::testing::Eq;
using ::testing::Optional;

std::string number(std::uint32_t value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

/// A cache with one library, as ldconfig writes it.
std::string cache(std::uint32_t flags, std::uint32_t entries = 1) {
  const std::string strings = std::string("libfoo.so.1\0/opt/foo/libfoo.so.1\0", 33);
  constexpr std::uint32_t start = 48 + 24;
  std::string bytes = "glibc-ld.so.cache1.1" + number(entries) + number(33) + std::string(20, '\0');
  bytes += number(flags) + number(start) + number(start + 12) + number(0) + std::string(8, '\0');
  return bytes + strings;
}

#if defined(__aarch64__)
constexpr std::uint32_t ours = 0x0a03;
#else
constexpr std::uint32_t ours = 0x0303;
#endif

TEST(LinkerCacheTest, GivesThePathOfALibrary) {
  EXPECT_THAT(look_up_in_linker_cache(cache(ours), "libfoo.so.1"), Optional(Eq("/opt/foo/libfoo.so.1")));
  EXPECT_EQ(look_up_in_linker_cache(cache(ours), "libbar.so.1"), std::nullopt);
}

TEST(LinkerCacheTest, PassesOverLibrariesOfOtherProcessors) {
  EXPECT_EQ(look_up_in_linker_cache(cache(0x0003), "libfoo.so.1"), std::nullopt);
}

TEST(LinkerCacheTest, SurvivesWhateverTheFileHas) {
  const std::string whole = cache(ours, 1000);
  for (std::size_t size = 0; size <= whole.size(); ++size) look_up_in_linker_cache(whole.substr(0, size), "libbar");
  EXPECT_EQ(look_up_in_linker_cache("something else", "libfoo.so.1"), std::nullopt);
}

TEST(LinkerCacheTest, FindsALibraryOfThisSystem) {
  const auto path = linked_library("libc.so.6", "");
  ASSERT_TRUE(path);
  EXPECT_TRUE(fs::exists(*path));
  EXPECT_EQ(linked_library("libcuprum-is-not-there.so.1", ""), std::nullopt);
}

class LinkedLibraryTest : public FakeTree {};

TEST_F(LinkedLibraryTest, TheFoldersOfTheVariableComeFirst) {
  const fs::path mine = file("b/libc.so.6");
  fs::create_directories(root / "a");
  EXPECT_THAT(linked_library("libc.so.6", (root / "a").string() + "::" + (root / "b").string()), Optional(Eq(mine)));
}

}  // namespace
}  // namespace cuprum::toolchain
