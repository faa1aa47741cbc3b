#include "softgpu/usage/running.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <memory>
#include <optional>

#include "softgpu/usage/folder.hpp"
#include "softgpu/usage/process.hpp"
#include "softgpu/usage/publication.hpp"

namespace softgpu::usage {
namespace {

// The file is another process's work, and these are indices.
bool is_permutation(const std::array<std::uint8_t, kMaxDevices>& units) {
  std::bitset<kMaxDevices> seen;
  for (const std::uint8_t unit : units)
    if (unit < kMaxDevices) seen.set(unit);
  return seen.all();
}

// A process knows its devices by its own numbers; whoever looks at several processes knows the machine's.
Page by_unit(const Page& page) {
  Page sorted = page;
  for (std::size_t i = 0; i < kMaxDevices; ++i) sorted.device[page.unit[i]] = page.device[i];
  for (std::size_t i = 0; i < page.seats; ++i)
    if (page.seat[i].device < kMaxDevices) sorted.seat[i].device = page.unit[page.seat[i].device];
  return sorted;
}

// Not so after exec(): the driver went with the program that used it. The file stays for a new driver to replace.
bool runs_its_program(const Page& page) {
  const std::uint64_t now = stack_start(page.pid);
  return now == 0 || page.stack_start == 0 || now == page.stack_start;
}

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
  if (!is_permutation(page.unit)) return std::nullopt;
  return by_unit(page);
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
    if (start_time(page->pid) != page->start_time)
      unlinkat(opened.descriptor(), entry->d_name, 0);
    else if (runs_its_program(*page))
      pages.push_back(*page);
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
