#include "toolchain/linker_cache.hpp"

#include <cstdint>
#include <cstring>
#include <cuprum/error.hpp>

#include "support/read_file.hpp"

namespace cuprum::toolchain {
namespace {

namespace fs = std::filesystem;

// The layout of glibc's cache since version 2.2, see dl-cache.h there.
struct Header {
  char magic[20];
  std::uint32_t entries;
  std::uint32_t string_bytes;
  std::uint8_t flags;
  std::uint8_t padding[3];
  std::uint32_t extension_offset;
  std::uint32_t unused[3];
};

struct Entry {
  std::int32_t flags;
  std::uint32_t soname;  // offsets from the start of the file
  std::uint32_t path;
  std::uint32_t os_version;
  std::uint64_t hardware;
};

constexpr std::string_view magic = "glibc-ld.so.cache1.1";

// What the low half of an entry's flags says about the kind of library.
#if defined(__aarch64__)
constexpr std::int32_t our_libraries = 0x0a03;
#else
constexpr std::int32_t our_libraries = 0x0303;
#endif

std::string_view string_at(std::string_view contents, std::uint32_t offset) {
  if (offset >= contents.size()) return {};
  const std::string_view rest = contents.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

/// Empty when there is none that can be read: then the built-in folders are looked into.
std::string read_cache() {
  try {
    return support::read_file("/etc/ld.so.cache");
  } catch (const InvalidArgument&) {
    return {};
  }
}

std::optional<fs::path> file_in(const fs::path& folder, const std::string& soname) {
  std::error_code error;
  fs::path path = folder / soname;
  if (!folder.empty() && fs::is_regular_file(path, error)) return path;
  return std::nullopt;
}

#if defined(__aarch64__)
constexpr const char* builtin_folders[] = {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64",
                                           "/usr/lib64", "/usr/lib"};
#else
constexpr const char* builtin_folders[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
                                           "/usr/lib"};
#endif

}  // namespace

std::optional<std::string> look_up_in_linker_cache(std::string_view contents, std::string_view soname) {
  Header header;
  if (contents.size() < sizeof header || !contents.starts_with(magic)) return std::nullopt;
  std::memcpy(&header, contents.data(), sizeof header);
  std::string_view entries = contents.substr(sizeof header);
  for (std::uint32_t i = 0; i < header.entries && entries.size() >= sizeof(Entry); ++i) {
    Entry entry;
    std::memcpy(&entry, entries.data(), sizeof entry);
    entries.remove_prefix(sizeof entry);
    if (entry.flags == our_libraries && string_at(contents, entry.soname) == soname) {
      return std::string(string_at(contents, entry.path));
    }
  }
  return std::nullopt;
}

std::optional<fs::path> linked_library(const std::string& soname, std::string_view library_path) {
  while (!library_path.empty()) {
    const std::size_t end = std::min(library_path.find_first_of(":;"), library_path.size());
    if (auto path = file_in(library_path.substr(0, end), soname)) return path;
    library_path.remove_prefix(std::min(end + 1, library_path.size()));
  }
  if (auto path = look_up_in_linker_cache(read_cache(), soname)) return *path;
  for (const char* folder : builtin_folders) {
    if (auto path = file_in(folder, soname)) return path;
  }
  return std::nullopt;
}

}  // namespace cuprum::toolchain
