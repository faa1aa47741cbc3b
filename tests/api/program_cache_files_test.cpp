// The cache in files against the world: other processes, crashes, full disks, damaged and foreign files.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "api/child_process.hpp"
#include "api/fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::vector<fs::path> files_in(const fs::path& folder) {
  return {fs::directory_iterator(folder), fs::directory_iterator()};
}

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  stat(path.c_str(), &status);
  return status.st_mode & 0777;
}

/// Long enough to be written in several pieces, and wrong if any two of them are mixed up.
std::string value_of(int number) {
  std::string value = std::to_string(number) + ":";
  while (value.size() < 30'000u + 1000u * static_cast<unsigned>(number)) value += value.substr(0, 5000);
  return value;
}

/// Compiles with `cache`, and returns what the log hook is told.
std::vector<std::string> told_when_compiling_with(ProgramCacheResource& cache) {
  std::vector<std::string> told;
  const LogHook before = set_log_hook([&](std::string_view line) { told.emplace_back(line); });
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(Program(scale_source).compile(Target::ptx, {.cache = &cache}).code().empty());
  }
  set_log_hook(before);
  return told;
}

class ProgramCacheFilesTest : public ApiTest {
 protected:
  /// The only value of the cache.
  fs::path entry() const {
    std::vector<fs::path> files = files_in(cache.path());
    std::erase_if(files, [](const fs::path& file) { return file.extension() == ".notes"; });
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? fs::path() : files.front();
  }

  TemporaryFolder folder;
  FileStreamProgramCache cache{folder / "cache"};
};

TEST_F(ProgramCacheFilesTest, LastsLongerThanTheObject) {
  cache.set("key", "value");
  FileStreamProgramCache other(folder / "cache", {.max_size_bytes = 1 << 20});
  EXPECT_THAT(other.get("key"), Optional(std::string("value")));
  EXPECT_EQ(other.path(), folder / "cache");
  EXPECT_THAT(other.max_size_bytes(), Optional(std::size_t{1} << 20));
  EXPECT_EQ(cache.max_size_bytes(), std::nullopt);
  EXPECT_EQ(other.size_bytes(), fs::file_size(entry()));
}

TEST_F(ProgramCacheFilesTest, MakesItsFolderWhenItIsNeeded) {
  FileStreamProgramCache deep(folder / "not/there/yet");
  EXPECT_EQ(deep.get("key"), std::nullopt);
  EXPECT_EQ(deep.size(), 0u);
  deep.clear();
  EXPECT_FALSE(fs::exists(folder / "not"));
  deep.set("key", "value");
  fs::remove_all(folder / "not");
  EXPECT_EQ(deep.get("key"), std::nullopt);
  deep.set("key", "value");
  EXPECT_THAT(deep.get("key"), Optional(std::string("value")));
}

TEST_F(ProgramCacheFilesTest, IsForItsOwnerAlone) {
  const mode_t before = umask(0);
  cache.set("key", "value");
  umask(before);
  EXPECT_EQ(mode_of(cache.path()), 0700u);
  EXPECT_EQ(mode_of(entry()), 0600u);
}

