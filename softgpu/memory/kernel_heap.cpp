#include "softgpu/memory/kernel_heap.hpp"

#include <sys/mman.h>

#include <bit>
#include <functional>
#include <thread>

namespace softgpu::memory {
namespace {

constexpr std::size_t kChunk = 64 * 1024;
constexpr std::size_t kGuard = kPageBytes;  // at the end of every span
constexpr std::size_t kSlab = kChunk - kGuard;
constexpr std::size_t kLargestSlot = kSlab / 4 / 16 * 16;
constexpr std::uint32_t kFreeSlot = 0x80000000;  // with the number of the next free one
constexpr std::uint32_t kNoSlot = kFreeSlot | 0x7fffffff;
// Every guard splits a mapping, of which a process has some 65,000. Spans beyond this many have none.
constexpr std::size_t kMostGuarded = 8192;

// Four sizes for each power of two: 16, 32, 48, 64, 80, 96, 112, 128, 160, 192...
std::size_t class_of(std::size_t bytes) {
  const std::size_t units = (bytes + 15) / 16;
  if (units <= 4) return units - 1;
  const auto exponent = static_cast<std::size_t>(std::bit_width(units - 1)) - 3;  // units is in (4, 8] << exponent
  return 4 + exponent * 4 + ((units - 1) >> exponent) - 4;
}

std::size_t slot_bytes(std::size_t size_class) {
  if (size_class < 4) return 16 * (size_class + 1);
  const std::size_t exponent = (size_class - 4) / 4;
  return 16 * (((size_class - 4) % 4 + 5) << exponent);
}

}  // namespace

// Chunks in a row. Once made it stays, and is used again for others.
struct KernelHeap::Span {
  enum class Kind : std::uint8_t { none, slab, pages };
  std::atomic<Kind> kind{Kind::none};
  std::size_t first_chunk = 0, chunks = 0;
  bool guarded = false;
  // A slab, under its shard's lock:
  std::size_t shard = 0, size_class = 0;
  Span *before = nullptr, *after = nullptr;  // in Shard::with_room
  std::uint32_t in_use = 0, first_free = kNoSlot;
  std::vector<std::uint32_t> slots;  // bytes asked for, or kFreeSlot and the next one
  // Pages, under chunks_mutex_:
  std::byte* payload = nullptr;
  std::size_t bytes = 0;
};

KernelHeap::KernelHeap(std::shared_ptr<Heap> device, std::size_t limit)
    : device_(std::move(device)),
      limit_(limit),
      reserved_(limit > device_->capacity() ? 0 : round_up(2 * limit, kChunk) + (kShards * kClasses + 2) * kChunk) {
  device_->add(*this);
}

KernelHeap::~KernelHeap() {
  device_->remove(*this);
  std::byte* const base = base_.load();
  if (base == nullptr) return;
  device_->space().unmap(base, reserved_);
  device_->refund(limit_);
}

// Reserves the addresses, once. Before that the device has lost nothing to the heap.
bool KernelHeap::provide() {
  if (base_.load(std::memory_order_acquire) != nullptr) return true;
  const std::scoped_lock lock(chunks_mutex_);
  if (base_.load() != nullptr) return true;
  if (reserved_ == 0) return false;
  device_->charge(limit_);
  try {
    std::byte* const addresses = device_->space().claim(reserved_);
    spans_ = std::make_unique<std::atomic<Span*>[]>(reserved_ / kChunk);
    free_chunks_.give(0, reserved_ / kChunk);
    base_.store(addresses, std::memory_order_release);
    return true;
  } catch (...) {
    device_->refund(limit_);
    throw;
  }
}

// Only while no kernel runs.
void KernelHeap::visit(ContentVisitor& visitor) const {
  const std::scoped_lock lock(chunks_mutex_);
  for (const auto& span : all_spans_)
    if (span->kind != Span::Kind::none)
      visitor.pages(start_of(*span), span->chunks * kChunk - (span->guarded ? kGuard : 0));
}

void* KernelHeap::allocate(std::size_t bytes) noexcept try {
  if (bytes == 0 || bytes > limit_ || !provide()) return nullptr;
  if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_)
    if (void* const memory = bytes <= kLargestSlot ? allocate_slot(bytes) : allocate_pages(bytes)) return memory;
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  return nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

bool KernelHeap::release(void* memory) noexcept {
  if (memory == nullptr) return true;
  std::byte* const base = base_.load(std::memory_order_acquire);
  const auto* const byte = static_cast<const std::byte*>(memory);
  if (base == nullptr || byte < base || byte >= base + reserved_) return false;
  Span* const span = spans_[static_cast<std::size_t>(byte - base) / kChunk].load(std::memory_order_acquire);
  if (span == nullptr) return false;
  std::size_t bytes = 0;
  const bool found =
      span->kind == Span::Kind::slab ? release_slot(*span, byte, bytes) : release_pages(*span, byte, bytes);
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  return found;
}

// ---- Slots -------------------------------------------------------------------------------------

void* KernelHeap::allocate_slot(std::size_t bytes) {
  const std::size_t number = std::hash<std::thread::id>()(std::this_thread::get_id()) % kShards;
  Shard& shard = shards_[number];
  const std::size_t size_class = class_of(bytes);
  const std::scoped_lock lock(shard.mutex);
  Span*& list = shard.with_room[size_class];
  if (list == nullptr) {
    Span* const fresh = take_chunks(1);
    if (fresh == nullptr) return nullptr;
    const auto slots = static_cast<std::uint32_t>(kSlab / slot_bytes(size_class));
    fresh->slots.resize(slots);
    for (std::uint32_t i = 0; i < slots; ++i) fresh->slots[i] = i + 1 < slots ? kFreeSlot | (i + 1) : kNoSlot;
    fresh->first_free = kFreeSlot;
    fresh->in_use = 0;
    fresh->shard = number;
    fresh->size_class = size_class;
    fresh->before = fresh->after = nullptr;
    fresh->kind = Span::Kind::slab;
    list = fresh;
  }
  Span& slab = *list;
  const std::uint32_t slot = slab.first_free & ~kFreeSlot;
  slab.first_free = slab.slots[slot];
  slab.slots[slot] = static_cast<std::uint32_t>(bytes);
  ++slab.in_use;
  if (slab.first_free == kNoSlot) {
    list = slab.after;
    if (list != nullptr) list->before = nullptr;
    slab.after = nullptr;
  }
  return start_of(slab) + slot * slot_bytes(size_class);
}

bool KernelHeap::release_slot(Span& slab, const std::byte* memory, std::size_t& bytes) {
  Shard& shard = shards_[slab.shard];
  const std::scoped_lock lock(shard.mutex);
  const auto offset = static_cast<std::size_t>(memory - start_of(slab));
  const std::size_t size = slot_bytes(slab.size_class), slot = offset / size;
  const bool in_use = slab.kind == Span::Kind::slab && offset % size == 0 && slot < slab.slots.size() &&
                      (slab.slots[slot] & kFreeSlot) == 0;
  if (!in_use) return false;
  bytes = slab.slots[slot];
  Span*& list = shard.with_room[slab.size_class];
  const bool was_full = slab.first_free == kNoSlot;
  slab.slots[slot] = slab.first_free;
  slab.first_free = kFreeSlot | static_cast<std::uint32_t>(slot);
  if (was_full) {
    slab.before = nullptr;
    slab.after = list;
    if (list != nullptr) list->before = &slab;
    list = &slab;
  }
  const bool only_one = list == &slab && slab.after == nullptr;
  if (--slab.in_use == 0 && !only_one) {
    (slab.before != nullptr ? slab.before->after : list) = slab.after;
    if (slab.after != nullptr) slab.after->before = slab.before;
    give_chunks(slab);
  }
  return true;
}

// ---- Pages -------------------------------------------------------------------------------------

void* KernelHeap::allocate_pages(std::size_t bytes) {
  const std::size_t pages = round_up(bytes, kPageBytes);
  Span* const span = take_chunks(round_up(pages + kGuard, kChunk) / kChunk);
  if (span == nullptr) return nullptr;
  const std::scoped_lock lock(chunks_mutex_);
  span->payload = start_of(*span) + (span->chunks * kChunk - kGuard) - round_up(bytes, 16);
  span->bytes = bytes;
  span->kind = Span::Kind::pages;
  // Its first byte may lie in a later chunk than the span's.
  spans_[static_cast<std::size_t>(span->payload - base_.load()) / kChunk] = span;
  return span->payload;
}

bool KernelHeap::release_pages(Span& span, const std::byte* memory, std::size_t& bytes) {
  {
    const std::scoped_lock lock(chunks_mutex_);
    if (span.kind != Span::Kind::pages || span.payload != memory) return false;
    bytes = span.bytes;
    span.kind = Span::Kind::none;
    spans_[static_cast<std::size_t>(memory - base_.load()) / kChunk] = nullptr;
  }
  give_chunks(span);
  return true;
}

// ---- Chunks ------------------------------------------------------------------------------------

std::byte* KernelHeap::start_of(const Span& span) const { return base_.load() + span.first_chunk * kChunk; }

// Accessible but for the guard. Null when there is no room.
KernelHeap::Span* KernelHeap::take_chunks(std::size_t count) {
  const std::scoped_lock lock(chunks_mutex_);
  const auto first = free_chunks_.take(count, 1);
  if (!first) return nullptr;
  if (spare_spans_.empty()) spare_spans_.push_back(all_spans_.emplace_back(std::make_unique<Span>()).get());
  Span* const span = spare_spans_.back();
  span->first_chunk = *first;
  span->guarded = spans_in_use_ < kMostGuarded;
  const std::size_t accessible = count * kChunk - (span->guarded ? kGuard : 0);
  if (mprotect(start_of(*span), accessible, PROT_READ | PROT_WRITE) != 0) {
    free_chunks_.give(*first, count);
    return nullptr;
  }
  spare_spans_.pop_back();
  span->chunks = count;
  ++spans_in_use_;
  spans_[*first] = span;
  return span;
}

void KernelHeap::give_chunks(Span& span) {
  const std::scoped_lock lock(chunks_mutex_);
  span.kind = Span::Kind::none;
  spans_[span.first_chunk] = nullptr;
  // Where the system refuses, the addresses stay in use for nothing.
  if (!AddressSpace::make_inaccessible(start_of(span), span.chunks * kChunk)) return;
  free_chunks_.give(span.first_chunk, span.chunks);
  spare_spans_.push_back(&span);
  --spans_in_use_;
}

}  // namespace softgpu::memory
