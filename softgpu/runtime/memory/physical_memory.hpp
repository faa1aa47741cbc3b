// Memory that a program creates apart from addresses, and maps to them later (cuMemCreate).
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>

#include "softgpu/memory/heap.hpp"
#include "softgpu/memory/shared_file.hpp"
#include "softgpu/runtime/base/handles.hpp"

namespace softgpu::runtime {

struct MemoryServices;
using PhysicalHandle = struct PhysicalHandle_st*;

// A file, so that it can be mapped several times and in several processes. Lives while the program holds its handle, or
// memory is mapped to it. Thread-safe.
class PhysicalMemory final : private memory::Contents, public std::enable_shared_from_this<PhysicalMemory> {
 public:
  // Of this process, counted as the location's memory; with one reference to its handle. Throws what cuMemCreate
  // returns for a size or properties that can't be had.
  static std::shared_ptr<PhysicalMemory> create(MemoryServices& services, std::size_t bytes,
                                                const CUmemAllocationProp& properties);
  // That of a descriptor that share() made, here or in another process; with one more reference to its handle. Leaves
  // the descriptor open.
  static std::shared_ptr<PhysicalMemory> import(MemoryServices& services, int descriptor,
                                                CUmemAllocationHandleType type);
  // Null for what is not, or no longer, a handle.
  static std::shared_ptr<PhysicalMemory> find(const MemoryServices& services, CUmemGenericAllocationHandle handle);
  ~PhysicalMemory();

  // Sizes and addresses are multiples of it, whatever the memory is like.
  static constexpr std::size_t kGranularity = memory::kHugePageBytes;

  // As created; what was imported names no types of handles, though it can be shared further.
  CUmemAllocationProp properties() const;
  std::size_t bytes() const { return file_->bytes(); }
  const memory::SharedFile& file() const { return *file_; }
  bool on_device() const { return properties().location.type == CU_MEM_LOCATION_TYPE_DEVICE; }

  CUmemGenericAllocationHandle handle() const;
  // One more holder of the handle, which is valid again if it was not; and one less.
  void retain();
  void release();

  // A file descriptor for another process; the caller closes it.
  int share(CUmemAllocationHandleType type) const;

 private:
  using Handles = HandleTable<PhysicalHandle, PhysicalMemory>;
  PhysicalMemory(Handles& handles, std::shared_ptr<memory::SharedFile> file, std::shared_ptr<memory::Heap> heap);
  static std::shared_ptr<PhysicalMemory> make(Handles& handles, std::shared_ptr<memory::SharedFile> file,
                                              std::shared_ptr<memory::Heap> heap);
  void visit(memory::ContentVisitor& visitor) const override;

  Handles& handles_;
  const std::shared_ptr<memory::SharedFile> file_;
  const std::shared_ptr<memory::Heap> heap_;  // that counts it; null: another process does
  PhysicalHandle handle_ = nullptr;
  std::mutex mutex_;
  unsigned references_ = 1;
};

}  // namespace softgpu::runtime
