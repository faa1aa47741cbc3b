#include "softgpu/memory/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "softgpu/memory/address_space.hpp"

#ifndef MADV_POPULATE_WRITE  // Linux 5.14
  #define MADV_POPULATE_WRITE 23
#endif

namespace softgpu::memory {

void populate_pages(std::byte* begin, std::size_t bytes) {
  const auto offset = reinterpret_cast<std::uintptr_t>(begin) % kPageBytes;
  madvise(begin - offset, round_up(bytes + offset, kPageBytes), MADV_POPULATE_WRITE);
}

void discard_pages(std::byte* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = round_up(address, kPageBytes), end = (address + bytes) / kPageBytes * kPageBytes;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

namespace {

// The system's notes on pages, a word each: whether they have memory, here or in the swap space.
class PageNotes {
 public:
  PageNotes() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~PageNotes() {
    if (file_ >= 0) close(file_);
  }
  PageNotes(const PageNotes&) = delete;
  PageNotes& operator=(const PageNotes&) = delete;

  bool has_memory(const std::byte* page) {
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(page) / kPageBytes;
    if (number < first_ || number >= first_ + read_) read(number);
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63, kSwapped = std::uint64_t{1} << 62;
    return read_ == 0 || (notes_[number - first_] & (kPresent | kSwapped)) != 0;
  }

 private:
  void read(std::uintptr_t number) {
    const ssize_t bytes =
        file_ < 0 ? 0 : pread(file_, notes_.data(), sizeof notes_, static_cast<off_t>(number * sizeof notes_[0]));
    first_ = number;
    read_ = bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof notes_[0] : 0;
  }

  const int file_;
  std::uintptr_t first_ = 0;
  std::size_t read_ = 0;
  std::array<std::uint64_t, 512> notes_;
};

}  // namespace

std::optional<PagesWithMemory> find_pages_with_memory(std::byte* begin, std::size_t bytes) {
  PageNotes notes;
  std::byte* const end = begin + bytes;
  std::byte* first = begin;
  while (first < end && !notes.has_memory(first)) first += kPageBytes;
  if (first >= end) return std::nullopt;
  std::byte* last = first + kPageBytes;
  while (last < end && notes.has_memory(last)) last += kPageBytes;
  return PagesWithMemory{first, static_cast<std::size_t>(last - first)};
}

}  // namespace softgpu::memory
