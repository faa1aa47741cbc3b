#include <cuprum/nvml.hpp>

#include "support/text.hpp"
#include "toolchain/library_table.hpp"

namespace cuprum::inline CUPRUM_ABI::nvml {
namespace {

using toolchain::OpenLibrary;
using toolchain::OpenTable;

void initialise(const Api& api, const std::string& path) {
  if (!api.nvmlInit_v2) throw NotSupported(support::text(path, " is not NVML: it has no nvmlInit_v2"));
  const Result result = api.nvmlInit_v2();
  if (result == Result::success) return;
  const char* words = api.nvmlErrorString ? api.nvmlErrorString(result) : nullptr;
  throw LibraryError({"NVML", path, "nvmlInit_v2", static_cast<int>(result), words ? words : ""});
}

OpenTable<Api> open() {
  const toolchain::Item& nvml = toolchain::item(toolchain::Kind::dynamic_lib, "nvml");
  const OpenLibrary opened = toolchain::open_first(nvml, look_for(nvml, toolchain::surroundings()));
  OpenTable<Api> result{{}, toolchain::info_of(opened.located)};
#define CUPRUM_ENTRY_POINT(name, since, return_type, parameters) \
  toolchain::fill(result.api.name, opened.library, #name);
#include <cuprum/detail/nvml_entry_points.def>
  initialise(result.api, result.info.path);
  if (result.api.nvmlSystemGetCudaDriverVersion_v2) {
    result.api.nvmlSystemGetCudaDriverVersion_v2(&result.info.version);
  }
  return result;
}

const OpenTable<Api>& opened() {
  static auto& once = *new toolchain::MadeOnce<OpenTable<Api>>;
  return once.get(open);
}

}  // namespace

const Api& api() { return opened().api; }
const LibraryInfo& info() { return opened().info; }

}  // namespace cuprum::inline CUPRUM_ABI::nvml
