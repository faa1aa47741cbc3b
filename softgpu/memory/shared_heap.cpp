#include "softgpu/memory/shared_heap.hpp"

#include <iterator>

namespace softgpu::memory {
namespace {

constexpr std::size_t kTableBytes = std::size_t{64} << 20;
constexpr std::uint64_t kSlots = kTableBytes / sizeof(ExportRecord);

std::uint64_t position(std::uint64_t slot) { return slot * sizeof(ExportRecord); }

// At addresses of its own.
std::byte* map_part(AddressSpace& space, const SharedFile& file, std::uint64_t offset, std::size_t bytes) {
  std::byte* base = space.claim(bytes);
  try {
    file.map_at(base, offset, round_up(bytes, kPageBytes), Access::read_write);
    return base;
  } catch (...) {
    space.unclaim(base, bytes);
    throw;
  }
}

}  // namespace

SharedHeap::SharedHeap(std::shared_ptr<Heap> account, std::shared_ptr<SharedFile> file)
    : Heap(account->space(), account->capacity()), account_(std::move(account)), file_(std::move(file)) {
  free_slots_.give(0, kSlots);
  free_offsets_.give(kTableBytes, file_->bytes() - kTableBytes);
  account_->add(*this);
}

SharedHeap::~SharedHeap() { account_->remove(*this); }

void SharedHeap::visit(ContentVisitor& visitor) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [base, block] : blocks_) visitor.file(*file_, block.offset, block.bytes);
}

std::byte* SharedHeap::allocate(std::size_t bytes) {
  account_->charge(bytes);
  try {
    return map_block(bytes);
  } catch (...) {
    account_->refund(bytes);
    throw;
  }
}

std::byte* SharedHeap::map_block(std::size_t bytes) {
  const std::size_t mapped = round_up(bytes, kPageBytes);
  const std::scoped_lock lock(mutex_);
  const auto offset = free_offsets_.take(mapped, alignment_for(bytes));
  if (!offset) throw OutOfMemory();
  try {
    std::byte* base = map_part(space(), *file_, *offset, bytes);
    blocks_.emplace(base, Block{*offset, mapped});
    return base;
  } catch (...) {
    free_offsets_.give(*offset, mapped);
    throw;
  }
}

void SharedHeap::release(std::byte* base, std::size_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    const auto block = blocks_.extract(base).mapped();
    file_->discard(block.offset, block.bytes);
    free_offsets_.give(block.offset, block.bytes);
  }
  space().unclaim(base, bytes);
  account_->refund(bytes);
}

std::shared_ptr<SharedHeap::Export> SharedHeap::export_range(const std::byte* base, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto& [block_base, block] = *std::prev(blocks_.upper_bound(base));
  const auto slot = free_slots_.take(1, 1);
  if (!slot) throw OutOfMemory();
  const ExportRecord record{
      .serial = next_serial_++, .offset = block.offset + static_cast<std::uint64_t>(base - block_base), .bytes = bytes};
  file_->write(position(*slot), &record, sizeof record);
  return std::make_shared<Export>(shared_from_this(), *slot, record.serial);
}

void SharedHeap::withdraw(std::uint64_t slot) {
  const ExportRecord none;
  const std::scoped_lock lock(mutex_);
  file_->write(position(slot), &none, sizeof none);
  free_slots_.give(slot, 1);
}

ImportedHeap::ImportedHeap(AddressSpace& space, std::shared_ptr<SharedFile> file)
    : Heap(space, 0), file_(std::move(file)) {}

std::byte* ImportedHeap::allocate(std::size_t) { throw OutOfMemory(); }

void ImportedHeap::release(std::byte* base, std::size_t bytes) { space().unclaim(base, bytes); }

std::optional<ExportRecord> ImportedHeap::find(std::uint64_t slot, std::uint64_t serial) const {
  ExportRecord record;
  const bool there = slot < kSlots && serial != 0 && file_->read(position(slot), &record, sizeof record) &&
                     record.serial == serial && record.bytes != 0 && record.offset % kPageBytes == 0 &&
                     file_->contains(record.offset, record.bytes);
  return there ? std::optional(record) : std::nullopt;
}

std::byte* ImportedHeap::map(const ExportRecord& record) {
  return map_part(space(), *file_, record.offset, record.bytes);
}

}  // namespace softgpu::memory
