// Kernels that come from the cache on disk.
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

namespace fs = std::filesystem;

// A file that was written again is another file.
std::map<fs::path, ino_t> identities(const TemporaryFolder& folder) {
  std::map<fs::path, ino_t> found;
  for (const fs::path& file : folder.files()) {
    struct stat status;
    if (stat(file.c_str(), &status) == 0) found[file] = status.st_ino;
  }
  return found;
}

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
  const auto first = identities(folder);
  EXPECT_EQ(first.size(), 2u);  // the width and the code
  run_scale(folder);
  EXPECT_EQ(identities(folder), first);
}

TEST(CachedImage, KeepsShapesAndTextsApart) {
  const TemporaryFolder folder;
  run_scale(folder);
  run_scale(folder, kScale, {33});
  EXPECT_EQ(folder.files().size(), 3u);
  run_scale(folder, std::string(kScale) + "\n// changed\n");
  EXPECT_EQ(folder.files().size(), 5u);
}

TEST(CachedImage, CompilesAgainWhatIsDamaged) {
  const TemporaryFolder folder;
  run_scale(folder);
  const auto first = identities(folder);
  for (const auto& [file, identity] : first) {
    fs::resize_file(file, fs::file_size(file) / 2);
    run_scale(folder);
  }
  for (const auto& [file, identity] : identities(folder)) EXPECT_NE(identity, first.at(file)) << file;
  const auto repaired = identities(folder);
  run_scale(folder);
  EXPECT_EQ(identities(folder), repaired);
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
