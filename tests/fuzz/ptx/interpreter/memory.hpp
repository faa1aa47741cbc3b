// The memory that interpreted threads see.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// A program did what PTX does not define.
struct Undefined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bytes that start at address 0 and know whether they were written.
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)), written_(bytes_.size(), true) {}

  /// As large as this, and what is new there not written.
  void resize(std::size_t size) {
    bytes_.resize(size);
    written_.resize(size, false);
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  std::uint64_t load(std::uint64_t address, unsigned size) const {
    check(address, size);
    std::uint64_t value = 0;
    for (unsigned i = size; i-- > 0;) {
      if (!written_[address + i]) throw Undefined("reads memory that nothing was written to");
      value = value << 8 | bytes_[address + i];
    }
    return value;
  }

  void store(std::uint64_t address, unsigned size, std::uint64_t value) {
    check(address, size);
    for (unsigned i = 0; i < size; ++i, value >>= 8) {
      bytes_[address + i] = static_cast<std::uint8_t>(value);
      written_[address + i] = true;
    }
  }

 private:
  void check(std::uint64_t address, unsigned size) const {
    if (address % size != 0) throw Undefined("a misaligned address");
    if (address > bytes_.size() || bytes_.size() - address < size) throw Undefined("an address outside its memory");
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<bool> written_;
};

/// Generic addresses of the interpreter: the space in the highest byte.
constexpr unsigned kSpaceShift = 56;

}  // namespace ptx_fuzz
