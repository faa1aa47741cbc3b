#include "toolchain/nvrtc_set.hpp"

#include <charconv>
#include <cuprum/error.hpp>
#include <fstream>
#include <optional>

#include "driver_abi/entry_points.hpp"
#include "support/text.hpp"

namespace cuprum::toolchain {
namespace {

namespace fs = std::filesystem;
using driver_abi::CudaVersion;
using support::text;

// Where headers are, seen from the folder of the library: beside it in a toolkit, in conda and in the wheels of CUDA
// 13; each part in a folder of its own in the wheels of CUDA 12; in /usr/include for a library in
// /usr/lib/x86_64-linux-gnu.
struct HeaderLayout {
  const char* folder;  // of cuda.h and cuda_fp16.h
  std::vector<const char*> others;
};

const std::vector<HeaderLayout>& header_layouts() {
  static const std::vector<HeaderLayout> layouts = {
      {"../include", {"../include/cccl"}},
      {"../../cuda_runtime/include", {"../../cuda_nvcc/include", "../../cuda_cccl/include", "../../curand/include"}},
      {"../../include", {"../../include/cccl"}},
  };
  return layouts;
}

// CUDA_VERSION as <cuda.h> defines it.
std::optional<int> version_of_headers(const fs::path& folder) {
  constexpr std::string_view definition = "#define CUDA_VERSION ";
  std::ifstream file(folder / "cuda.h");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(definition)) continue;
    int version = 0;
    const char* digits = line.data() + definition.size();
    if (std::from_chars(digits, line.data() + line.size(), version).ec == std::errc()) return version;
  }
  return std::nullopt;
}

std::vector<fs::path> headers_beside(const fs::path& lib_folder, int version, std::vector<std::string>& remarks) {
  for (const HeaderLayout& layout : header_layouts()) {
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(lib_folder / layout.folder, error);
    if (!fs::exists(folder / "cuda_fp16.h", error)) {
      remarks.push_back(text(folder.string(), ": has no cuda_fp16.h"));
      continue;
    }
    const std::optional<int> found = version_of_headers(folder);
    if (found != version) {
      remarks.push_back(text(folder.string(), ": headers of ",
                             found ? text("CUDA ", CudaVersion{*found}) : "an unknown version (no cuda.h)",
                             ", not used with NVRTC ", CudaVersion{version}));
      continue;
    }
    std::vector<fs::path> folders = {folder};
    for (const char* other : layout.others) {
      fs::path path = fs::weakly_canonical(lib_folder / other, error);
      if (fs::is_directory(path, error)) folders.push_back(std::move(path));
    }
    return folders;
  }
  return {};
}

// The folder by which the library was found, and the one where its file really is.
std::vector<fs::path> folders_of(const fs::path& library) {
  std::error_code error;
  std::vector<fs::path> folders = {library.parent_path()};
  const fs::path real = fs::canonical(library, error).parent_path();
  if (!error && real != folders.front()) folders.push_back(real);
  return folders;
}

std::optional<int> version_of(const support::SharedLibrary& library) {
  using Version = int (*)(int*, int*);
  const auto get = reinterpret_cast<Version>(library.symbol("nvrtcVersion"));
  int major = 0;
  int minor = 0;
  if (!get || get(&major, &minor) != 0) return std::nullopt;
  return 1000 * major + 10 * minor;
}

std::optional<fs::path> find_beside(const fs::path& library, const std::string& file) {
  std::error_code error;
  for (const fs::path& folder : folders_of(library)) {
    if (fs::is_regular_file(folder / file, error)) return folder / file;
  }
  return std::nullopt;
}

// NVRTC asks the loader for its built-ins by their bare name when it compiles, and gets those that are loaded already.
// So they are opened here, from NVRTC's folder; and when others are there already, this NVRTC can't be used.
std::optional<fs::path> open_builtins(const fs::path& library, int version, const Surroundings& surroundings,
                                      std::string& obstacle) {
  const std::string name = text("libnvrtc-builtins.so.", CudaVersion{version});
  const std::optional<fs::path> file = find_beside(library, name);
  std::error_code error;
  if (!file) {
    obstacle = text("has no ", name, " beside it");
  } else if (auto other = surroundings.loaded(name); other && !fs::equivalent(*other, *file, error)) {
    obstacle = text("can't be used, because this process has loaded the built-ins of another NVRTC, ", other->string());
  } else if (auto builtins = support::SharedLibrary::open(file->string()); !builtins) {
    obstacle = text("its built-ins can't be opened: ", builtins.error());
  } else {
    return file;
  }
  return std::nullopt;
}

std::optional<NvrtcSet> open_set(const Item& item, const Located& located, const Surroundings& surroundings,
                                 std::vector<std::string>& tried) {
  const auto refuse = [&](const std::string& obstacle) {
    if (located.found_via == Via::variable) {
      throw NotSupported(text(item.variable, " is '", located.path, "', which can't be used: it ", obstacle));
    }
    tried.push_back(text(located.path, " (", located.how, "): ", obstacle));
    return std::nullopt;
  };
  OpenLibrary opened = open_located(item, located, tried);
  if (!opened.library) return std::nullopt;
  const std::optional<int> version = version_of(opened.library);
  if (!version) return refuse("is not NVRTC: nvrtcVersion doesn't work");
  std::string obstacle;
  const std::optional<fs::path> builtins = open_builtins(located.path, *version, surroundings, obstacle);
  if (!builtins) return refuse(obstacle);
  NvrtcSet set{.nvrtc = std::move(opened), .version = *version, .builtins = *builtins};
  set.header_folders = headers_of(located.path, *version, set.remarks);
  return set;
}

}  // namespace

std::vector<fs::path> headers_of(const fs::path& library, int version, std::vector<std::string>& remarks) {
  for (const fs::path& folder : folders_of(library)) {
    std::vector<fs::path> headers = headers_beside(folder, version, remarks);
    if (!headers.empty()) return headers;
  }
  return {};
}

NvrtcSet open_nvrtc_set(const Surroundings& surroundings) {
  const Item& nvrtc = item(Kind::dynamic_lib, "nvrtc");
  Findings findings = look_for(nvrtc, surroundings);
  std::optional<NvrtcSet> without_headers;
  for (const Located& located : findings.found) {
    std::optional<NvrtcSet> set = open_set(nvrtc, located, surroundings, findings.tried);
    if (!set) continue;
    if (!set->header_folders.empty()) return *std::move(set);
    if (!without_headers) without_headers = std::move(set);
  }
  if (without_headers) return *std::move(without_headers);
  refuse_missing(nvrtc, findings);
}

}  // namespace cuprum::toolchain
