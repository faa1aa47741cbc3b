#include "softgpu/runtime/checkpoint/own_process.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/memory/physical_memory.hpp"
#include "softgpu/runtime/work/api_gate.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

bool is_same(const CUuuid& one, const CUuuid& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

// Looks for memory that other processes may use while this one has none.
class SharedMemorySearch final : public memory::ContentVisitor {
 public:
  bool found = false;

 private:
  void pages(std::byte*, std::size_t) override {}
  void file(const memory::SharedFile& file, std::size_t, std::size_t) override { found = found || file.is_shared(); }
};

bool shares_memory(const MemoryServices& services) {
  SharedMemorySearch search;
  for (int i = 0; i < services.devices.count(); ++i) services.devices.at(i).heap()->visit(search);
  const auto is_file_of_others = [](const memory::Allocation& allocation) {
    return allocation.freed_by == memory::FreedBy::closing || memory::is_external(allocation.freed_by) ||
           dynamic_cast<const memory::SharedFile*>(allocation.backing.get()) != nullptr;
  };
  const auto pools = services.pools.all();
  const auto memory = services.physical_memory.all();
  return search.found || services.allocations.find_if(is_file_of_others).has_value() ||
         std::any_of(pools.begin(), pools.end(), [](const auto& pool) { return pool->imported_heap() != nullptr; }) ||
         std::any_of(memory.begin(), memory.end(), [](const auto& one) { return one->file().is_shared(); });
}

// A process that ends must not wait for somebody to unlock it: what it releases then is gone with it anyway. Registered
// when it is locked, so that it comes before the handlers that release something.
void let_process_end() { ApiGate::get().refuse(CUDA_ERROR_DEINITIALIZED); }

void end_unless_unlocked(const std::atomic<CUprocessState>& state) {
  static const std::atomic<CUprocessState>* watched = nullptr;
  watched = &state;
  std::atexit([] {
    if (watched->load() != CU_PROCESS_STATE_RUNNING) let_process_end();
  });
}

}  // namespace

void OwnProcess::require_state(CUprocessState wanted, const char* message) const {
  require(state() == wanted, CUDA_ERROR_ILLEGAL_STATE, message);
}

void OwnProcess::begin_lock() {
  require_state(CU_PROCESS_STATE_RUNNING, "only a running process can be locked");
  gate_.close();
}

bool OwnProcess::has_work() const {
  bool any = false;
  for (const auto& context : services_.work.contexts.all())
    context->streams().for_each_tail([&](auto&&...) { any = true; });
  return any;
}

bool OwnProcess::try_lock() {
  if (!gate_.is_empty() || has_work()) return false;
  end_unless_unlocked(state_);
  state_.store(CU_PROCESS_STATE_LOCKED);
  return true;
}

void OwnProcess::abandon_lock() {
  state_.store(CU_PROCESS_STATE_RUNNING);
  gate_.open();
}

void OwnProcess::unlock() {
  require_state(CU_PROCESS_STATE_LOCKED,
                "only a locked process can be unlocked; one that is checkpointed is restored first");
  state_.store(CU_PROCESS_STATE_RUNNING);
}

void OwnProcess::resume() { gate_.open(); }

void OwnProcess::fail() {
  state_.store(CU_PROCESS_STATE_FAILED);
  gate_.refuse(CUDA_ERROR_ILLEGAL_STATE);
}

void OwnProcess::checkpoint(const Progress& progress) {
  require_state(CU_PROCESS_STATE_LOCKED, "only a locked process can be checkpointed");
  require(!shares_memory(services_), CUDA_ERROR_NOT_SUPPORTED,
          "the process shares device memory with other processes, or has shared it: free it first");
  auto saved = std::make_unique<memory::SavedContents>(progress);
  try {
    for (int i = 0; i < services_.devices.count(); ++i) saved->take(*services_.devices.at(i).heap());
  } catch (const std::bad_alloc&) {
    try {
      saved->put_back(progress);
    } catch (const std::bad_alloc&) {
      fail();
      throw Failure(CUDA_ERROR_OUT_OF_MEMORY,
                    "the host has no room for the contents of the devices' memory, nor to "
                    "bring them back: they are lost");
    }
    throw Failure(CUDA_ERROR_OUT_OF_MEMORY, "the host has no room for the contents of the devices' memory");
  }
  saved_ = std::move(saved);
  withdraw_use();
  state_.store(CU_PROCESS_STATE_CHECKPOINTED);
}

