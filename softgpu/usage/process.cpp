#include "softgpu/usage/process.hpp"

#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

namespace softgpu::usage {

std::optional<std::uint64_t> start_time(std::uint32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path, "re"), close);
  if (!file) return std::nullopt;
  char line[1024] = {};
  if (std::fread(line, 1, sizeof line - 1, file.get()) == 0) return std::nullopt;
  // "PID (name) state ...": the name may have blanks and brackets of its own. The start is the 22nd of all.
  const char* rest = std::strrchr(line, ')');
  char state = 0;
  std::uint64_t ticks = 0;
  constexpr const char* kFields =
      ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64;
  if (rest == nullptr || std::sscanf(rest, kFields, &state, &ticks) != 2) return std::nullopt;
  if (state == 'Z' || state == 'X') return std::nullopt;
  return ticks;
}

std::uint64_t pid_namespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace softgpu::usage
