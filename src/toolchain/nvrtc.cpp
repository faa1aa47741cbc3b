#include <cuprum/nvrtc.hpp>

#include "toolchain/library_table.hpp"
#include "toolchain/nvrtc_set.hpp"

namespace cuprum::inline CUPRUM_ABI::nvrtc {
namespace {

struct Opened {
  Api api;
  Info info;
};

Opened open() {
  const toolchain::NvrtcSet set = toolchain::open_nvrtc_set(toolchain::surroundings());
  Opened result{};
#define CUPRUM_ENTRY_POINT(name, since, return_type, parameters) \
  toolchain::fill(result.api.name, set.nvrtc.library, #name);
#include <cuprum/detail/nvrtc_entry_points.def>
  static_cast<LibraryInfo&>(result.info) = toolchain::info_of(set.nvrtc.located);
  result.info.version = set.version;
  result.info.builtins = set.builtins.string();
  for (const auto& folder : set.header_folders) result.info.header_folders.push_back(folder.string());
  result.info.remarks = set.remarks;
  return result;
}

const Opened& opened() {
  static auto& once = *new toolchain::MadeOnce<Opened>;
  return once.get(open);
}

}  // namespace

const Api& api() { return opened().api; }
const Info& info() { return opened().info; }

}  // namespace cuprum::inline CUPRUM_ABI::nvrtc
