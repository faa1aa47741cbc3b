#include "softgpu/jit/object_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "llvm/Support/xxhash.h"

namespace softgpu::jit {
namespace {

namespace fs = std::filesystem;

struct Header {
  char magic[8];
  std::uint64_t bytes;
  std::uint64_t checksum;  // of the key and the data: a file under a wrong name is damaged, too
};
constexpr char kMagic[8] = {'s', 'g', 'p', 'u', 'o', 'b', 'j', '1'};
constexpr const char* kSuffix = ".sgo";
constexpr const char* kTemporary = ".tmp";
constexpr std::chrono::hours kAbandoned{1};

llvm::ArrayRef<std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::uint64_t checksum_of(std::string_view key, std::string_view data) {
  return llvm::xxh3_64bits(bytes_of(key)) * 31 + llvm::xxh3_64bits(bytes_of(data));
}

class File {
 public:
  File(const std::string& path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  bool read_all(void* to, std::size_t bytes) const {
    for (auto* at = static_cast<char*>(to); bytes > 0;) {
      const ssize_t got = read(descriptor_, at, bytes);
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }
  bool write_all(std::string_view data) const {
    while (!data.empty()) {
      const ssize_t put = write(descriptor_, data.data(), data.size());
      if (put <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

 private:
  int descriptor_;
};

std::string temporary_name() {
  static std::atomic<unsigned> counter{0};
  return std::to_string(getpid()) + "-" + std::to_string(counter.fetch_add(1)) + kTemporary;
}

}  // namespace

std::string user_cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder == '/')
    return std::string(folder) + "/softgpu";
  if (const char* home = std::getenv("HOME"); home && *home == '/') return std::string(home) + "/.cache/softgpu";
  return {};
}

ObjectCache::ObjectCache(CacheOptions options) : options_(std::move(options)) {}

std::string ObjectCache::path_of(std::string_view key) const {
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(bytes_of(key));
  char name[33];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return options_.folder + "/" + name + kSuffix;
}

std::optional<std::string> ObjectCache::load(std::string_view key) {
  if (!enabled()) return std::nullopt;
  const File file(path_of(key), O_RDONLY);
  struct stat status;
  // Code that another user may have written is not run.
  if (!file || fstat(file.descriptor(), &status) != 0 || status.st_uid != geteuid()) return std::nullopt;
  Header header;
  if (!file.read_all(&header, sizeof header) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return std::nullopt;
  if (header.bytes != static_cast<std::uint64_t>(status.st_size) - sizeof header) return std::nullopt;
  std::string data(header.bytes, '\0');
  if (!file.read_all(data.data(), data.size()) || checksum_of(key, data) != header.checksum) return std::nullopt;
  futimens(file.descriptor(), nullptr);  // used now
  return data;
}

void ObjectCache::store(std::string_view key, std::string_view data) noexcept try {
  if (!enabled() || sizeof(Header) + data.size() > options_.max_bytes) return;
  std::error_code ignored;
  if (fs::create_directories(options_.folder, ignored)) fs::permissions(options_.folder, fs::perms::owner_all, ignored);

  const std::string temporary = options_.folder + "/" + temporary_name();
  Header header{.bytes = data.size(), .checksum = checksum_of(key, data)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file) return;
    if (!file.write_all({reinterpret_cast<const char*>(&header), sizeof header}) || !file.write_all(data)) {
      unlink(temporary.c_str());
      return;
    }
  }
  make_room(sizeof header + data.size());
  if (rename(temporary.c_str(), path_of(key).c_str()) != 0) unlink(temporary.c_str());
} catch (...) {
  // Out of memory, a folder that vanished: the cache is only a cache.
}

// Counts the folder's files when that was never done or when the limit seems reached; other processes write there too.
void ObjectCache::make_room(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes_ && *bytes_ + bytes <= options_.max_bytes) {
    *bytes_ += bytes;
    return;
  }
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<Entry> entries;
  std::uint64_t total = bytes;
  std::error_code error;
  for (fs::directory_iterator at(options_.folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may be making room as well
    const fs::file_time_type used = at->last_write_time(gone);
    const std::uint64_t size = at->file_size(gone);
    if (gone) continue;
    const fs::path extension = at->path().extension();
    if (extension == kTemporary && fs::file_time_type::clock::now() - used > kAbandoned) fs::remove(at->path(), gone);
    if (extension != kSuffix) continue;
    entries.push_back({at->path(), used, size});
    total += size;
  }
  if (total > options_.max_bytes) {
    // Somewhat more than needed, so that not every store has to look.
    const std::uint64_t goal = options_.max_bytes / 10 * 9;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : entries) {
      if (total <= goal || total <= bytes) break;
      std::error_code gone;
      fs::remove(entry.path, gone);
      total -= entry.bytes;
    }
  }
  bytes_ = total;
}

}  // namespace softgpu::jit
