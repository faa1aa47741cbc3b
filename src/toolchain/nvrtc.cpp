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

toolchain::TableInUse<Opened>& in_use() {
  static auto& table = *new toolchain::TableInUse<Opened>(open);
  return table;
}

}  // namespace

const Api& api() { return in_use().api(); }
const Api& replace_api(const Api& table) { return in_use().replace(table); }
const Info& info() { return in_use().opened().info; }

}  // namespace cuprum::inline CUPRUM_ABI::nvrtc