void OwnProcess::withdraw_use() {
  use_.clear();
  for (int i = 0; i < services_.devices.count(); ++i) {
    usage::DeviceCounters& counters = services_.work.usage.device[static_cast<std::size_t>(i)];
    use_.push_back({usage::shared(counters.memory_bytes).load(), usage::shared(counters.contexts).load()});
    usage::shared(counters.memory_bytes).fetch_sub(use_.back().memory_bytes);
    usage::shared(counters.contexts).fetch_sub(use_.back().contexts);
  }
}

std::vector<int> OwnProcess::units_after(std::span<const CUcheckpointGpuPair> pairs) const {
  const int count = services_.devices.count();
  std::vector<int> units;
  for (int i = 0; i < count; ++i) {
    const Device& device = services_.devices.at(i);
    if (pairs.empty()) {
      units.push_back(device.unit());
      continue;
    }
    const auto is_old = [&](const CUcheckpointGpuPair& pair) { return is_same(pair.oldUuid, device.uuid()); };
    require(std::count_if(pairs.begin(), pairs.end(), is_old) == 1, CUDA_ERROR_INVALID_VALUE,
            "the pairs must name every device of the process as the old one, once");
    const CUuuid& wanted = std::find_if(pairs.begin(), pairs.end(), is_old)->newUuid;
    int unit = 0;
    while (unit < count && !is_same(DeviceFacts::uuid_of(unit), wanted)) ++unit;
    require(unit < count, CUDA_ERROR_INVALID_VALUE, "a pair names a new device that there is not");
    require(std::find(units.begin(), units.end(), unit) == units.end(), CUDA_ERROR_INVALID_VALUE,
            "two pairs name the same new device");
    units.push_back(unit);
  }
  require(pairs.empty() || pairs.size() == units.size(), CUDA_ERROR_INVALID_VALUE,
          "a pair names an old device that the process does not have");
  return units;
}

// The time that was spent on one of the machine's devices stays that device's when another one takes its place here.
void OwnProcess::keep_times_of_units(const std::vector<int>& units) {
  struct Times {
    int unit;
    std::uint64_t busy_ns, copy_ns;
  };
  usage::Page& page = services_.work.usage;
  std::vector<Times> before;
  for (std::size_t i = 0; i < units.size(); ++i) {
    usage::DeviceCounters& counters = page.device[i];
    before.push_back({page.unit[i], usage::shared(counters.busy_ns).load(), usage::shared(counters.copy_ns).load()});
  }
  for (const Times& times : before) {
    const auto now = std::find(units.begin(), units.end(), times.unit);
    if (now == units.end()) continue;
    usage::DeviceCounters& counters = page.device[static_cast<std::size_t>(now - units.begin())];
    usage::shared(counters.busy_ns).store(times.busy_ns);
    usage::shared(counters.copy_ns).store(times.copy_ns);
  }
}

void OwnProcess::restore(std::span<const CUcheckpointGpuPair> pairs, const Progress& progress) {
  require_state(CU_PROCESS_STATE_CHECKPOINTED, "only a checkpointed process can be restored");
  const std::vector<int> units = units_after(pairs);
  const Devices& devices = services_.devices;
  for (std::size_t i = 0; i < units.size(); ++i)
    require(use_[i].memory_bytes <= devices.at(units[i]).memory_bytes(), CUDA_ERROR_OUT_OF_MEMORY,
            "a device has less memory than the process had on the one before");
  try {
    saved_->put_back(progress);
  } catch (const std::bad_alloc&) {
    fail();
    throw Failure(CUDA_ERROR_OUT_OF_MEMORY, "the host has no room for the devices' memory: the contents are lost");
  }
  saved_.reset();
  keep_times_of_units(units);
  for (std::size_t i = 0; i < units.size(); ++i) {
    devices.at(static_cast<int>(i)).become(units[i], devices.at(units[i]).memory_bytes());
    services_.work.usage.unit[i] = static_cast<std::uint8_t>(units[i]);
    usage::DeviceCounters& counters = services_.work.usage.device[i];
    usage::shared(counters.memory_bytes).fetch_add(use_[i].memory_bytes);
    usage::shared(counters.contexts).fetch_add(use_[i].contexts);
  }
  state_.store(CU_PROCESS_STATE_LOCKED);
}

}  // namespace softgpu::runtime
