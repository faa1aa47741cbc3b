#include "toolchain/search.hpp"

#include <unistd.h>

#include <algorithm>
#include <cuprum/error.hpp>

#include "support/text.hpp"
#include "toolchain/python.hpp"

namespace cuprum::toolchain {
namespace {

namespace fs = std::filesystem;
using support::text;

/// One search: collects what is there and remembers what isn't.
class Search {
 public:
  Search(const Item& item, const Surroundings& surroundings) : item_(item), surroundings_(surroundings) {}

  Findings run() {
    if (look_at_variable()) return std::move(findings_);
    if (item_.kind == Kind::dynamic_lib) look_for_library(Via::loaded, "loaded already", surroundings_.loaded);
    if (!item_.wheel_folders.empty()) look_at_wheels();
    if (!item_.toolkit_folders.empty()) {
      look_at_variable_toolkit(Via::conda, "CONDA_PREFIX");
      look_at_variable_toolkit(Via::toolkit, "CUDA_PATH");
      look_at_variable_toolkit(Via::toolkit, "CUDA_HOME");
    }
    if (item_.kind == Kind::dynamic_lib)
      look_for_library(Via::system, "found by the system's linker", surroundings_.linked);
    if (!item_.toolkit_folders.empty()) {
      for (const fs::path& folder : surroundings_.default_folders) {
        look_below(folder, item_.toolkit_folders, Via::default_folder, "default folder");
      }
    }
    return std::move(findings_);
  }

 private:
  // What the user names is taken at their word, and nothing else is looked at.
  bool look_at_variable() {
    if (!item_.variable) return false;
    const auto file = surroundings_.variable(item_.variable);
    if (file) findings_.found.push_back({item_.name, *file, Via::variable, item_.variable});
    return file.has_value();
  }

  void look_for_library(Via via, const char* how, const Surroundings::FindLibrary& find) {
    for (const std::string& file : item_.files) {
      if (auto path = find(file)) {
        add(*path, via, how);
      } else {
        findings_.tried.push_back(text(file, ": not ", how));
      }
    }
  }

  void look_at_wheels() {
    const std::vector<SitePackages> packages = site_packages(surroundings_);
    if (packages.empty()) findings_.tried.emplace_back("wheels: no Python is running and VIRTUAL_ENV is not set");
    for (const SitePackages& place : packages) {
      look_below(place.folder, item_.wheel_folders, Via::wheel, text("packages ", place.how));
    }
  }

  void look_at_variable_toolkit(Via via, const char* variable) {
    if (auto root = surroundings_.variable(variable)) {
      look_below(*root, item_.toolkit_folders, via, variable);
    } else {
      findings_.tried.push_back(text(variable, ": not set"));
    }
  }

  void look_below(const fs::path& root, const std::vector<std::string>& folders, Via via, const std::string& how) {
    std::error_code error;
    if (!fs::is_directory(root, error)) {
      findings_.tried.push_back(text(root.string(), " (", how, "): ", error ? error.message() : "not a folder"));
      return;
    }
    for (const std::string& folder : folders) look_in(root / folder, via, how);
  }

  void look_in(const fs::path& folder, Via via, const std::string& how) {
    for (const std::string& file : item_.files) {
      const std::string obstacle = obstacle_to(folder / file);
      if (obstacle.empty()) {
        add(item_.kind == Kind::header_directory ? folder : folder / file, via, how);
      } else {
        findings_.tried.push_back(text((folder / file).string(), " (", how, "): ", obstacle));
      }
    }
  }

  // Why a file can't be used; empty when it can.
  std::string obstacle_to(const fs::path& path) const {
    std::error_code error;
    std::error_code link_error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found && fs::is_symlink(fs::symlink_status(path, link_error))) {
      return text("broken link to ", fs::read_symlink(path, link_error).string());
    }
    if (error) return error.message();
    if (!fs::is_regular_file(status)) return "not a file";
    const bool is_program = item_.kind == Kind::binary;
    if (access(path.c_str(), is_program ? X_OK : R_OK) != 0) return is_program ? "not executable" : "not readable";
    return {};
  }

  void add(const fs::path& path, Via via, const std::string& how) {
    std::error_code error;
    const auto same = [&](const Located& known) { return fs::equivalent(known.path, path, error); };
    if (std::any_of(findings_.found.begin(), findings_.found.end(), same)) return;
    findings_.found.push_back({item_.name, path.lexically_normal().string(), via, how});
  }

  const Item& item_;
  const Surroundings& surroundings_;
  Findings findings_;
};

// What a package manager calls it.
struct Advice {
  Kind kind;
  const char* name;
  const char* words;
};
constexpr Advice advices[] = {
    {Kind::dynamic_lib, "nvrtc",
     "NVRTC compiles CUDA C++ at run time: install it with pip (nvidia-cuda-nvrtc and nvidia-cuda-runtime, into the "
     "active environment), with a CUDA toolkit, or with the Debian packages cuda-nvrtc-13-0 and cuda-cudart-dev-13-0"},
    {Kind::dynamic_lib, "nvJitLink",
     "nvJitLink links at run time: install it with pip (nvidia-nvjitlink), with a CUDA toolkit, or with the Debian "
     "package libnvjitlink-13-0"},
    {Kind::dynamic_lib, "nvvm",
     "libNVVM compiles NVVM IR: install it with pip (nvidia-nvvm; nvidia-cuda-nvcc-cu12 for CUDA 12), or with a CUDA "
     "toolkit"},
    {Kind::dynamic_lib, "nvml", "NVML comes with NVIDIA's display driver"},
    {Kind::dynamic_lib, "cuda", "it is NVIDIA's display driver"},
    {Kind::bitcode_lib, "device",
     "libdevice has the mathematical functions for NVVM IR: install it with pip (nvidia-nvvm; nvidia-cuda-nvcc-cu12 "
     "for CUDA 12), or with a CUDA toolkit"},
};

std::string advice(const Item& item) {
  for (const Advice& row : advices) {
    if (row.kind == item.kind && row.name == item.name) return row.words;
  }
  return "install a CUDA toolkit or NVIDIA's wheel of it, and set CUDA_HOME when it is in an unusual folder";
}

}  // namespace

Findings look_for(const Item& item, const Surroundings& surroundings) { return Search(item, surroundings).run(); }

void refuse_missing(const Item& item, const Findings& findings) {
  std::string searched;
  for (const std::string& line : findings.tried) searched += "\n  " + line;
  throw NotSupported(text("the ", item.kind, " '", item.name, "' was not found: ", advice(item),
                          item.variable ? text("; or set ", item.variable, " to its file") : "",
                          ". Searched:", searched));
}

OpenLibrary open_located(const Item& item, const Located& located, std::vector<std::string>& tried) {
  support::SharedLibrary library = support::SharedLibrary::open(located.path);
  if (!library && located.found_via == Via::variable) {
    throw NotSupported(text("the ", item.kind, " '", item.name, "' can't be opened: ", item.variable, " is '",
                            located.path, "' (", library.error(), "). Unset it to have the library searched for"));
  }
  if (!library) tried.push_back(text(located.path, " (", located.how, "): ", library.error()));
  return {located, library};
}

OpenLibrary open_first(const Item& item, Findings findings) {
  for (const Located& located : findings.found) {
    OpenLibrary opened = open_located(item, located, findings.tried);
    if (opened.library) return opened;
  }
  refuse_missing(item, findings);
}

}  // namespace cuprum::toolchain
