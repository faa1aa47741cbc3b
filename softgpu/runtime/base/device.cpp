#include "softgpu/runtime/base/device.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>

#include "softgpu/runtime/base/config.hpp"
#include "softgpu/runtime/driver.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

// As the kernel tells it, without the frequency and the core count that some names carry.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    std::string name = line.substr(std::min(line.size(), line.find(':') + 2));
    name = name.substr(0, name.find(" @ "));
    const auto end = name.find_last_not_of(' ');
    return end == std::string::npos ? "CPU" : name.substr(0, end + 1);
  }
  return "CPU";
}

}  // namespace

Device::Device(int ordinal, const Config& config, unsigned workers, memory::AddressSpace& space)
    : ordinal_(ordinal),
      compute_capability_(config.compute_capability),
      profile_(profile_of(config.compute_capability)),
      multiprocessors_(static_cast<int>(config.multiprocessors != 0 ? config.multiprocessors : workers)),
      name_("Cuprum softgpu (" + processor_name() + ")"),
      heap_(std::make_shared<memory::Heap>(space, config.memory_of(static_cast<unsigned>(ordinal)))) {}

// Stable for a machine's n-th device, and a version 8 UUID, so that it is nobody else's.
CUuuid Device::uuid() const {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "softgpu", 7);
  uuid.bytes[6] = static_cast<char>(0x80);
  uuid.bytes[8] = static_cast<char>(0x80);
  std::memcpy(uuid.bytes + 9, "cupru", 5);
  uuid.bytes[15] = static_cast<char>(ordinal_);
  return uuid;
}

std::string Device::pci_bus_id() const {
  char text[32];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(ordinal_ + 1));
  return text;
}

CUcontext Device::retain_primary() {
  const std::scoped_lock lock(mutex_);
  auto& contexts = Driver::get().handles().contexts;
  if (!primary_active_) {
    auto context = Context::create(*this, primary_flags_, true);
    if (primary_ == nullptr)
      primary_ = contexts.add(context);
    else
      contexts.replace(primary_, context);
    context->set_handle(primary_);
    primary_active_ = true;
  }
  ++primary_uses_;
  return primary_;
}

void Device::release_primary() {
  std::unique_lock lock(mutex_);
  require(primary_uses_ > 0, CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
  if (--primary_uses_ == 0) deactivate_primary(lock, false);
}

void Device::reset_primary() {
  std::unique_lock lock(mutex_);
  primary_flags_ = CU_CTX_SCHED_AUTO;
  deactivate_primary(lock, true);  // those who retain it still have to release it
}

// Waiting for the context's work must not hold the lock: kernels that end may look the device up.
void Device::deactivate_primary(std::unique_lock<std::mutex>& lock, bool cancel) {
  if (!std::exchange(primary_active_, false)) return;
  const std::shared_ptr<Context> context = Driver::get().handles().contexts.replace(primary_, nullptr);
  lock.unlock();
  if (context != nullptr) context->destroy(cancel);
}

bool Device::primary_active() const {
  const std::scoped_lock lock(mutex_);
  return primary_active_;
}

unsigned Device::primary_flags() const {
  const std::scoped_lock lock(mutex_);
  return primary_flags_;
}

void Device::set_primary_flags(unsigned flags) {
  const std::scoped_lock lock(mutex_);
  primary_flags_ = flags;
  if (!primary_active_) return;
  if (const auto context = Driver::get().handles().contexts.find(primary_)) context->set_flags(flags);
}

}  // namespace softgpu::runtime
