// Heaps whose memory other processes can map: the exporting process's, and the importing one's.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "softgpu/memory/free_ranges.hpp"
#include "softgpu/memory/heap.hpp"
#include "softgpu/memory/shared_file.hpp"

namespace softgpu::memory {

// What another process needs to map an allocation: where its memory is in the file. Lives in the file itself, in a
// table in front of the memory, so that an allocation that was freed can't be imported any more.
struct ExportRecord {
  std::uint64_t serial = 0;  // counts exports; 0: none
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Blocks of one file, counted as memory of another heap. Thread-safe.
class SharedHeap final : public Heap, private Contents, public std::enable_shared_from_this<SharedHeap> {
 public:
  // As much address space as a file has, which is far more than memory there could be.
  static constexpr std::size_t kFileBytes = std::size_t{1} << 44;

  SharedHeap(std::shared_ptr<Heap> account, std::shared_ptr<SharedFile> file);
  ~SharedHeap() override;

  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* base, std::size_t bytes) override;

  const SharedFile& file() const { return *file_; }

  // Where an exported allocation can be found. Withdrawn with the object.
  class Export final : public Backing {
   public:
    Export(std::shared_ptr<SharedHeap> heap, std::uint64_t slot, std::uint64_t serial)
        : heap_(std::move(heap)), slot_(slot), serial_(serial) {}
    ~Export() override { heap_->withdraw(slot_); }

    std::uint64_t slot() const { return slot_; }
    std::uint64_t serial() const { return serial_; }

   private:
    const std::shared_ptr<SharedHeap> heap_;
    const std::uint64_t slot_, serial_;
  };
  // `bytes` from `base` on, inside a block. Throws OutOfMemory when too many are exported.
  std::shared_ptr<Export> export_range(const std::byte* base, std::size_t bytes);

 private:
  struct Block {
    std::uint64_t offset;
    std::size_t bytes;
  };
  std::byte* map_block(std::size_t bytes);
  void withdraw(std::uint64_t slot);
  void visit(ContentVisitor& visitor) const override;

  const std::shared_ptr<Heap> account_;
  const std::shared_ptr<SharedFile> file_;
  mutable std::mutex mutex_;
  FreeRanges free_offsets_;
  FreeRanges free_slots_;
  std::map<const std::byte*, Block> blocks_;
  std::uint64_t next_serial_ = 1;
};

// Mappings of another process's SharedHeap. Nothing can be allocated from it. Thread-safe.
class ImportedHeap final : public Heap {
 public:
  ImportedHeap(AddressSpace& space, std::shared_ptr<SharedFile> file);

  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* base, std::size_t bytes) override;

  const SharedFile& file() const { return *file_; }

  // Empty when there is no such export, or not any more.
  std::optional<ExportRecord> find(std::uint64_t slot, std::uint64_t serial) const;
  std::byte* map(const ExportRecord& record);

 private:
  const std::shared_ptr<SharedFile> file_;
};

}  // namespace softgpu::memory
