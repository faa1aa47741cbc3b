#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuprum/program_cache.hpp>
#include <filesystem>
#include <mutex>

#include "core/program_cache/folder.hpp"
#include "core/program_cache/limit.hpp"
#include "support/content_hash.hpp"
#include "support/file_descriptor.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

namespace fs = std::filesystem;
using support::content_hash;
using support::ContentHash;
using support::FileDescriptor;
using support::text;

/// A file is this header, the key, the value, and its notes.
struct Header {
  std::array<char, 8> magic;
  ContentHash checksum;  // of what follows
  std::uint64_t key_size;
  std::uint64_t value_size;
};
constexpr std::size_t checked_from = offsetof(Header, key_size);
constexpr std::array<char, 8> magic = {'C', 'u', 'c', 'a', 'c', 'h', 'e', '2'};
constexpr const char* ending = ".code";
constexpr const char* unfinished = ".part";  // of a file that is being written
constexpr std::chrono::hours abandoned{1};

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw SystemError(text("the program cache can't ", what, " '", path, "'"), errno);
}

std::string to_file(std::string_view key, const ProgramCacheEntry& entry) {
  std::string file(sizeof(Header), '\0');
  file.reserve(sizeof(Header) + key.size() + entry.value.size() + entry.notes.size());
  file.append(key).append(entry.value).append(entry.notes);
  Header header{magic, {}, key.size(), entry.value.size()};
  std::memcpy(file.data(), &header, sizeof header);
  header.checksum = content_hash(std::string_view(file).substr(checked_from));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

/// What the file holds; none when it is damaged or holds another key.
std::optional<ProgramCacheEntry> entry_in(std::string_view file, std::string_view key) {
  Header header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  std::string_view rest = file.substr(sizeof header);
  if (header.magic != magic || header.key_size != key.size() || !rest.starts_with(key)) return std::nullopt;
  if (header.checksum != content_hash(file.substr(checked_from))) return std::nullopt;
  rest.remove_prefix(key.size());
  if (header.value_size > rest.size()) return std::nullopt;
  return ProgramCacheEntry{std::string(rest.substr(0, header.value_size)), std::string(rest.substr(header.value_size))};
}

/// Everything in the file; none when it isn't a file of this user, or others can write it. Nobody else's is trusted.
std::optional<std::string> read_own_file(const FileDescriptor& file, const struct stat& status,
                                         const std::string& path) {
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return std::nullopt;
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);  // which says nothing of what is in the file
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

bool write_all(const FileDescriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// A file that is removed again unless it gets its place.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path) : path_(std::move(path)) {}
  UnfinishedFile(UnfinishedFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  UnfinishedFile& operator=(UnfinishedFile&&) = delete;
  ~UnfinishedFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  void move_to(const std::string& place) {
    if (rename(path_.c_str(), place.c_str()) != 0) fail("write", place);
    path_.clear();
  }

 private:
  std::string path_;
};

/// One version of a file. Another one takes its place by another file, and each use is noted in the time.
struct FileFacts {
  explicit FileFacts(const struct stat& status)
      : used(status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec),
        bytes(static_cast<std::size_t>(status.st_size)),
        number(status.st_ino) {}

  bool operator==(const FileFacts&) const = default;
  bool is_older_than(std::chrono::nanoseconds age) const {
    return std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(used) > age;
  }

  std::int64_t used;  // nanoseconds since 1970
  std::size_t bytes;
  ino_t number;
};

std::optional<FileFacts> facts_of(const std::string& path) {
  struct stat status;
  errno = 0;
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return FileFacts(status);
}

/// Removes a file, unless it is another one than was seen, or was used since: other processes store and use entries
/// meanwhile. No call removes a file on that condition, so it gets a name aside first, and its own again if it is not
/// the one that was seen. False: it is still there.
bool remove_seen(const std::string& path, const FileFacts& seen) {
  if (facts_of(path) != seen) return errno == ENOENT;
  static std::atomic<unsigned> count{0};
  const std::string aside = text(path, '.', getpid(), '-', count++, unfinished);
  if (rename(path.c_str(), aside.c_str()) != 0) return errno == ENOENT;
  const bool is_the_one = facts_of(aside) == seen;
  if (!is_the_one && renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return false;
  return unlink(aside.c_str()) == 0;
}

/// What is in a file; none when there is no such file, or not a good one, which is removed.
std::optional<ProgramCacheEntry> read_entry(const std::string& path, std::string_view key) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    const bool is_not_there = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;  // a link is no file of ours
    if (!is_not_there) fail("read", path);
    return std::nullopt;
  }
  struct stat status;
  if (fstat(file.get(), &status) != 0) fail("read", path);
  const std::optional<std::string> bytes = read_own_file(file, status, path);
  if (!bytes) return std::nullopt;
  std::optional<ProgramCacheEntry> entry = entry_in(*bytes, key);
  if (entry) {
    futimens(file.get(), nullptr);  // used now
  } else {
    remove_seen(path, FileFacts(status));
  }
  return entry;
}

}  // namespace

struct FileStreamProgramCache::Folder {
  std::string path_of(std::string_view key) const { return path + '/' + to_string(content_hash(key)) + ending; }

  void make() const {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail("make the folder", path);
  }

  /// An empty file of a name that nobody else has; the name takes the place of `pattern`.
  static FileDescriptor make_file(std::string& pattern) {
    return FileDescriptor(mkostemps(pattern.data(), static_cast<int>(std::strlen(unfinished)), O_CLOEXEC));
  }

