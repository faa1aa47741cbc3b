#include "toolchain/nvrtc.hpp"

#include <cuprum/error.hpp>
#include <mutex>
#include <optional>

#include "support/text.hpp"
#include "toolchain/nvrtc_set.hpp"

namespace cuprum::toolchain {
namespace {

template <typename Function>
void resolve(Function& function, const OpenLibrary& found, const char* name) {
  function = reinterpret_cast<Function>(found.library.symbol(name));
  if (!function) throw NotSupported(support::text(found.located.path, " is too old: it has no ", name));
}

Nvrtc open_nvrtc() {
  const NvrtcSet set = open_nvrtc_set(surroundings());
  Nvrtc result{};
#define CUPRUM_NVRTC_FUNCTION(name) resolve(result.name, set.nvrtc, #name);
#include "toolchain/nvrtc_functions.def"
  result.path = set.nvrtc.located.path;
  result.header_folders = set.header_folders;
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
