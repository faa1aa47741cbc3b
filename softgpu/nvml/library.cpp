#include "softgpu/nvml/library.hpp"

#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "softgpu/jit/passes.hpp"
#include "softgpu/usage/running.hpp"

// Among the settings are the compiler's, and the compiler is not in this library: libcuda.so.1 is the one to refuse
// names of passes that there are not.
namespace softgpu::jit {
bool is_pass(std::string_view) { return true; }
std::string names_of_passes() { return {}; }
}  // namespace softgpu::jit

namespace softgpu::nvml {
namespace {

std::mutex init_mutex;
unsigned users = 0;
std::atomic<const Library*> current{nullptr};
DeviceHandle handles[usage::kMaxDevices];

std::vector<unsigned> usable_cores() {
  std::vector<unsigned> cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (unsigned i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores.push_back(i);
  return cores;
}

const Library* make_library() {
  auto made = std::make_unique<Library>();
  made->config = runtime::completed(runtime::read_config());
  for (unsigned i = 0; i < made->config.devices; ++i) made->devices.emplace_back(static_cast<int>(i), made->config);
  made->cores = usable_cores();
  return made.release();
}

}  // namespace

// What was made once stays: other threads may be in the middle of a call when one shuts the library down.
Return init() {
  static const Library* made = nullptr;
  const std::scoped_lock lock(init_mutex);
  try {
    if (made == nullptr) made = make_library();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "softgpu: %s\n", error.what());
    return Return::driver_not_loaded;
  } catch (const std::exception&) {
    return Return::memory;
  }
  ++users;
  current.store(made);
  return Return::success;
}

Return shut_down() {
  const std::scoped_lock lock(init_mutex);
  if (users == 0) return Return::uninitialized;
  if (--users == 0) current.store(nullptr);
  return Return::success;
}

const Library* library() { return current.load(std::memory_order_acquire); }

DeviceHandle* handle_of(unsigned index) { return &handles[index]; }

const DeviceFacts* device_of(const Library& library, const DeviceHandle* handle) {
  for (std::size_t i = 0; i < library.devices.size(); ++i)
    if (handle == &handles[i]) return &library.devices[i];
  return nullptr;
}

std::vector<usage::Page> running_processes(const Library& library) {
  return usage::running(library.config.runtime_dir);
}

Return give_text(std::string_view text, char* to, unsigned capacity) {
  if (to == nullptr) return Return::invalid_argument;
  if (capacity <= text.size()) return Return::insufficient_size;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return Return::success;
}

}  // namespace softgpu::nvml
