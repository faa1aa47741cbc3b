// Who holds memory of a heap, and where it is: for saving what is in it.
#pragma once

#include <cstddef>

namespace softgpu::memory {

class SharedFile;

// Is shown memory, piece by piece.
class ContentVisitor {
 public:
  // Whole pages that can be read and written.
  virtual void pages(std::byte* base, std::size_t bytes) = 0;
  // A part of a file, wherever that is mapped.
  virtual void file(const SharedFile& file, std::size_t offset, std::size_t bytes) = 0;

 protected:
  ~ContentVisitor() = default;
};

// Memory that counts as a heap's and does not come from Heap::allocate(): see Heap::add().
class Contents {
 public:
  virtual void visit(ContentVisitor& visitor) const = 0;

 protected:
  ~Contents() = default;
};

}  // namespace softgpu::memory
