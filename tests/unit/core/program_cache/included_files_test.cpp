#include "core/program_cache/included_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace cuprum::core {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class IncludedFilesTest : public ::testing::Test {
 protected:
  IncludedFilesTest() {
    search.source_folder = folder / "source/";
    search.user_folders = {folder / "first", folder / "second"};
    search.compiler_folders = {folder / "cuda"};
    folder.write("cuda/cuda_fp16.h", "#include <inner.h>\n");
    folder.write("cuda/inner.h", "#include COMPUTED\n");
  }

  std::string files_of(std::string_view source) {
    support::FieldWriter key;
    obstacle = write_included_files(source, pre_includes, search, key);
    return key.bytes();
  }

  /// Whether `change` changes what is written for `source`.
  template <typename Change>
  bool is_changed(std::string_view source, Change&& change) {
    const std::string before = files_of(source);
    EXPECT_EQ(files_of(source), before);
    change();
    return files_of(source) != before;
  }

  TemporaryFolder folder;
  IncludeSearch search{.beside_includer = true};
  std::vector<std::string> pre_includes;
  std::string obstacle;
};

TEST_F(IncludedFilesTest, SeesTheContentsOfAHeader) {
  folder.write("second/a.h", "1");
  EXPECT_TRUE(is_changed("#include <a.h>", [&] { folder.write("second/a.h", "2"); }));
  EXPECT_FALSE(is_changed("#include <a.h>", [&] { folder.write("second/a.h", "2"); }));
  EXPECT_FALSE(is_changed("#include <a.h>", [&] { folder.write("second/unrelated.h", "2"); }));
  EXPECT_TRUE(is_changed("#include <a.h>", [&] { folder.write("second/a.h", ""); }));
}

TEST_F(IncludedFilesTest, SeesWhatHeadersInclude) {
  folder.write("second/a/a.h", "#include \"../b/b.h\"");
  folder.write("second/b/b.h", "#include \"c.h\"\n#include \"../a/a.h\"");  // and so in circles
  folder.write("second/b/c.h", "1");
  EXPECT_TRUE(is_changed("#include <a/a.h>", [&] { folder.write("second/b/c.h", "2"); }));
}

TEST_F(IncludedFilesTest, SeesAHeaderThatComesIntoBeing) {
  EXPECT_TRUE(is_changed("#if __has_include(<a.h>)", [&] { folder.write("second/a.h", "1"); }));
  EXPECT_TRUE(is_changed("#include <a.h>", [&] { folder.write("first/a.h", "1"); }));
  EXPECT_TRUE(is_changed("#include \"a.h\"", [&] { folder.write("source/a.h", "1"); }));
  EXPECT_TRUE(is_changed("#include \"a.h\"", [&] { std::filesystem::remove(folder / "source/a.h"); }));
}

TEST_F(IncludedFilesTest, LooksBesideTheIncluderForQuotedNamesOnly) {
  EXPECT_FALSE(is_changed("#include <a.h>", [&] { folder.write("source/a.h", "1"); }));
  search.beside_includer = false;
  EXPECT_FALSE(is_changed("#include \"a.h\"", [&] { folder.write("source/a.h", "2"); }));
}

TEST_F(IncludedFilesTest, PassesFoldersOver) {
  folder.write("second/a.h", "1");
  std::filesystem::create_directories(folder / "first/a.h");
  EXPECT_TRUE(is_changed("#include <a.h>", [&] { folder.write("second/a.h", "2"); }));
}

TEST_F(IncludedFilesTest, FollowsAbsoluteNamesAndPreIncludes) {
  const std::string source = "#include \"" + folder.write("elsewhere/a.h", "1") + "\"";
  EXPECT_TRUE(is_changed(source, [&] { folder.write("elsewhere/a.h", "2"); }));
  pre_includes = {"before.h"};
  EXPECT_TRUE(is_changed("", [&] { folder.write("first/before.h", "1"); }));
}

TEST_F(IncludedFilesTest, TakesTheCompilersHeadersForConstant) {
  search.user_folders = {folder / "cuda"};  // which is the compiler's all the same
  EXPECT_FALSE(is_changed("#include <cuda_fp16.h>", [&] { folder.write("cuda/inner.h", "2"); }));
  EXPECT_THAT(obstacle, IsEmpty());
  EXPECT_TRUE(is_changed("#include <cuda_fp16.h>", [&] { folder.write("cuda/cuda_fp16.h", "longer than before"); }));
}

TEST_F(IncludedFilesTest, SeesAUsersHeaderInPlaceOfOneThatTheCompilersHeadersInclude) {
  EXPECT_TRUE(is_changed("#include <cuda_fp16.h>", [&] { folder.write("first/inner.h", "1"); }));
  EXPECT_TRUE(is_changed("#include <cuda_fp16.h>", [&] { folder.write("first/inner.h", "2"); }));
}

TEST_F(IncludedFilesTest, NotesWhatTheCompilersHeadersSearchFor) {
  InMemoryProgramCache notes;
  search.notes = &notes;
  search.compiler_folders = {folder / "other"};
  folder.write("other/outer.h", "#include \"beside.h\"\n#include <deep/er.h>\n");
  folder.write("other/beside.h", "#include <standard>\n");
  folder.write("other/deep/er.h", "#include \"outer.h\"\n");
  folder.write("first/unrelated.h", "");
  EXPECT_FALSE(is_changed("#include <outer.h>", [&] { folder.write("second/beside.h", ""); }));
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_TRUE(is_changed("#include <outer.h>", [&] { folder.write("second/standard", ""); }));
  EXPECT_EQ(notes.size(), 1u);
  search.beside_includer = false;
  EXPECT_TRUE(is_changed("#include <outer.h>", [&] { folder.write("second/beside.h", "1"); }));
  EXPECT_EQ(notes.size(), 2u);
}

TEST_F(IncludedFilesTest, SaysWhyItCannotTell) {
  folder.write("first/a.h", "#include MACRO");
  files_of("#include <a.h>");
  EXPECT_THAT(obstacle, HasSubstr("a computed #include"));
  files_of("#include \"/dev/null\"");
  EXPECT_THAT(obstacle, HasSubstr("'/dev/null' can't be read"));
}

}  // namespace
}  // namespace cuprum::core
