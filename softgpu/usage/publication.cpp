#include "softgpu/usage/publication.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <new>
#include <numeric>
#include <string_view>

#include "softgpu/usage/folder.hpp"
#include "softgpu/usage/process.hpp"

namespace softgpu::usage {
namespace {

// Of another namespace a process may have the same number, and the same folder.
std::string file_name() { return std::to_string(getpid()) + "-" + std::to_string(pid_namespace()); }

// A new file; one of that name can only be left over from a process that had this number before.
File create(const File& folder, const std::string& name) {
  constexpr int kHow = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  unlinkat(folder.descriptor(), name.c_str(), 0);
  return File(openat(folder.descriptor(), name.c_str(), kHow, 0600));
}

// Some of what processes that were killed have left behind, so that it does not become more and more where nobody reads
// the pages. Only some: the folder may be large, and this process wants to start.
void remove_left_over(const File& folder) {
  constexpr int kMost = 64;
  const int copy = fcntl(folder.descriptor(), F_DUPFD_CLOEXEC, 0);
  const auto close_list = [](DIR* list) { closedir(list); };
  const std::unique_ptr<DIR, decltype(close_list)> list(copy >= 0 ? fdopendir(copy) : nullptr, close_list);
  if (!list) return;
  const std::uint64_t ours = pid_namespace();
  const dirent* entry = nullptr;
  for (int i = 0; i < kMost && (entry = readdir(list.get())) != nullptr; ++i) {
    int pid = 0;
    unsigned long long space = 0;
    char rest[16] = {};
    const int read = std::sscanf(entry->d_name, "%d-%llu%15s", &pid, &space, rest);
    const bool is_ours = read == 2 || (read == 3 && std::string_view(rest) == kControlSuffix);
    if (!is_ours || space != ours || pid <= 0) continue;
    if (kill(pid, 0) != 0 && errno == ESRCH) unlinkat(folder.descriptor(), entry->d_name, 0);
  }
}

// All of it is written, so that the room for it is there: a store to a mapped page for which the disk has none would
// end the process.
bool write_all(const File& file, const Page& page) {
  return pwrite(file.descriptor(), &page, sizeof page, 0) == static_cast<ssize_t>(sizeof page);
}

Page* map(int descriptor, int flags) {
  void* const memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, flags, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Page*>(memory);
}

}  // namespace

std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

Publication::Publication(const std::string& folder, unsigned devices, unsigned seats) {
  page_ = map_file(folder.empty() ? user_folder() : folder);
  if (page_ == nullptr) page_ = map(-1, MAP_PRIVATE | MAP_ANONYMOUS);
  if (page_ == nullptr) throw std::bad_alloc();
  page_->pid = static_cast<std::uint32_t>(getpid());
  page_->start_time = start_time(page_->pid).value_or(0);
  page_->stack_start = stack_start(page_->pid);
  page_->pid_namespace = pid_namespace();
  page_->devices = devices;
  std::iota(page_->unit.begin(), page_->unit.end(), std::uint8_t{0});
  page_->seats = seats;
  static_assert(offsetof(Page, magic) % alignof(std::uint64_t) == 0);
  std::atomic_ref(reinterpret_cast<std::uint64_t&>(page_->magic))
      .store(std::bit_cast<std::uint64_t>(Page::kMagic), std::memory_order_release);
}

Publication::~Publication() {
  withdraw();
  munmap(page_, sizeof(Page));
}

Page* Publication::map_file(const std::string& path) {
  const File folder = open_folder(path, true);
  if (!folder) return nullptr;
  remove_left_over(folder);
  const std::string name = file_name();
  const File file = create(folder, name);
  if (!file) return nullptr;
  Page* const mapped = write_all(file, Page{}) ? map(file.descriptor(), MAP_SHARED) : nullptr;
  if (mapped == nullptr) {
    unlinkat(folder.descriptor(), name.c_str(), 0);
    return nullptr;
  }
  folder_ = path;
  file_ = name;
  return mapped;
}

void Publication::withdraw() {
  if (file_.empty() || page_->pid != static_cast<std::uint32_t>(getpid())) return;  // a child's exit is not ours
  if (const File folder = open_folder(folder_, false)) unlinkat(folder.descriptor(), file_.c_str(), 0);
  file_.clear();
}

}  // namespace softgpu::usage
