#include "softgpu/jit/object_cache.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write_file(const fs::path& path, const std::string& data) { std::ofstream(path, std::ios::binary) << data; }

TEST(ObjectCache, GivesBackWhatWasStored) {
  const TemporaryFolder folder;
  const std::string data(100000, 'x');
  ObjectCache(CacheOptions{folder.path() + "/a/b"}).store("key", data);
  ObjectCache other({folder.path() + "/a/b"});
  EXPECT_EQ(other.load("key"), data);
  EXPECT_EQ(other.load("another key"), std::nullopt);
  other.store("key", "new");
  EXPECT_EQ(other.load("key"), "new");
  EXPECT_EQ(fs::status(folder.path() + "/a/b").permissions(), fs::perms::owner_all);
}

TEST(ObjectCache, IgnoresAndReplacesDamagedEntries) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  const std::string data = "some object code";
  cache.store("key", data);
  const fs::path file = folder.files().at(0);
  const std::string sound = read_file(file);

  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_file(file, damaged);
    EXPECT_EQ(cache.load("key"), std::nullopt) << "byte " << at;
  }
  for (std::size_t length = 0; length < sound.size(); ++length) {
    write_file(file, sound.substr(0, length));
    EXPECT_EQ(cache.load("key"), std::nullopt) << "first " << length << " bytes";
  }
  write_file(file, sound + "more");
  EXPECT_EQ(cache.load("key"), std::nullopt);
  cache.store("key", data);
  EXPECT_EQ(cache.load("key"), data);
}

TEST(ObjectCache, IgnoresAnEntryUnderAnothersName) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  cache.store("a", "code of a");
  const fs::path file_a = folder.files().at(0);
  cache.store("b", "code of b");
  for (const fs::path& file : folder.files())
    if (file != file_a) fs::copy_file(file_a, file, fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.load("b"), std::nullopt);
}

TEST(ObjectCache, DoesNotWaitForAPipeNorFollowLinks) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  cache.store("key", "code");
  const fs::path file = folder.files().at(0);
  const fs::path elsewhere = file.string() + ".elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_EQ(cache.load("key"), std::nullopt) << "a link to a sound file";
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(cache.load("key"), std::nullopt) << "a pipe that nobody writes to";
  fs::remove(file);
  fs::rename(elsewhere, file);
  EXPECT_EQ(cache.load("key"), "code");
}

TEST(ObjectCache, UsesNothingThatOthersCanWrite) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  cache.store("key", "code");
  const fs::path file = folder.files().at(0);
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(file, others, fs::perm_options::add);
    EXPECT_EQ(cache.load("key"), std::nullopt);
    fs::permissions(file, others, fs::perm_options::remove);
    fs::permissions(folder.path(), others, fs::perm_options::add);
    EXPECT_EQ(cache.load("key"), std::nullopt);
    cache.store("new", "code");
    fs::permissions(folder.path(), others, fs::perm_options::remove);
    EXPECT_EQ(cache.load("new"), std::nullopt);
  }
  EXPECT_EQ(cache.load("key"), "code");
}

