#include "core/program_cache/use.hpp"

#include <gtest/gtest.h>

#include <cuprum/program_cache.hpp>

#include "support/temporary_folder.hpp"

namespace cuprum::core {
namespace {

using ::testing::ExitedWithCode;

// Compiles something that makes it necessary to look through the compiler's headers, which is worth a note.
void compile(const TemporaryFolder& folder, ProgramCacheResource* cache) {
  folder.write("headers/of_mine.h", "");
  const ProgramOptions options{.arch = "sm_90", .include_path = {folder / "headers"}};
  const CompileOptions details{.cache = cache};
  cached_or([] { return Compiled{{.type = Target::ptx, .bytes = "ptx"}}; },
            {"#include <cuda_fp16.h>\n", SourceCodeType::cxx, options, Target::ptx, details});
}

// In a process of its own, because the user's folder is looked up once.
[[noreturn]] void compile_with_another_cache() {
  const TemporaryFolder folder;
  setenv("CUPRUM_CACHE_DIR", (folder / "cache").c_str(), 1);
  InMemoryProgramCache cache;
  compile(folder, &cache);
  const bool is_clean = !std::filesystem::exists(folder / "cache") && cache.size() == 1;
  std::filesystem::remove_all(folder.path());
  std::_Exit(is_clean ? 0 : 1);
}

[[noreturn]] void compile_with_the_users_cache() {
  const TemporaryFolder folder;
  setenv("CUPRUM_CACHE_DIR", (folder / "cache").c_str(), 1);
  compile(folder, default_program_cache());
  const bool has_note = default_program_cache()->size() == 2;
  std::filesystem::remove_all(folder.path());
  std::_Exit(has_note ? 0 : 1);
}

class ProgramCacheUseDeathTest : public ::testing::Test {
 protected:
  ProgramCacheUseDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProgramCacheUseDeathTest, LeavesNothingInTheUsersFolderWhenAnotherCacheIsGiven) {
  EXPECT_EXIT(compile_with_another_cache(), ExitedWithCode(0), "");
}

TEST_F(ProgramCacheUseDeathTest, KeepsNotesInTheUsersFolderWhenThatIsTheCache) {
  EXPECT_EXIT(compile_with_the_users_cache(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cuprum::core
