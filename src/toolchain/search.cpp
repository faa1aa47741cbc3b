#include "toolchain/search.hpp"

#include <algorithm>
#include <cuprum/error.hpp>

#include "support/environment.hpp"
#include "support/text.hpp"

namespace cuprum::toolchain {
namespace {

namespace fs = std::filesystem;
using support::environment;
using support::SharedLibrary;
using support::text;

// NVIDIA's PyPI packages of CUDA 13 share one folder; those of CUDA 12 have one each.
constexpr const char* wheel_folders[] = {"nvidia/cu13", "nvidia/cuda_nvrtc", "nvidia/cuda_runtime", "nvidia/nvjitlink",
                                         "nvidia/cuda_nvcc"};

void add_python_environment(std::vector<ToolkitRoot>& roots, const fs::path& prefix, const char* variable) {
  std::error_code error;
  std::vector<fs::path> versions;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", error)) {
    if (entry.path().filename().string().starts_with("python3")) versions.push_back(entry.path());
  }
  std::sort(versions.rbegin(), versions.rend());
  for (const fs::path& version : versions) {
    for (const char* folder : wheel_folders) roots.push_back({version / "site-packages" / folder, variable});
  }
}

std::vector<ToolkitRoot> all_roots() {
  std::vector<ToolkitRoot> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (auto folder = environment(variable)) roots.push_back({*folder, variable});
  }
#ifdef CUPRUM_DEPENDENCIES_FOLDER
  roots.push_back({CUPRUM_DEPENDENCIES_FOLDER, "the project's dependencies"});
#endif
  roots.push_back({"/usr/local/cuda", "usual place"});
  if (auto prefix = environment("VIRTUAL_ENV")) add_python_environment(roots, *prefix, "VIRTUAL_ENV");
  if (auto prefix = environment("CONDA_PREFIX")) {
    roots.push_back({*prefix, "CONDA_PREFIX"});
    roots.push_back({fs::path(*prefix) / "targets/x86_64-linux", "CONDA_PREFIX"});
    add_python_environment(roots, *prefix, "CONDA_PREFIX");
  }
  return roots;
}

FoundLibrary open_named(const LibrarySpec& spec, const std::string& file) {
  SharedLibrary library = SharedLibrary::open(file);
  if (!library) {
    throw NotSupported(text(spec.title, " can't be opened: ", spec.variable, " is '", file, "' (", library.error(),
                            "). Unset it to have ", spec.title, " searched for"));
  }
  return {library, file};
}

bool has_headers(const fs::path& folder) { return fs::exists(folder / "cuda_fp16.h"); }

}  // namespace

std::vector<ToolkitRoot> toolkit_roots() {
  std::vector<ToolkitRoot> roots = all_roots();
  std::erase_if(roots, [](const ToolkitRoot& root) {
    std::error_code error;
    return !fs::is_directory(root.folder, error);
  });
  return roots;
}

FoundLibrary open_library(const LibrarySpec& spec, const std::vector<ToolkitRoot>& roots) {
  if (auto file = environment(spec.variable)) return open_named(spec, *file);
  std::string searched;
  for (const ToolkitRoot& root : roots) {
    for (const char* lib : {"lib64", "lib"}) {
      for (const std::string& name : spec.file_names) {
        const fs::path path = root.folder / lib / name;
        if (!fs::exists(path)) continue;
        SharedLibrary library = SharedLibrary::open(path.string());
        if (library) return {library, path};
        searched += text("\n  ", path.string(), ": ", library.error());
      }
    }
    searched += text("\n  ", root.folder.string(), " (", root.origin, ")");
  }
  for (const std::string& name : spec.file_names) {
    SharedLibrary library = SharedLibrary::open(name);
    if (library) return {library, library.path()};
    searched += text("\n  ", name, " on the loader's path");
  }
  throw NotSupported(text(spec.title, ", which ", spec.purpose, ", was not found. ", spec.how_to_get, ", or set ",
                          spec.variable, " to the library's file. Searched:", searched));
}

std::vector<fs::path> header_folders(const fs::path& library, const std::vector<ToolkitRoot>& roots) {
  const fs::path lib = library.parent_path();
  std::vector<fs::path> candidates = {lib / "../include", lib / "../../include", lib / "../../cuda_runtime/include"};
  for (const ToolkitRoot& root : roots) candidates.push_back(root.folder / "include");
  for (const fs::path& candidate : candidates) {
    if (!has_headers(candidate)) continue;
    std::vector<fs::path> folders = {fs::weakly_canonical(candidate)};
    // Since CUDA 13 the C++ core libraries (<cuda/std/...>, <cub/...>) have a folder of their own.
    if (fs::path cccl = folders.front() / "cccl"; fs::is_directory(cccl)) folders.push_back(cccl);
    return folders;
  }
  return {};
}

}  // namespace cuprum::toolchain
