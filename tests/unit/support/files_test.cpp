#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuprum/error.hpp>

#include "support/file_descriptor.hpp"
#include "support/read_file.hpp"
#include "support/temporary_folder.hpp"
#include "support/write_file.hpp"

namespace cuprum::support {
namespace {

using ::testing::HasSubstr;

std::string refusal(auto&& statement) {
  try {
    statement();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no exception";
}

class FilesTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;
};

TEST_F(FilesTest, AreReadWhole) {
  for (std::size_t size : {0, 1, 4095, 4096, 4097, 100000}) {
    const std::string contents(size, 'x');
    EXPECT_EQ(read_file(folder.write("file", contents)), contents) << size;
  }
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:")) << "of which the system says that it is empty";
}

TEST_F(FilesTest, ThatCannotBeReadAreNotEmpty) {
  EXPECT_THAT(refusal([] { read_file("/proc/self/mem"); }), HasSubstr("can't be read: Input/output error"));
  EXPECT_THAT(refusal([&] { read_file(folder.path()); }), HasSubstr("can't be read: Is a directory"));
  EXPECT_THAT(refusal([&] { read_file(folder / "none"); }), HasSubstr("can't be read: No such file or directory"));
}

TEST_F(FilesTest, AreReplacedInOneStep) {
  const std::string path = folder.write("file", "before");
  write_file(path, "after");
  EXPECT_EQ(read_file(path), "after");
  EXPECT_EQ(folder.files(), 1);
}

TEST_F(FilesTest, KeepTheRightsOfWhatTheyReplace) {
  const std::string path = folder.write("file", "before");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  write_file(path, "after");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(FilesTest, AreWrittenWhereALinkLeads) {
  const std::string path = folder.write("file", "before");
  std::filesystem::create_symlink("file", folder.path() / "link");
  std::filesystem::create_symlink("new", folder.path() / "link_to_nothing");
  write_file(folder / "link", "after");
  EXPECT_EQ(read_file(path), "after");
  write_file(folder / "link_to_nothing", "made");
  EXPECT_EQ(read_file(folder / "new"), "made");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
}

TEST_F(FilesTest, MayBeADeviceOrAPipeThatIsThere) {
  write_file("/dev/null", "away");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const FileDescriptor reader(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  write_file(pipe, "through");
  char read_back[16] = {};
  EXPECT_EQ(read(reader.get(), read_back, sizeof read_back), 7);
  EXPECT_STREQ(read_back, "through");
  EXPECT_EQ(folder.files(), 1);
}

TEST_F(FilesTest, MayHaveTheLongestName) {
  const std::string path = folder / std::string(255, 'n');
  write_file(path, "x");
  EXPECT_EQ(read_file(path), "x");
}

// As the files of a process in another container may be named, which has the same number.
TEST_F(FilesTest, OfOthersThatAreBeingWrittenAreLeftAlone) {
  const std::string path = folder / "file";
  constexpr int others = 100;
  for (int i = 0; i < others; ++i)
    folder.write(".cuprum-new-" + std::to_string(getpid()) + '-' + std::to_string(i), "another's");
  write_file(path, "ours");
  EXPECT_EQ(read_file(path), "ours");
  EXPECT_EQ(folder.files(), others + 1);
}

TEST_F(FilesTest, ThatCannotBeWrittenLeaveNothingBehind) {
  std::filesystem::create_directories(folder.path() / "taken/inside");
  EXPECT_THAT(refusal([&] { write_file(folder / "taken", "x"); }), HasSubstr("can't be written: Is a directory"));
  EXPECT_EQ(folder.files(), 1);
  EXPECT_THAT(refusal([&] { write_file(folder / "none/file", "x"); }), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace cuprum::support
