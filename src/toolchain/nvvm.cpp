#include <cuprum/nvvm.hpp>

#include "toolchain/library_table.hpp"

namespace cuprum::inline CUPRUM_ABI::nvvm {
namespace {

using toolchain::OpenLibrary;
using toolchain::OpenTable;

OpenTable<Api> open() {
  const OpenLibrary opened = toolchain::open_companion_of_nvrtc(toolchain::item(toolchain::Kind::dynamic_lib, "nvvm"));
  OpenTable<Api> result{{}, toolchain::info_of(opened.located)};
#define CUPRUM_ENTRY_POINT(name, since, return_type, parameters) \
  toolchain::fill(result.api.name, opened.library, #name);
#include <cuprum/detail/nvvm_entry_points.def>
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

}  // namespace cuprum::inline CUPRUM_ABI::nvvm
