#include "softgpu/usage/running.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "softgpu/usage/folder.hpp"
#include "softgpu/usage/process.hpp"
#include "softgpu/usage/publication.hpp"

namespace softgpu::usage {
namespace {

// What is in a file of that name; empty when it is no page that is ready. It is copied, not mapped: a file that is cut
// short under a mapping would end the process.
std::optional<Page> read_page(const File& folder, const char* name) {
  const File file(openat(folder.descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
    return std::nullopt;
  Page page;
  if (pread(file.descriptor(), &page, sizeof page, 0) != static_cast<ssize_t>(sizeof page)) return std::nullopt;
  if (page.magic != Page::kMagic || page.devices > kMaxDevices || page.seats > kMaxSeats) return std::nullopt;
  return page;
}

}  // namespace

std::vector<Page> running(const std::string& folder) {
  std::vector<Page> pages;
  const File opened = open_folder(folder.empty() ? user_folder() : folder, false);
  if (!opened) return pages;
  const int copy = fcntl(opened.descriptor(), F_DUPFD_CLOEXEC, 0);
  const auto close_list = [](DIR* list) { closedir(list); };
  const std::unique_ptr<DIR, decltype(close_list)> list(copy >= 0 ? fdopendir(copy) : nullptr, close_list);
  if (!list) return pages;
  const std::uint64_t our_namespace = pid_namespace();
  while (const dirent* entry = readdir(list.get())) {
    const std::optional<Page> page = read_page(opened, entry->d_name);
    if (!page || page->pid_namespace != our_namespace) continue;
    if (start_time(page->pid) == page->start_time)
      pages.push_back(*page);
    else
      unlinkat(opened.descriptor(), entry->d_name, 0);
  }
  std::sort(pages.begin(), pages.end(), [](const Page& a, const Page& b) { return a.pid < b.pid; });
  return pages;
}

std::uint64_t busy_ns(const Page& page, unsigned device, std::uint64_t now) {
  std::uint64_t busy = page.device[device].busy_ns;
  for (unsigned i = 0; i < page.seats; ++i) {
    const SeatNote& seat = page.seat[i];
    if (seat.since_ns != 0 && seat.device == device && seat.since_ns < now) busy += now - seat.since_ns;
  }
  return busy;
}

}  // namespace softgpu::usage
