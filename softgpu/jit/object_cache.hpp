// Compiled kernels on disk, shared by all processes of a user. One file per kernel and block shape, named by a hash of
// everything the code depends on.
//
// Files are written under another name and renamed, carry a checksum, and are ignored (and replaced) when they are
// damaged or truncated. What is in them will be run: a folder or file that another user owns or can write is not used
// (see private_folder.hpp), and neither are links and what is no plain file. When the folder grows over its limit, what
// was used longest ago goes. A folder that can't be written or read is the same as no cache.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace softgpu::jit {

struct CacheOptions {
  std::string folder;                                // empty: no cache
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // 0: no cache
};

// $XDG_CACHE_HOME/softgpu, or ~/.cache/softgpu; empty when neither variable is set.
std::string user_cache_folder();

// Thread-safe.
class ObjectCache {
 public:
  explicit ObjectCache(CacheOptions);

  bool enabled() const { return !options_.folder.empty() && options_.max_bytes > 0; }

  // The data stored under the hash of `key`, if it is there and sound.
  std::optional<std::string> load(std::string_view key);
  // Never fails: what can't be stored is not.
  void store(std::string_view key, std::string_view data) noexcept;

 private:
  std::string name_of(std::string_view key) const;
  void make_room(std::uint64_t bytes);

  const CacheOptions options_;
  std::mutex mutex_;
  std::optional<std::uint64_t> bytes_;  // in the folder, when last counted, and what was stored since
};

}  // namespace softgpu::jit
