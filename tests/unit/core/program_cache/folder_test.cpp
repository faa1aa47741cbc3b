#include "core/program_cache/folder.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace cuprum::core {
namespace {

class UserCacheFolderTest : public ::testing::Test {
 protected:
  UserCacheFolderTest() {
    unsetenv("CUPRUM_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/somebody", 1);
  }
};

TEST_F(UserCacheFolderTest, IsInTheUsersCacheFolder) {
  EXPECT_EQ(user_cache_folder(), "/home/somebody/.cache/cuprum");
  setenv("XDG_CACHE_HOME", "/var/cache/somebody", 1);
  EXPECT_EQ(user_cache_folder(), "/var/cache/somebody/cuprum");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(user_cache_folder(), "/home/somebody/.cache/cuprum");
}

TEST_F(UserCacheFolderTest, IsWhereTheVariableSays) {
  setenv("CUPRUM_CACHE_DIR", "/scratch/programs", 1);
  EXPECT_EQ(user_cache_folder(), "/scratch/programs");
  setenv("CUPRUM_CACHE_DIR", "programs", 1);
  EXPECT_EQ(user_cache_folder(), std::filesystem::absolute("programs"));
}

TEST_F(UserCacheFolderTest, CanBeNone) {
  setenv("CUPRUM_CACHE_DIR", "off", 1);
  EXPECT_EQ(user_cache_folder(), "");
  unsetenv("CUPRUM_CACHE_DIR");
  unsetenv("HOME");
  EXPECT_EQ(user_cache_folder(), "");
}

}  // namespace
}  // namespace cuprum::core
