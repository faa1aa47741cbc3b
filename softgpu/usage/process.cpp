#include "softgpu/usage/process.hpp"

#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

namespace softgpu::usage {

namespace {

struct Status {
  std::uint64_t start_time = 0, stack_start = 0;
};

// Empty for one that has ended.
std::optional<Status> read_status(std::uint32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path, "re"), close);
  if (!file) return std::nullopt;
  char line[1024] = {};
  if (std::fread(line, 1, sizeof line - 1, file.get()) == 0) return std::nullopt;
  // "PID (name) state ...": the name may have blanks and brackets of its own. The start is the 22nd of all, and the
  // stack the 28th.
  const char* rest = std::strrchr(line, ')');
  char state = 0;
  Status status;
  constexpr const char* kFields =
      ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64
      " %*s %*s %*s %*s %*s %" SCNu64;
  if (rest == nullptr || std::sscanf(rest, kFields, &state, &status.start_time, &status.stack_start) < 2)
    return std::nullopt;
  if (state == 'Z' || state == 'X') return std::nullopt;
  return status;
}

}  // namespace

std::optional<std::uint64_t> start_time(std::uint32_t pid) {
  const auto status = read_status(pid);
  return status ? std::optional(status->start_time) : std::nullopt;
}

std::uint64_t stack_start(std::uint32_t pid) { return read_status(pid).value_or(Status{}).stack_start; }

std::uint64_t pid_namespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace softgpu::usage