  /// The file, whole, under another name.
  UnfinishedFile write_unfinished(std::string_view bytes) const {
    const std::string pattern = path + "/XXXXXX" + unfinished;
    std::string name = pattern;
    FileDescriptor file = make_file(name);
    if (!file && errno == ENOENT) {
      make();
      name = pattern;
      file = make_file(name);
    }
    if (!file) fail("write to", path);
    UnfinishedFile written(std::move(name));
    if (!write_all(file, bytes)) fail("write to", path);
    return written;
  }

  /// Puts a file into the place of what was there; removes that when the new one is larger than all may be.
  void write(const std::string& to, std::string_view file) {
    if (file.size() > limit) {
      unlink(to.c_str());
      return;
    }
    UnfinishedFile written = write_unfinished(file);
    make_room(file.size());
    written.move_to(to);
  }

  /// Calls `each` for every entry, and removes what others left unfinished.
  template <typename Function>
  void for_each_entry(Function&& each) const {
    std::error_code error;
    fs::directory_iterator at(path, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      const fs::path kind = at->path().extension();
      if (kind != ending && kind != unfinished) continue;
      const std::optional<FileFacts> facts = facts_of(at->path());
      if (!facts) {
        if (errno == ENOENT) continue;  // other processes remove entries, too
        refuse_to_list({errno, std::generic_category()});
      }
      if (kind == ending) {
        each(at->path().string(), *facts);
      } else if (facts->is_older_than(abandoned)) {
        remove_seen(at->path(), *facts);
      }
    }
    const bool is_not_there = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
    if (error && !is_not_there) refuse_to_list(error);
  }

  [[noreturn]] void refuse_to_list(const std::error_code& reason) const {
    throw SystemError(text("the program cache can't list the files in '", path, "'"), reason.value());
  }

  /// Removes what was used longest ago until `added` bytes more would fit. Looks at the files only when the limit seems
  /// to be reached or nothing is known of them; other processes write, too, so the sum is never exact for long.
  void make_room(std::size_t added) {
    std::lock_guard lock(mutex);
    if (total && *total + added <= limit) {
      *total += added;
      return;
    }
    std::vector<std::pair<std::string, FileFacts>> entries;
    std::size_t sum = added;
    for_each_entry([&](std::string entry, const FileFacts& facts) {
      sum += facts.bytes;
      entries.emplace_back(std::move(entry), facts);
    });
    if (sum > limit) {
      std::sort(entries.begin(), entries.end(),
                [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
      const std::size_t goal = limit - limit / 10;  // so that not every store has to look
      for (const auto& [entry, facts] : entries) {
        if (sum <= goal || sum <= added) break;
        if (remove_seen(entry, facts)) sum -= facts.bytes;
      }
    }
    total = sum;
  }

  std::string path;
  std::optional<std::size_t> max_size_bytes;
  std::size_t limit;
  std::mutex mutex;
  std::optional<std::size_t> total = {};
};

FileStreamProgramCache::FileStreamProgramCache(std::string path, ProgramCacheOptions options) {
  const std::size_t limit = core::checked_limit(options);
  if (path.empty()) path = core::user_cache_folder();
  if (path.empty()) {
    throw InvalidArgument(
        "there is no folder for a program cache: CUPRUM_CACHE_DIR is off, or none of CUPRUM_CACHE_DIR, XDG_CACHE_HOME "
        "and HOME names one; give a path");
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);  // the current folder may change
  if (error) throw InvalidArgument(text("'", path, "' can't be a program cache's folder: ", error.message()));
  folder_ = std::unique_ptr<Folder>(
      new Folder{.path = absolute.string(), .max_size_bytes = options.max_size_bytes, .limit = limit});
}

FileStreamProgramCache::~FileStreamProgramCache() = default;

std::optional<ProgramCacheEntry> FileStreamProgramCache::get_entry(std::string_view key) {
  return read_entry(folder_->path_of(key), key);
}

void FileStreamProgramCache::set_entry(std::string_view key, const ProgramCacheEntry& entry) {
  folder_->write(folder_->path_of(key), to_file(key, entry));
}

std::optional<std::string> FileStreamProgramCache::get(std::string_view key) {
  std::optional<ProgramCacheEntry> entry = get_entry(key);
  if (!entry) return std::nullopt;
  return std::move(entry->value);
}

void FileStreamProgramCache::set(std::string_view key, std::string_view value) { set_entry(key, {std::string(value)}); }

bool FileStreamProgramCache::erase(std::string_view key) { return unlink(folder_->path_of(key).c_str()) == 0; }

std::size_t FileStreamProgramCache::size() {
  std::size_t count = 0;
  folder_->for_each_entry([&](const std::string&, const FileFacts&) { ++count; });
  return count;
}

void FileStreamProgramCache::clear() {
  folder_->for_each_entry([](const std::string& entry, const FileFacts&) { unlink(entry.c_str()); });
  std::lock_guard lock(folder_->mutex);
  folder_->total.reset();
}

const std::string& FileStreamProgramCache::path() const { return folder_->path; }

std::optional<std::size_t> FileStreamProgramCache::max_size_bytes() const { return folder_->max_size_bytes; }

std::size_t FileStreamProgramCache::size_bytes() const {
  std::size_t total = 0;
  folder_->for_each_entry([&](const std::string&, const FileFacts& facts) { total += facts.bytes; });
  return total;
}

}  // namespace cuprum::inline CUPRUM_ABI
