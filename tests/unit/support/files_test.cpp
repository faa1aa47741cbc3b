#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cuprum/error.hpp>

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

// As the files of a process in another container may be named, which has the same number.
TEST_F(FilesTest, OfOthersThatAreBeingWrittenAreLeftAlone) {
  const std::string path = folder / "file";
  constexpr int others = 100;
  for (int i = 0; i < others; ++i)
    folder.write("file.new-" + std::to_string(getpid()) + '-' + std::to_string(i), "another's");
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