// Only the superuser can give files away.
TEST(ObjectCache, UsesNothingOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs the right to give files to another user";
  constexpr uid_t kNobody = 65534;
  const TemporaryFolder folder;
  ObjectCache cache({folder.path() + "/cache"});
  cache.store("key", "code");
  const fs::path file = fs::directory_iterator(folder.path() + "/cache")->path();
  ASSERT_EQ(chown(file.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(cache.load("key"), std::nullopt);
  ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
  const std::string link = folder.path() + "/link";
  fs::create_directory_symlink(folder.path() + "/cache", link);
  EXPECT_EQ(ObjectCache({link}).load("key"), "code") << "the user's own link";
  ASSERT_EQ(lchown(link.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(ObjectCache({link}).load("key"), std::nullopt) << "another's";
  ASSERT_EQ(chown((folder.path() + "/cache").c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(cache.load("key"), std::nullopt);
}

TEST(ObjectCache, RemovesWhatWasUsedLongestAgo) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path(), 10000});
  const std::string data(1500, 'x');
  const auto tick = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  for (int i = 0; i < 6; ++i) {
    cache.store("key" + std::to_string(i), data);
    tick();
  }
  EXPECT_TRUE(cache.load("key0"));  // used: now the newest
  tick();
  cache.store("key6", data);
  EXPECT_TRUE(cache.load("key0"));
  EXPECT_TRUE(cache.load("key6"));
  EXPECT_FALSE(cache.load("key1"));
  std::uint64_t total = 0;
  for (const fs::path& file : folder.files()) total += fs::file_size(file);
  EXPECT_LE(total, 10000u);
}

TEST(ObjectCache, CountsWhatOtherProcessesStored) {
  const TemporaryFolder folder;
  ObjectCache({folder.path(), 1 << 20}).store("theirs", std::string(8000, 'x'));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ObjectCache cache({folder.path(), 10000});
  cache.store("ours", std::string(4000, 'x'));
  EXPECT_FALSE(cache.load("theirs"));
  EXPECT_TRUE(cache.load("ours"));
}

TEST(ObjectCache, DoesNotStoreWhatIsLargerThanItsLimit) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path(), 1000});
  cache.store("small", "x");
  cache.store("large", std::string(2000, 'x'));
  EXPECT_FALSE(cache.load("large"));
  EXPECT_TRUE(cache.load("small"));
}

TEST(ObjectCache, CleansUpAfterProcessesThatDied) {
  const TemporaryFolder folder;
  const fs::path left_behind = folder.path() + "/1-2.tmp", in_use = folder.path() + "/3-4.tmp";
  write_file(left_behind, "half");
  write_file(in_use, "half");
  fs::last_write_time(left_behind, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ObjectCache({folder.path()}).store("key", "data");
  EXPECT_FALSE(fs::exists(left_behind));
  EXPECT_TRUE(fs::exists(in_use));
}

TEST(ObjectCache, CanBeSwitchedOff) {
  const TemporaryFolder folder;
  ObjectCache no_folder({.folder = ""}), no_bytes({folder.path(), 0});
  for (ObjectCache* cache : {&no_folder, &no_bytes}) {
    EXPECT_FALSE(cache->enabled());
    cache->store("key", "data");
    EXPECT_FALSE(cache->load("key"));
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST(ObjectCache, WorksWithoutAFolderItCanUse) {
  const TemporaryFolder folder;
  write_file(folder.path() + "/file", "");
  ObjectCache cache({folder.path() + "/file/folder"});
  cache.store("key", "data");
  EXPECT_FALSE(cache.load("key"));
}

TEST(ObjectCache, IsSafeBetweenProcesses) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      // A tight limit, so that they remove each other's files; what is found must be whole.
      ObjectCache cache({folder.path(), 60000});
      bool sound = true;
      for (int i = 0; i < 400; ++i) {
        const std::string key = std::to_string(i % 20),
                          data(static_cast<std::size_t>(1000 + 300 * (i % 20)), static_cast<char>('a' + i % 20));
        if (const auto found = cache.load(key)) sound &= *found == data;
        cache.store(key, data);
      }
      _exit(sound ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (const fs::path& file : folder.files()) EXPECT_EQ(file.extension(), ".sgo");
}

TEST(UserCacheFolder, FollowsTheEnvironment) {
  setenv("HOME", "/home/someone", 1);
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(user_cache_folder(), "/home/someone/.cache/softgpu");
  setenv("XDG_CACHE_HOME", "/var/cache/someone", 1);
  EXPECT_EQ(user_cache_folder(), "/var/cache/someone/softgpu");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(user_cache_folder(), "");
}

}  // namespace
}  // namespace softgpu::jit
