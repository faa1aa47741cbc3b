// One device: what it is, and its memory.
#pragma once

#include <memory>

#include "softgpu/memory/heap.hpp"
#include "softgpu/runtime/base/device_facts.hpp"

namespace softgpu::runtime {

class Device : public DeviceFacts {
 public:
  // `memory_counter`: where the bytes in use are counted.
  Device(int ordinal, const Config& config, memory::AddressSpace& space, std::size_t* memory_counter)
      : DeviceFacts(ordinal, config), heap_(std::make_shared<memory::Heap>(space, memory_bytes(), memory_counter)) {}

  const std::shared_ptr<memory::Heap>& heap() const { return heap_; }

  // It is another of the machine's devices from here on, with so much memory. Only while no call is in the driver.
  void become(int unit, std::size_t bytes) {
    set_unit(unit);
    heap_->set_capacity(bytes);
  }

 private:
  const std::shared_ptr<memory::Heap> heap_;
};

}  // namespace softgpu::runtime
