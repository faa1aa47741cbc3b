// Physical memory, addresses, and the two mapped together. Each is released by its destructor, so that whatever fails
// half-way leaves nothing behind.
#pragma once

#include <cuprum/driver.hpp>
#include <memory>
#include <span>
#include <vector>

namespace cuprum::core {

class PhysicalMemory {
 public:
  PhysicalMemory(std::size_t size, const CUmemAllocationProp& properties);
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
  ~PhysicalMemory();
  CUmemGenericAllocationHandle handle() const { return handle_; }
  std::size_t size() const { return size_; }

 private:
  CUmemGenericAllocationHandle handle_ = 0;
  std::size_t size_;
};

class AddressRange {
 public:
  /// Somewhere else when `wish` is not free.
  AddressRange(std::size_t size, std::size_t alignment, CUdeviceptr wish);
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;
  ~AddressRange();
  CUdeviceptr begin() const { return begin_; }

 private:
  CUdeviceptr begin_ = 0;
  std::size_t size_;
};

/// Physical memory at an address.
class Mapping {
 public:
  Mapping(CUdeviceptr address, std::shared_ptr<const PhysicalMemory> memory);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  void set_access(std::span<const CUmemAccessDesc> access) const;
  void restore_access(std::span<const CUmemAccessDesc> access) const noexcept;
  const std::shared_ptr<const PhysicalMemory>& memory() const { return memory_; }

 private:
  CUdeviceptr address_;
  std::shared_ptr<const PhysicalMemory> memory_;
};

/// The memory of one buffer: pieces of physical memory at consecutive addresses.
class VirtualRegion {
 public:
  /// Without memory yet: room for `size` bytes.
  VirtualRegion(std::size_t size, std::size_t alignment, CUdeviceptr wish);

  CUdeviceptr begin() const { return addresses_.front()->begin(); }
  /// Bytes that are mapped.
  std::size_t size() const { return size_; }

  /// Puts memory behind what is there, at addresses that are reserved for it now. Does nothing, and returns false, when
  /// those that follow are not free.
  bool grow_in_place(const std::shared_ptr<const PhysicalMemory>& memory, std::size_t alignment,
                     std::span<const CUmemAccessDesc> access);

  /// Puts memory behind what is there, at addresses that are reserved already.
  void append(std::shared_ptr<const PhysicalMemory> memory, std::span<const CUmemAccessDesc> access);
  /// Puts another region's memory here, too.
  void append_all(const VirtualRegion& other, std::span<const CUmemAccessDesc> access);

  /// Changes who can access the memory, from `before`, which is in force again when it throws.
  void change_access(std::span<const CUmemAccessDesc> before, std::span<const CUmemAccessDesc> after);
  void restore_access(std::span<const CUmemAccessDesc> access) noexcept;

 private:
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<AddressRange>> addresses_;  // outlive the mappings
  std::vector<std::unique_ptr<Mapping>> mappings_;
};

}  // namespace cuprum::core
