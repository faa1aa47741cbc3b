// What was in memory whose pages have been given back to the system, and brings it there again.
//
//   SavedContents saved;
//   saved.take(*heap);        // the pages have no memory now, and read as zeros
//   saved.put_back();         // as before
//
// The contents are in a file without a name, which is nobody's memory but the host's. Zeros are not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "softgpu/memory/contents.hpp"
#include "softgpu/memory/heap.hpp"
#include "softgpu/memory/shared_file.hpp"

namespace softgpu::memory {

// Not thread-safe. Nobody may use the memory from take() until put_back() has returned.
class SavedContents final : private ContentVisitor {
 public:
  // Called now and then while it works, for who wants to know that it does.
  using Progress = std::function<void()>;

  // Throws OutOfMemory.
  explicit SavedContents(Progress progress = {});
  SavedContents(const SavedContents&) = delete;
  SavedContents& operator=(const SavedContents&) = delete;

  // Of all memory that the heap has handed out. Throws OutOfMemory where there is no room for it; what was taken before
  // is then still here.
  void take(const Heap& heap);
  // All of it. Throws OutOfMemory when the system refuses, and what is there then is not what was.
  void put_back(Progress progress = {});

  std::size_t bytes() const { return end_; }  // that are kept

 private:
  // Where a part was, and is in the store.
  struct Piece {
    std::byte* base;         // null: in the file
    const SharedFile* file;  // lives as long as its memory is the heap's
    std::size_t offset;      // in that
    std::size_t at;          // in the store
    std::size_t bytes;
  };

  void pages(std::byte* base, std::size_t bytes) override;
  void file(const SharedFile& file, std::size_t offset, std::size_t bytes) override;
  void keep(Piece piece, const std::byte* content);
  void put_back(const Piece& piece);

  Progress progress_;
  Descriptor store_;
  std::size_t end_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::byte> buffer_;
};

}  // namespace softgpu::memory
