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

 private:
  const std::shared_ptr<memory::Heap> heap_;
};

}  // namespace softgpu::runtime
