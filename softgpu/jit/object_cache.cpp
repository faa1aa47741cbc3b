#include "softgpu/jit/object_cache.hpp"

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
#include "softgpu/jit/private_folder.hpp"

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

std::string temporary_name() {
  static std::atomic<unsigned> counter{0};
  return std::to_string(getpid()) + "-" + std::to_string(counter.fetch_add(1)) + kTemporary;
}

}  // namespace

std::string user_cache_folder() {
  if (const char* folder = secure_getenv("XDG_CACHE_HOME"); folder && *folder == '/')
    return std::string(folder) + "/softgpu";
  if (const char* home = secure_getenv("HOME"); home && *home == '/') return std::string(home) + "/.cache/softgpu";
  return {};
}

ObjectCache::ObjectCache(CacheOptions options) : options_(std::move(options)) {}

std::string ObjectCache::name_of(std::string_view key) const {
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(bytes_of(key));
  char name[33];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return std::string(name) + kSuffix;
}

std::optional<std::string> ObjectCache::load(std::string_view key) {
  if (!enabled()) return std::nullopt;
  const PrivateFolder folder(options_.folder);
  if (!folder) return std::nullopt;
  const auto [file, bytes] = folder.open(name_of(key));
  Header header;
  if (!file || !file.read_all(&header, sizeof header) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return std::nullopt;
  if (header.bytes != static_cast<std::uint64_t>(bytes) - sizeof header) return std::nullopt;
  std::string data(header.bytes, '\0');
  if (!file.read_all(data.data(), data.size()) || checksum_of(key, data) != header.checksum) return std::nullopt;
  futimens(file.descriptor(), nullptr);  // used now
  return data;
}

void ObjectCache::store(std::string_view key, std::string_view data) noexcept try {
  if (!enabled() || sizeof(Header) + data.size() > options_.max_bytes) return;
  std::error_code ignored;
  if (fs::create_directories(options_.folder, ignored)) fs::permissions(options_.folder, fs::perms::owner_all, ignored);
  const PrivateFolder folder(options_.folder);
  if (!folder) return;

  const std::string temporary = temporary_name();
  Header header{.bytes = data.size(), .checksum = checksum_of(key, data)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  {
    const OpenFile file = folder.create(temporary);
    if (!file) return;
    if (!file.write_all({reinterpret_cast<const char*>(&header), sizeof header}) || !file.write_all(data)) {
      folder.remove(temporary);
      return;
    }
  }
  make_room(sizeof header + data.size());
  if (!folder.rename(temporary, name_of(key))) folder.remove(temporary);
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
