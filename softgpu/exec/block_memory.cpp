#include "softgpu/exec/block_memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace softgpu::exec {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 64 * 1024;  // a multiple of every page size in use
constexpr std::size_t kBehind = (std::size_t{1} << 32) + kPage;
constexpr std::size_t kStride = std::size_t{1} << abi::kClusterStrideBits;
constexpr std::size_t kReserved = abi::kMaxClusterBlocks * kStride + kBehind;
constexpr std::size_t kLocalReserved = kBehind + LocalMemory::kCapacity + kBehind;
static_assert(kPage + SharedMemory::kCapacity <= kStride);

// Past the wrappers of sanitizers, which would set up their own records for all of the gigabytes.
void* reserve(std::size_t bytes) {
  const long address =
      syscall(SYS_mmap, nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
  return address == -1 ? nullptr : reinterpret_cast<void*>(address);
}

void give_back(void* memory, std::size_t bytes) { syscall(SYS_munmap, memory, bytes); }

}  // namespace

SharedMemory::SharedMemory() {
  void* const reserved = reserve(kReserved);
  if (!reserved) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(reserved);
  end_ = mapping_ + kReserved - kBehind;
  try {
    provide(1);
  } catch (...) {
    give_back(mapping_, kReserved);
    throw;
  }
}

void SharedMemory::provide(std::uint32_t blocks) {
  for (; provided_ < blocks; ++provided_)
    if (mprotect(base(kCapacity, 1, provided_), kCapacity, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
}

SharedMemory::~SharedMemory() { give_back(mapping_, kReserved); }

LocalMemory::~LocalMemory() {
  if (mapping_) give_back(mapping_, kLocalReserved);
}

void ReleasedPieces::put(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  for (Kind& kind : kinds_) {
    if (kind.first && (kind.bytes != bytes || kind.alignment != alignment)) continue;
    *static_cast<void**>(memory) = kind.first;
    kind = {bytes, alignment, memory};
    return;
  }
}

void* ReleasedPieces::take(std::size_t bytes, std::size_t alignment) noexcept {
  for (Kind& kind : kinds_)
    if (kind.first && kind.bytes == bytes && kind.alignment == alignment)
      return std::exchange(kind.first, *static_cast<void**>(kind.first));
  return nullptr;
}

void* LocalMemory::allocate(std::size_t bytes) noexcept {
  if (void* const used_before = released_.take(rounded(bytes))) return used_before;
  if (bytes > kCapacity - used_) return nullptr;
  if (!mapping_ && !(mapping_ = static_cast<std::byte*>(reserve(kLocalReserved)))) return nullptr;
  std::byte* const end = mapping_ + kBehind + kCapacity;
  const std::size_t wanted = used_ + rounded(bytes);
  if (wanted > provided_) {
    const std::size_t enough = std::min((std::max(wanted, 2 * provided_) + kPage - 1) / kPage * kPage, kCapacity);
    if (mprotect(end - enough, enough, PROT_READ | PROT_WRITE) != 0) return nullptr;
    provided_ = enough;
  }
  used_ = wanted;
  return end - used_;
}

void FrameArena::FreeChunk::operator()(std::byte* memory) const noexcept { std::free(memory); }

void* FrameArena::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (void* const used_before = released_.take(bytes, alignment)) return used_before;
  const auto behind_padding = [&](const Chunk& chunk) {
    const auto start = reinterpret_cast<std::uintptr_t>(chunk.memory.get());
    return ((start + used_ + alignment - 1) & ~(alignment - 1)) - start;
  };
  for (; current_ < chunks_.size(); ++current_, used_ = 0) {
    const Chunk& chunk = chunks_[current_];
    const std::size_t first = behind_padding(chunk);
    if (first > chunk.size || bytes > chunk.size - first) continue;
    used_ = first + bytes;
    return chunk.memory.get() + first;
  }
  // Each chunk is as large as all before it, so that a block's frames end up in a few.
  std::size_t size = 64 * 1024;
  for (const Chunk& chunk : chunks_) size += chunk.size;
  const std::size_t boundary = std::max(alignment, kCacheLine);
  size = (std::max(size, bytes) + boundary - 1) / boundary * boundary;
  if (size > kCapacity) return nullptr;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(boundary, size));
  if (!memory) return nullptr;
  chunks_.push_back({std::unique_ptr<std::byte, FreeChunk>(memory), size});
  used_ = bytes;
  return memory;
}

void FrameArena::reset() noexcept {
  current_ = used_ = 0;
  released_ = {};
}

}  // namespace softgpu::exec
