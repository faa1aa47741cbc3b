#include <cuprum/nvjitlink.hpp>

#include "support/text.hpp"
#include "toolchain/library_table.hpp"

namespace cuprum::inline CUPRUM_ABI::nvjitlink {
namespace {

using toolchain::OpenLibrary;
using toolchain::OpenTable;

// Releases of CUDA 12 export __nvJitLinkCreate_12_0, …_12_1 and so on up to their own; the plain names came later. They
// are all the same function: a name stands for the release whose header a program was compiled with.
void* find(const support::SharedLibrary& library, const char* name) {
  if (void* function = library.symbol(name)) return function;
  for (int major : {13, 12}) {
    for (int minor = 9; minor >= 0; --minor) {
      const std::string versioned = support::text("__", name, '_', major, '_', minor);
      if (void* function = library.symbol(versioned.c_str())) return function;
    }
  }
  return nullptr;
}

template <typename Slot>
void fill(Slot& slot, const support::SharedLibrary& library, const char* name) {
  slot.function = reinterpret_cast<decltype(slot.function)>(find(library, name));
}

OpenTable<Api> open() {
  const OpenLibrary opened =
      toolchain::open_companion_of_nvrtc(toolchain::item(toolchain::Kind::dynamic_lib, "nvJitLink"));
  OpenTable<Api> result{{}, toolchain::info_of(opened.located)};
#define CUPRUM_ENTRY_POINT(name, since, return_type, parameters) fill(result.api.name, opened.library, #name);
#include <cuprum/detail/nvjitlink_entry_points.def>
  unsigned major = 0;
  unsigned minor = 0;
  if (result.api.nvJitLinkVersion && result.api.nvJitLinkVersion(&major, &minor) == Result::success) {
    result.info.version = static_cast<int>(1000 * major + 10 * minor);
  }
  return result;
}

toolchain::TableInUse<OpenTable<Api>>& in_use() {
  static auto& table = *new toolchain::TableInUse<OpenTable<Api>>(open);
  return table;
}

}  // namespace

const Api& api() { return in_use().api(); }
const Api& replace_api(const Api& table) { return in_use().replace(table); }
const LibraryInfo& info() { return in_use().opened().info; }

}  // namespace cuprum::inline CUPRUM_ABI::nvjitlink
