// Memory that several processes can map: a file that has no name, reached by its descriptor.
//
// The file starts with a page that says what it is. Its size is sealed, so that no process can make another one's
// accesses fail by cutting it short. Pages cost nothing until they are written.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/memory/backing.hpp"
#include "softgpu/memory/rights.hpp"

namespace softgpu::memory {

// A file descriptor, closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

  // Another number for the same file. Empty when the number is not open, or the process has too many open files.
  static Descriptor duplicate(int number);
  Descriptor duplicate() const { return duplicate(number_); }

 private:
  int number_;
};

// Thread-safe.
class SharedFile final : public Backing {
 public:
  enum class Purpose : std::uint32_t { pool, physical_memory, device_memory, event };
  using Id = std::array<std::uint8_t, 16>;
  static constexpr std::size_t kPropertyBytes = 128;

  // `bytes` of zeros. What `properties` says of them is for whoever opens the file. Throws OutOfMemory.
  template <typename Properties>
  static std::shared_ptr<SharedFile> create(Purpose purpose, std::size_t bytes, const Properties& properties) {
    static_assert(std::is_trivially_copyable_v<Properties> && sizeof(Properties) <= kPropertyBytes);
    return create(purpose, bytes, &properties, sizeof properties);
  }
  // The file that the descriptor is open for. Null when it is not one that create() made for this purpose.
  static std::shared_ptr<SharedFile> open(Purpose purpose, Descriptor descriptor);
  // Whether the file seems to be one that create() made, for whatever purpose.
  static bool is_one(const Descriptor& descriptor);

  const Descriptor& descriptor() const { return descriptor_; }
  // Another process may have it open: it came from there, or was given out.
  bool is_shared() const { return shared_.load(std::memory_order_relaxed); }
  void note_shared() const { shared_.store(true, std::memory_order_relaxed); }
  const Id& id() const { return header_.id; }  // random
  std::size_t bytes() const { return header_.bytes; }
  // Written by another process, perhaps: to be checked like any input.
  template <typename Properties>
  Properties properties() const {
    Properties properties;
    std::memcpy(&properties, header_.properties.data(), sizeof properties);
    return properties;
  }

  // Maps a part of it, whole pages, in place of what is mapped there. Throws OutOfMemory.
  void map_at(std::byte* address, std::size_t offset, std::size_t bytes, Access access) const;
  // Frees the pages of a part, which then reads as zeros, here and in other processes.
  void discard(std::size_t offset, std::size_t bytes) const;
  // The first part in the range, from `offset` on, that was ever written: whole pages. Empty: there is none.
  struct Part {
    std::size_t offset, bytes;
  };
  std::optional<Part> written_part(std::size_t offset, std::size_t bytes) const;
  // Without mapping it. False when the range is not in the file.
  bool read(std::size_t offset, void* data, std::size_t bytes) const;
  bool write(std::size_t offset, const void* data, std::size_t bytes) const;

  bool contains(std::size_t offset, std::size_t bytes) const {
    return offset <= header_.bytes && bytes <= header_.bytes - offset;
  }

 private:
  struct Header {
    std::array<char, 16> magic;
    Purpose purpose;
    std::uint32_t padding;
    Id id;
    std::uint64_t bytes;
    std::array<std::byte, kPropertyBytes> properties;
  };
  // The header takes a huge page of addresses, so that huge pages fit what comes behind it.
  static constexpr std::size_t kDataOffset = kHugePageBytes;

  SharedFile(Descriptor descriptor, const Header& header) : descriptor_(std::move(descriptor)), header_(header) {}
  static std::shared_ptr<SharedFile> create(Purpose purpose, std::size_t bytes, const void* properties,
                                            std::size_t property_bytes);

  const Descriptor descriptor_;
  const Header header_;
  mutable std::atomic<bool> shared_{false};
};

// Changes what may be done with mapped pages. False when the system refuses.
bool protect(std::byte* address, std::size_t bytes, Access access);

}  // namespace softgpu::memory
