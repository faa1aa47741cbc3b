// Kernels that come from the cache on disk.
#include <sys/stat.h>

#include <map>

#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

namespace fs = std::filesystem;

// Which files are in a folder. One that is written again is another file; second names keep the old ones, so that
// their numbers are not given to new files.
class Files {
 public:
  explicit Files(const TemporaryFolder& folder) {
    for (const fs::path& file : folder.files()) {
      fs::create_hard_link(file, fs::path(second_names_.path()) / file.filename());
      struct stat status;
      if (stat(file.c_str(), &status) == 0) found_[file] = status.st_ino;
    }
  }
  const std::map<fs::path, ino_t>& found() const { return found_; }

 private:
  TemporaryFolder second_names_;
  std::map<fs::path, ino_t> found_;
};

void run_scale(const TemporaryFolder& folder, std::string_view text = kScale, abi::Dim3 block = {64}) {
  exec::Pool pool({.workers = 1});
  const auto program = program_of(text);  // knows nothing of earlier ones
  float bias = 2.0f;
  Image image(program, {&bias}, std::make_shared<ObjectCache>(CacheOptions{folder.path()}));
  expect_scales(pool, image, *program, 2.0f, block);
}

TEST(CachedImage, TakesFromDiskWhatIsThere) {
  const TemporaryFolder folder;
  run_scale(folder);
  const Files first(folder);
  EXPECT_EQ(first.found().size(), 2u);  // the width and the code
  run_scale(folder);
  EXPECT_EQ(Files(folder).found(), first.found());
}

TEST(CachedImage, KeepsShapesAndTextsApart) {
  const TemporaryFolder folder;
  run_scale(folder);
  run_scale(folder, kScale, {33});
  EXPECT_EQ(folder.files().size(), 3u);
  run_scale(folder, std::string(kScale) + "\n// changed\n");
  EXPECT_EQ(folder.files().size(), 5u);
}

TEST(CachedImage, SharesCodeBetweenSettingsThatLeadToOneWidth) {
  const TemporaryFolder folder;
  const std::string text = std::string(kHeader) + R"(
.visible .entry vote()
{
  .reg .b32 %votes;
  vote.sync.ballot.b32 %votes, 1, -1;
  ret;
}
)";
  for (const unsigned setting : {32u, 0u, 32u, 1u, 8u}) {
    const auto program =
        std::make_shared<Program>(ptx::parse(text).module.value(), text, CompilerSettings{.width = setting});
    Image(program, {}, std::make_shared<ObjectCache>(CacheOptions{folder.path()})).code(0, {64});
  }
  // What exchanges values in its warp runs by warps or thread by thread: a width for each setting, and two codes.
  EXPECT_EQ(folder.files().size(), 6u);
}

TEST(CachedImage, CompilesAgainWhatIsDamaged) {
  const TemporaryFolder folder;
  run_scale(folder);
  const Files first(folder);
  for (const auto& [file, number] : first.found()) {
    fs::resize_file(file, fs::file_size(file) / 2);
    run_scale(folder);
  }
  const Files repaired(folder);
  EXPECT_EQ(repaired.found().size(), first.found().size());
  for (const auto& [file, number] : repaired.found()) EXPECT_NE(number, first.found().at(file)) << file;
  run_scale(folder);
  EXPECT_EQ(Files(folder).found(), repaired.found());
}

TEST(CachedImage, KeepsWhatIsKnownOfTheCode) {
  const TemporaryFolder folder;
  exec::KernelCode codes[2];
  for (exec::KernelCode& code : codes) {
    const auto program = program_of(kBlockSum);
    Image image(program, {}, std::make_shared<ObjectCache>(CacheOptions{folder.path()}));
    code = image.code(0, {100});
  }
  EXPECT_NE(codes[0].start_gang, nullptr);
  EXPECT_NE(codes[1].start_gang, nullptr);
  EXPECT_EQ(codes[1].run_block, nullptr);
  EXPECT_EQ(codes[0].width, codes[1].width);
  EXPECT_EQ(codes[0].stack_bytes, codes[1].stack_bytes);
}

}  // namespace
}  // namespace softgpu::jit
