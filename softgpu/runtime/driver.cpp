#include "softgpu/runtime/driver.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/library.hpp"
#include "softgpu/runtime/memory/context_memory.hpp"
#include "softgpu/runtime/work/api_gate.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/event.hpp"
#include "softgpu/runtime/work/external_semaphore.hpp"

namespace softgpu::runtime {
namespace {

std::mutex initialize_mutex;
std::atomic<Driver*> instance{nullptr};
std::atomic<CUresult> current_state{CUDA_ERROR_NOT_INITIALIZED};

// Room for all devices, pinned and managed memory, and fragmentation. It is addresses, not memory.
std::size_t reservation(const Config& config) {
  constexpr std::size_t kLeast = std::size_t{1} << 40;
  std::size_t wanted = 0;
  for (unsigned i = 0; i < config.devices; ++i) wanted += 4 * config.memory_of(i);
  return wanted > kLeast ? wanted : kLeast;
}

jit::CacheOptions cache_options(const Config& config) {
  jit::CacheOptions options;
  options.folder = config.cache_dir.empty() ? jit::user_cache_folder() : config.cache_dir;
  if (config.cache_size) options.max_bytes = *config.cache_size;
  return options;
}

struct Settings {
  Config config;
  bool valid = true;
};

// Read once, before cuInit if need be: tracing must work for what is called before it.
const Settings& settings() {
  static const Settings* const read = [] {
    auto* result = new Settings;
    try {
      result->config = read_config();
    } catch (const std::invalid_argument& error) {
      std::fprintf(stderr, "softgpu: %s\n", error.what());
      result->valid = false;
    }
    return result;
  }();
  return *read;
}

}  // namespace

Driver::Driver(const Config& config)
    : publication_(config.runtime_dir, config.devices, config.workers),
      space_(reservation(config)),
      work_(config.workers, publication_.page()),
      devices_(config, space_, publication_.page()),
      memory_(work_, devices_, space_),
      code_(memory_, config.compiler, std::make_shared<jit::ObjectCache>(cache_options(config))),
      graphs_(memory_),
      graphics_(memory_),
      virtual_memory_(work_, devices_, space_, memory_.allocations),
      current_pools_(memory_),
      own_process_(ApiGate::get(), memory_) {
  work_.faults = usage::FaultLog(publication_.folder());
  for (int i = 0; i < devices_.count(); ++i)
    primary_contexts_.push_back(std::make_unique<PrimaryContext>(work_, devices_.at(i)));
  // Green contexts retain the primary one, so that only its reset comes here while there are some.
  work_.at_context_end.emplace_back([this](Context& context) {
    for (unsigned n = work_.green_contexts.remove_all_of(context); n > 0; --n)
      primary_context(context.device().ordinal()).release();
  });
  work_.at_context_end.emplace_back([this](Context& context) { drop_events_of(work_, context); });
  work_.at_context_end.emplace_back([this](Context& context) { drop_semaphores_of(work_, context); });
  work_.at_context_end.emplace_back([this](Context& context) { unload_modules(code_, context); });
  work_.at_context_end.emplace_back([this](Context& context) { drop_graphics_of(graphics_, context); });
  work_.at_context_end.emplace_back([this](Context& context) { release_memory_of(memory_, context); });
  memory_.reclaimers.emplace_back([this] { graphs_.graph_memory.trim_all(); });
}

// The threads that run kernels stay behind in the parent; a child can't use the driver, as with a real one.
void Driver::after_fork_in_child() {
  Driver* const driver = instance.load();
  if (driver == nullptr) return;
  current_state.store(CUDA_ERROR_NOT_INITIALIZED);
  ApiGate::get().refuse(CUDA_ERROR_NOT_INITIALIZED);  // a signal may have forked inside of a call that waits
  if (driver->control_ != nullptr) driver->control_->forget();
}

// A process that can't have the thread can do all but be checkpointed.
void Driver::start_control() {
  try {
    control_ = std::make_unique<ControlServer>(own_process_, settings().config.runtime_dir);
  } catch (const std::system_error&) {
  }
}

memory::Descriptor Driver::connect_to_control() const {
  require(control_ != nullptr, CUDA_ERROR_NOT_SUPPORTED,
          "the thread that checkpoints the process could not be started by cuInit");
  return control_->connect();
}

const std::string& Driver::runtime_folder() { return settings().config.runtime_dir; }

int Driver::cuda_version() { return settings().config.cuda_version; }

CUresult Driver::initialize() {
  const std::scoped_lock lock(initialize_mutex);
  if (instance.load() != nullptr) return current_state;
  if (!settings().valid) return CUDA_ERROR_INVALID_VALUE;
  try {
    auto driver = std::unique_ptr<Driver>(new Driver(completed(settings().config)));
    driver->start_control();
    instance.store(driver.release());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "softgpu: no room in the address space of this process for a device's memory\n");
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  std::atexit([] {
    Driver& ending = *instance.load();
    ending.publication_.withdraw();
    if (ending.control_ != nullptr && getpid() == static_cast<pid_t>(ending.work_.usage.pid))
      ending.control_->withdraw();
  });
  current_state.store(CUDA_SUCCESS);
  return CUDA_SUCCESS;
}

CUresult Driver::state() { return current_state.load(std::memory_order_acquire); }

Driver& Driver::get() { return *instance.load(std::memory_order_acquire); }

bool Driver::is_strict() { return settings().config.strict; }

const Trace& Driver::trace() { return settings().config.trace; }

PrimaryContext& Driver::primary_context(int ordinal) {
  return *primary_contexts_[static_cast<std::size_t>(devices_.at(ordinal).ordinal())];
}

}  // namespace softgpu::runtime
