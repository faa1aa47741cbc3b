#include "softgpu/usage/fault_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <optional>
#include <type_traits>
#include <utility>

#include "softgpu/usage/publication.hpp"

namespace softgpu::usage {
namespace {

constexpr const char* kName = "faults";
constexpr const char* kNextName = "faults-next";
constexpr off_t kLong = 64 << 10;  // some thousands of them

struct Record {
  static constexpr std::uint64_t kMagic = 0x31746c7561666773;  // "sgfault1"

  std::uint64_t magic = kMagic;
  Fault fault{};
};
static_assert(std::is_trivially_copyable_v<Record>);

std::optional<struct stat> status_of(const File& file) {
  struct stat status;
  if (!file || fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

File open_in(const File& folder, const char* name, int how) {
  return File(openat(folder.descriptor(), name, how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
}

File open_to_append(const File& folder) { return open_in(folder, kName, O_WRONLY | O_APPEND | O_CREAT); }

bool is_long(const File& file) {
  const auto status = status_of(file);
  return status && status->st_size >= kLong;
}

void append(const File& file, const Fault& fault) {
  const Record record{.fault = fault};
  if (status_of(file)) (void)!write(file.descriptor(), &record, sizeof record);
}

// A new file in the place of one that has become long. Who reads the old one still has it. Nobody waits for the lock:
// its owner may have been stopped, and whoever does not get it appends to the long file.
void begin_anew(const File& folder, const File& old) {
  if (flock(old.descriptor(), LOCK_EX | LOCK_NB) != 0) return;
  const auto current = status_of(open_in(folder, kName, O_RDONLY)), ours = status_of(old);
  if (!current || !ours || !is_same(*current, *ours)) return;  // another process was faster
  unlinkat(folder.descriptor(), kNextName, 0);
  if (const File next = open_in(folder, kNextName, O_WRONLY | O_CREAT | O_EXCL))
    renameat(folder.descriptor(), kNextName, folder.descriptor(), kName);
}

}  // namespace

void FaultLog::note(const Fault& fault) const noexcept {
  if (folder_.empty()) return;
  const File folder = open_folder(folder_, false);
  if (!folder) return;
  if (const File file = open_to_append(folder); !is_long(file)) {
    append(file, fault);
  } else {
    begin_anew(folder, file);
    append(open_to_append(folder), fault);
  }
}

FaultReader::FaultReader(const std::string& folder) : folder_(folder.empty() ? user_folder() : folder) {
  file_ = open_current();
  if (const auto status = status_of(file_)) done_ = static_cast<std::size_t>(status->st_size);
}

File FaultReader::open_current() const {
  const File folder = open_folder(folder_, false);
  return folder ? open_in(folder, kName, O_RDONLY) : File(-1);
}

// What is left of a file that was replaced comes before what is in the new one.
std::vector<Fault> FaultReader::next() {
  std::vector<Fault> found;
  File current = open_current();
  read_rest(found);
  const auto ours = status_of(file_), now = status_of(current);
  if (!now || (ours && is_same(*ours, *now))) return found;
  file_ = std::move(current);
  done_ = 0;
  read_rest(found);
  return found;
}

void FaultReader::read_rest(std::vector<Fault>& found) {
  std::array<Record, 64> records;
  for (;;) {
    const ssize_t bytes = pread(file_.descriptor(), records.data(), sizeof records, static_cast<off_t>(done_));
    const std::size_t count = bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(Record) : 0;
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i)
      if (records[i].magic == Record::kMagic) found.push_back(records[i].fault);
    done_ += count * sizeof(Record);
  }
}

}  // namespace softgpu::usage
