#include "toolchain/nvrtc.hpp"

#include <cuprum/error.hpp>
#include <mutex>
#include <optional>

#include "support/text.hpp"
#include "toolchain/search.hpp"

namespace cuprum::toolchain {
namespace {

const LibrarySpec nvrtc_spec = {
    "NVRTC",
    "compiles CUDA C++ at run time",
    "CUPRUM_NVRTC",
    {"libnvrtc.so.13", "libnvrtc.so.12"},
    "Install it from PyPI (pip install nvidia-cuda-nvrtc nvidia-cuda-runtime, in an active virtual environment), with "
    "a CUDA "
    "toolkit, or with the Debian packages cuda-nvrtc-13-0 and cuda-cudart-dev-13-0 of NVIDIA's repository",
};

template <typename Function>
void resolve(Function& function, const FoundLibrary& found, const char* name) {
  function = reinterpret_cast<Function>(found.library.symbol(name));
  if (!function) throw NotSupported(support::text(found.path.string(), " is too old: it has no ", name));
}

// NVRTC opens its companion by its bare name when it compiles. The loader finds that in its own folders only, or when
// it is open already: so it is opened here, from NVRTC's folder. Where it isn't there, NVRTC says so itself.
void open_builtins(const Nvrtc& nvrtc) {
  int major = 0;
  int minor = 0;
  if (nvrtc.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return;
  const auto file = nvrtc.path.parent_path() / support::text("libnvrtc-builtins.so.", major, ".", minor);
  support::SharedLibrary::open(file.string());
}

Nvrtc open_nvrtc() {
  const std::vector<ToolkitRoot> roots = toolkit_roots();
  const FoundLibrary found = open_library(nvrtc_spec, roots);
  Nvrtc result{};
#define CUPRUM_NVRTC_FUNCTION(name) resolve(result.name, found, #name);
#include "toolchain/nvrtc_functions.def"
  result.path = found.path;
  result.header_folders = header_folders(found.path, roots);
  open_builtins(result);
  return result;
}

}  // namespace

const Nvrtc& nvrtc() {
  static std::mutex mutex;
  static std::optional<Nvrtc>& opened = *new std::optional<Nvrtc>;
  std::lock_guard lock(mutex);
  if (!opened) opened = open_nvrtc();
  return *opened;
}

}  // namespace cuprum::toolchain
