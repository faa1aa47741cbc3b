#include "core/program_cache/scanned_file.hpp"

#include <cuprum/error.hpp>
#include <mutex>
#include <unordered_map>

#include "support/read_file.hpp"

namespace cuprum::core {
namespace {

constexpr std::size_t most_files = 8192;

/// What changes with a file's contents.
struct Signature {
  explicit Signature(const struct stat& status)
      : device(status.st_dev),
        file(status.st_ino),
        size(status.st_size),
        written(status.st_mtim.tv_sec),
        written_nanoseconds(status.st_mtim.tv_nsec),
        changed(status.st_ctim.tv_sec),
        changed_nanoseconds(status.st_ctim.tv_nsec) {}
  bool operator==(const Signature&) const = default;

  dev_t device;
  ino_t file;
  off_t size;
  time_t written;
  long written_nanoseconds;
  time_t changed;
  long changed_nanoseconds;
};

/// Clocks of file systems tick slowly: a file that changed just now may change again without showing it.
bool is_settled(const struct stat& status) { return std::time(nullptr) - status.st_ctim.tv_sec > 2; }

struct Remembered {
  Signature signature;
  std::shared_ptr<const ScannedFile> file;
};

struct ScannedFiles {
  std::mutex mutex;
  std::unordered_map<std::string, Remembered> files;
};

ScannedFiles& memory() {
  static ScannedFiles& once = *new ScannedFiles;  // programs may be compiled while the process exits
  return once;
}

std::shared_ptr<const ScannedFile> recall(const std::string& path, const Signature& signature) {
  std::lock_guard lock(memory().mutex);
  const auto found = memory().files.find(path);
  return found != memory().files.end() && found->second.signature == signature ? found->second.file : nullptr;
}

void remember(const std::string& path, Remembered file) {
  std::lock_guard lock(memory().mutex);
  if (memory().files.size() >= most_files) memory().files.clear();
  memory().files.insert_or_assign(path, std::move(file));
}

}  // namespace

std::shared_ptr<const ScannedFile> scanned_file(const std::string& path, const struct stat& status) {
  const Signature signature(status);
  if (auto known = recall(path, signature)) return known;
  std::shared_ptr<const ScannedFile> file;
  try {
    const std::string text = support::read_file(path);
    file = std::make_shared<const ScannedFile>(ScannedFile{support::content_hash(text), scan_includes(text)});
  } catch (const InvalidArgument&) {
    return nullptr;
  }
  if (is_settled(status)) remember(path, {signature, file});
  return file;
}

}  // namespace cuprum::core