TEST_F(ProgramCacheFilesTest, DoesNotTrustFilesOfOthers) {
  cache.set("key", "value");
  const fs::path file = entry();
  fs::rename(file, folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", file);
  EXPECT_EQ(cache.get("key"), std::nullopt) << "it is a link";
  fs::remove(file);
  fs::rename(folder / "elsewhere", file);
  EXPECT_TRUE(cache.get("key"));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(file.c_str(), 65534, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(cache.get("key"), std::nullopt) << "it is another user's";
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(ProgramCacheFilesTest, DropsWhatIsDamaged) {
  cache.set("key", "the value");
  const fs::path file = entry();
  const std::string sound = read(file);
  const auto is_dropped = [&](const std::string& bytes) {
    write(file, bytes);
    return !cache.get("key") && !fs::exists(file);
  };
  for (std::size_t at = 0; at < sound.size(); ++at) {
    for (int bit : {0, 7}) {
      std::string flipped = sound;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_TRUE(is_dropped(flipped)) << "bit " << bit << " of byte " << at;
    }
    EXPECT_TRUE(is_dropped(sound.substr(0, at))) << "cut to " << at << " bytes";
  }
  EXPECT_TRUE(is_dropped(sound + '\0'));
  write(file, sound);
  EXPECT_THAT(cache.get("key"), Optional(std::string("the value")));
}

TEST_F(ProgramCacheFilesTest, DropsAFileOfAnotherKeyOrVersion) {
  cache.set("key", "value");
  const fs::path file = entry();
  std::string other_version = read(file);
  cache.clear();
  cache.set("other key", "other value");
  fs::rename(entry(), file);
  EXPECT_EQ(cache.get("key"), std::nullopt);
  ASSERT_EQ(other_version[7], '2') << "the version is somewhere else now";
  other_version[7] = '1';
  write(file, other_version);
  EXPECT_EQ(cache.get("key"), std::nullopt);
  EXPECT_EQ(cache.size(), 0u);
}

TEST_F(ProgramCacheFilesTest, ADamagedProgramIsCompiledAnew) {
  const Program program(scale_source);
  const std::string code(program.compile(Target::cubin, {.cache = &cache}).code());
  const std::string sound = read(entry());
  std::string flipped = sound;
  flipped[sound.size() / 2] ^= 1;
  write(entry(), flipped);
  EXPECT_EQ(program.compile(Target::cubin, {.cache = &cache}).code(), code);
  EXPECT_EQ(read(entry()), sound);
}

TEST_F(ProgramCacheFilesTest, RemovesWhatOthersLeftUnfinished) {
  const std::string old = folder.write("cache/aaaaaa.part", "half a file");
  const std::string young = folder.write("cache/bbbbbb.part", "half a file");
  const std::string foreign = folder.write("cache/README", "not ours");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.set("key", "value");
  EXPECT_FALSE(fs::exists(old));
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_TRUE(fs::exists(young)) << "somebody may be writing it";
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(ProgramCacheFilesTest, AFolderThatCannotBeWrittenIsToldOnce) {
  static int round = 0;  // a message is told once per process, and tests can be repeated
  const std::string path = "/proc/cuprum-" + std::to_string(++round);
  FileStreamProgramCache impossible(path);
  EXPECT_THAT(error_of<Error>([&] { impossible.set("key", "value"); }),
              HasSubstr("the program cache can't make the folder '" + path + "': "));
  EXPECT_THAT(told_when_compiling_with(impossible),
              ElementsAre(AllOf(HasSubstr(path), HasSubstr("programs are compiled all the same"))));
}

TEST_F(ProgramCacheFilesTest, AWriteThatFailsHalfWayLeavesNothing) {
  cache.set("key", "value");
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = error_of<Error>([&] { cache.set("key", std::string(5000, 'x')); });
  const std::vector<std::string> told = told_when_compiling_with(cache);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_THAT(told, ElementsAre(HasSubstr("File too large")));
  EXPECT_THAT(cache.get("key"), Optional(std::string("value")));
  EXPECT_EQ(files_in(cache.path()).size(), 1u);
}

/// Runs a disabled test in a name space of its own, where a user may mount: `mount` is done there first. The test gets
/// `folder` by a variable. None when this user can't have that; else the exit status.
std::optional<int> run_mounted(const std::string& mount, const std::string& folder, const std::string& test) {
  const auto run = [&](const std::string& command) {
    return std::system(("unshare --user --map-root-user --mount sh -c '" + mount + " && " + command + "'").c_str());
  };
  if (run("true 2>/dev/null") != 0) return std::nullopt;
  setenv("CUPRUM_TEST_CACHE", folder.c_str(), 1);
  const int status = run("exec " + fs::read_symlink("/proc/self/exe").string() +
                         " --gtest_brief=1 --gtest_also_run_disabled_tests --gtest_filter=" + test);
  unsetenv("CUPRUM_TEST_CACHE");
  return status;
}

TEST_F(ProgramCacheFilesTest, AReadOnlyFolderIsReadAndToldOnce) {
  cache.set("key", "value");
  const std::string mount =
      "mount --bind " + cache.path() + " " + cache.path() + " && mount -o remount,bind,ro " + cache.path();
  const std::optional<int> status = run_mounted(mount, cache.path(), "ProgramCacheChild.DISABLED_OnlyReads");
  if (!status) GTEST_SKIP() << "this user can't mount";
  EXPECT_EQ(*status, 0);
}

TEST(ProgramCacheChild, DISABLED_OnlyReads) {
  FileStreamProgramCache cache(std::getenv("CUPRUM_TEST_CACHE"));
  EXPECT_THAT(cache.get("key"), Optional(std::string("value")));
  EXPECT_THAT(told_when_compiling_with(cache), ElementsAre(HasSubstr("Read-only file system")));
}

TEST_F(ProgramCacheFilesTest, AFullDiskFailsNoCompilation) {
  const std::string disk = folder / "disk";
  fs::create_directory(disk);
  const std::optional<int> status =
      run_mounted("mount -t tmpfs -o size=64k none " + disk, disk, "ProgramCacheChild.DISABLED_FillsTheDisk");
  if (!status) GTEST_SKIP() << "this user can't mount";
  EXPECT_EQ(*status, 0);
}

TEST(ProgramCacheChild, DISABLED_FillsTheDisk) {
  FileStreamProgramCache cache(std::getenv("CUPRUM_TEST_CACHE"));
  int stored = 0;
  const std::string message = error_of<Error>([&] {
    for (; stored < 100; ++stored) cache.set(std::to_string(stored), std::string(3000, 'x'));
  });
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_EQ(cache.size(), static_cast<std::size_t>(stored));
  EXPECT_THAT(told_when_compiling_with(cache), ElementsAre(HasSubstr("No space left on device")));
}

// The other processes write, read and check the same few keys until the parent says that it is enough.
TEST(ProgramCacheChild, DISABLED_WritesAndReads) {
  const std::string path = channel_to_parent().receive<std::string>();
  FileStreamProgramCache cache(path, {.max_size_bytes = 200'000});  // so that it has to remove, too
  const Program program(scale_source);
  const std::string code(program.compile(Target::ptx, {.cache = nullptr}).code());
  EXPECT_EQ(program.compile(Target::ptx, {.cache = &cache}).code(), code);
  channel_to_parent().send(std::string("started"));
  int found = 0;
  for (int round = 0; found == 0 || !fs::exists(path + ".enough"); ++round) {
    const int number = (round * 7 + getpid()) % 10;
    if (round % 3 == 0) cache.set(std::to_string(number), value_of(number));
    const std::optional<std::string> value = cache.get(std::to_string(number));
    if (value) {  // others remove some
      ASSERT_EQ(*value, value_of(number));
    }
    found += value.has_value();
    if (round % 100 == 0) {
      EXPECT_EQ(program.compile(Target::ptx, {.cache = &cache}).code(), code);
    }
  }
}

TEST_F(ProgramCacheFilesTest, EightProcessesShareAFolder) {
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int child = 0; child < 8; ++child) {
    children.push_back(std::make_unique<ChildProcess>("ProgramCacheChild.DISABLED_WritesAndReads"));
    children.back()->channel().send(cache.path());
  }
  for (const auto& child : children) child->channel().receive<std::string>();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  children.back()->kill();  // in the middle of whatever it does
  children.pop_back();
  folder.write("cache.enough", "");
  for (const auto& child : children) EXPECT_TRUE(child->passed());

  int left = 0;
  for (int number = 0; number < 10; ++number) {
    const std::optional<std::string> value = cache.get(std::to_string(number));
    if (value) {
      EXPECT_EQ(*value, value_of(number));
    }
    left += value.has_value();
  }
  EXPECT_GT(left, 0);
  EXPECT_LE(cache.size_bytes(), 200'000u + 8 * 40'000u) << "each may add one while another counts";
}

TEST(ProgramCacheChild, DISABLED_WritesForEver) {
  FileStreamProgramCache cache(channel_to_parent().receive<std::string>());
  for (int round = 0;; ++round) {
    cache.set(std::to_string(round % 10), value_of(round % 10));
    if (round == 0) channel_to_parent().send(std::string("started"));
  }
}

TEST_F(ProgramCacheFilesTest, AKilledProcessLeavesNoHalfFiles) {
  for (int round = 0; round < 5; ++round) {
    ChildProcess child("ProgramCacheChild.DISABLED_WritesForEver");
    child.channel().send(cache.path());
    child.channel().receive<std::string>();
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
    child.kill();
    for (const fs::path& file : files_in(cache.path())) {
      EXPECT_THAT(file.extension().string(), ::testing::AnyOf(".code", ".part"));
    }
    const std::size_t entries = cache.size();
    std::size_t sound = 0;
    for (int number = 0; number < 10; ++number) {
      const std::optional<std::string> value = cache.get(std::to_string(number));
      if (value) sound += *value == value_of(number);
    }
    EXPECT_EQ(sound, entries);
  }
}

}  // namespace
}  // namespace cuprum::tests
