#include "core/memory/virtual_memory.hpp"

#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

std::string describe_free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  if (driver::try_call<&Api::cuMemGetInfo>(&free, &total) != CUDA_SUCCESS) return {};
  return text(" (", free, " of the device's ", total, " bytes are free)");
}

}  // namespace

PhysicalMemory::PhysicalMemory(std::size_t size, const CUmemAllocationProp& properties) : size_(size) {
  const bool on_device = properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  driver::call<&Api::cuMemCreate>(
      Doing{[&] {
        return text("allocating ", size, " bytes of ",
                    on_device ? text("memory of device ", properties.location.id) : "page-locked host memory",
                    " to be mapped", on_device ? describe_free_memory() : "");
      }},
      &handle_, size, &properties, 0ull);
}

PhysicalMemory::~PhysicalMemory() { driver::release<&Api::cuMemRelease>(handle_); }

AddressRange::AddressRange(std::size_t size, std::size_t alignment, CUdeviceptr wish) : size_(size) {
  driver::call<&Api::cuMemAddressReserve>(
      Doing{[&] { return text("reserving ", size, " bytes of addresses, aligned to ", alignment); }}, &begin_, size,
      alignment, wish, 0ull);
}

AddressRange::~AddressRange() { driver::release<&Api::cuMemAddressFree>(begin_, size_); }

Mapping::Mapping(CUdeviceptr address, std::shared_ptr<const PhysicalMemory> memory)
    : address_(address), memory_(std::move(memory)) {
  driver::call<&Api::cuMemMap>(
      Doing{[&] { return text("mapping ", memory_->size(), " bytes at ", reinterpret_cast<void*>(address)); }}, address,
      memory_->size(), std::size_t{0}, memory_->handle(), 0ull);
}

Mapping::~Mapping() { driver::release<&Api::cuMemUnmap>(address_, memory_->size()); }

void Mapping::set_access(std::span<const CUmemAccessDesc> access) const {
  if (access.empty()) return;
  driver::call<&Api::cuMemSetAccess>(Doing{[&] {
                                       return text("setting the access rights of ", memory_->size(), " bytes at ",
                                                   reinterpret_cast<void*>(address_));
                                     }},
                                     address_, memory_->size(), access.data(), access.size());
}

void Mapping::restore_access(std::span<const CUmemAccessDesc> access) const noexcept {
  if (!access.empty()) driver::release<&Api::cuMemSetAccess>(address_, memory_->size(), access.data(), access.size());
}

VirtualRegion::VirtualRegion(std::size_t size, std::size_t alignment, CUdeviceptr wish) {
  addresses_.push_back(std::make_unique<AddressRange>(size, alignment, wish));
}

bool VirtualRegion::grow_in_place(const std::shared_ptr<const PhysicalMemory>& memory, std::size_t alignment,
                                  std::span<const CUmemAccessDesc> access) {
  const CUdeviceptr end = begin() + size_;
  auto more = std::make_unique<AddressRange>(memory->size(), alignment, end);
  if (more->begin() != end) return false;
  addresses_.push_back(std::move(more));
  try {
    append(memory, access);
  } catch (...) {
    addresses_.pop_back();
    throw;
  }
  return true;
}

void VirtualRegion::append(std::shared_ptr<const PhysicalMemory> memory, std::span<const CUmemAccessDesc> access) {
  const std::size_t bytes = memory->size();
  auto mapping = std::make_unique<Mapping>(begin() + size_, std::move(memory));
  mapping->set_access(access);
  mappings_.push_back(std::move(mapping));
  size_ += bytes;
}

void VirtualRegion::append_all(const VirtualRegion& other, std::span<const CUmemAccessDesc> access) {
  for (const auto& mapping : other.mappings_) append(mapping->memory(), access);
}

void VirtualRegion::change_access(std::span<const CUmemAccessDesc> before, std::span<const CUmemAccessDesc> after) {
  try {
    for (const auto& mapping : mappings_) mapping->set_access(after);
  } catch (...) {
    restore_access(before);
    throw;
  }
}

void VirtualRegion::restore_access(std::span<const CUmemAccessDesc> access) noexcept {
  for (const auto& mapping : mappings_) mapping->restore_access(access);
}

}  // namespace cuprum::core
