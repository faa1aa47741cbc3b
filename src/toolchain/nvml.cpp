#include <pthread.h>

#include <atomic>
#include <cuprum/driver_choice.hpp>
#include <cuprum/nvml.hpp>
#include <mutex>

#include "support/environment.hpp"
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

OpenTable<Api> fill_table(const OpenLibrary& opened) {
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

// What the system's loader finds, or CUPRUM_NVML names.
OpenTable<Api> open_system() {
  const toolchain::Item& nvml = toolchain::item(toolchain::Kind::dynamic_lib, "nvml");
  return fill_table(toolchain::open_first(nvml, look_for(nvml, toolchain::surroundings())));
}

// The one beside softgpu's driver.
OpenTable<Api> open_softgpu() {
  const std::string driver = driver::softgpu_path();
  const std::string path = driver.substr(0, driver.rfind('/') + 1) + "libnvidia-ml.so.1";
  OpenLibrary opened;
  opened.located.path = path;
  opened.located.how = "beside softgpu";
  opened.library = support::SharedLibrary::open(path);
  if (!opened.library) throw NotSupported(support::text("softgpu's NVML can't be opened: ", opened.library.error()));
  return fill_table(opened);
}

bool shows_a_device(const Api& api) {
  unsigned count = 0;
  return api.nvmlDeviceGetCount_v2 && api.nvmlDeviceGetCount_v2(&count) == Result::success && count > 0;
}

// As with the driver: NVIDIA's when it shows a device.
OpenTable<Api> open_either() {
  try {
    if (OpenTable<Api> found = open_system(); shows_a_device(found.api)) return found;
  } catch (const Error&) {
    // softgpu's, then
  }
  return open_softgpu();
}

OpenTable<Api> open() {
  if (support::environment("CUPRUM_NVML")) return open_system();
  switch (driver::choice()) {
    case driver::Choice::nvidia: return open_system();
    case driver::Choice::softgpu: return open_softgpu();
    case driver::Choice::automatic: break;
  }
  return open_either();
}

// NVML is initialised for one process: a fork's child does it again before it asks the first time.
constinit std::atomic<bool> was_forked{false};
[[maybe_unused]] const int notes_forks = pthread_atfork(nullptr, nullptr, [] { was_forked = true; });

void initialise_after_fork(const OpenTable<Api>& table) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!was_forked) return;  // another thread has
  initialise(table.api, table.info.path);
  was_forked = false;
}

const OpenTable<Api>& opened() {
  static auto& once = *new toolchain::MadeOnce<OpenTable<Api>>;
  const OpenTable<Api>& table = once.get(open);
  if (was_forked) [[unlikely]]
    initialise_after_fork(table);
  return table;
}

}  // namespace

const Api& api() { return opened().api; }
const LibraryInfo& info() { return opened().info; }

}  // namespace cuprum::inline CUPRUM_ABI::nvml
