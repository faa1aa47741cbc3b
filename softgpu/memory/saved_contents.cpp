#include "softgpu/memory/saved_contents.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "softgpu/memory/pages.hpp"

namespace softgpu::memory {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

bool is_zero(const std::byte* content, std::size_t bytes) {
  return content[0] == std::byte{} && std::memcmp(content, content + 1, bytes - 1) == 0;
}

// Whether all of it was transferred. Signals and the kernel's limits cut transfers short.
template <typename Transfer>
bool transfer_all(std::size_t bytes, Transfer&& transfer) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = transfer(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

}  // namespace

SavedContents::SavedContents(Progress progress)
    : progress_(std::move(progress)), store_(memfd_create("softgpu checkpoint", MFD_CLOEXEC)) {
  if (!store_) throw OutOfMemory();
}

void SavedContents::take(const Heap& heap) { heap.visit(*this); }

void SavedContents::pages(std::byte* base, std::size_t bytes) {
  std::byte* const end = base + bytes;
  while (const auto found = find_pages_with_memory(base, static_cast<std::size_t>(end - base))) {
    const std::size_t size = std::min(found->bytes, kPieceBytes);
    keep({.base = found->begin, .file = nullptr, .offset = 0, .at = end_, .bytes = size}, found->begin);
    discard_pages(found->begin, size);
    base = found->begin + size;
  }
}

void SavedContents::file(const SharedFile& file, std::size_t offset, std::size_t bytes) {
  buffer_.resize(kPieceBytes);
  const std::size_t end = offset + bytes;
  while (const auto found = offset < end ? file.written_part(offset, end - offset) : std::nullopt) {
    const std::size_t size = std::min(found->bytes, kPieceBytes);
    if (!file.read(found->offset, buffer_.data(), size)) throw OutOfMemory();
    keep({.base = nullptr, .file = &file, .offset = found->offset, .at = end_, .bytes = size}, buffer_.data());
    file.discard(found->offset, size);
    offset = found->offset + size;
  }
}

void SavedContents::keep(Piece piece, const std::byte* content) {
  if (progress_) progress_();
  if (is_zero(content, piece.bytes)) return;
  const bool kept = transfer_all(piece.bytes, [&](std::size_t done) {
    return pwrite(store_.number(), content + done, piece.bytes - done, static_cast<off_t>(piece.at + done));
  });
  if (!kept) throw OutOfMemory();
  pieces_.push_back(piece);
  end_ += piece.bytes;
}

void SavedContents::put_back(Progress progress) {
  progress_ = std::move(progress);
  for (const Piece& piece : pieces_) put_back(piece);
  pieces_.clear();
  end_ = 0;
}

void SavedContents::put_back(const Piece& piece) {
  if (progress_) progress_();
  if (piece.base == nullptr) buffer_.resize(kPieceBytes);
  std::byte* const content = piece.base != nullptr ? piece.base : buffer_.data();
  const bool read = transfer_all(piece.bytes, [&](std::size_t done) {
    return pread(store_.number(), content + done, piece.bytes - done, static_cast<off_t>(piece.at + done));
  });
  if (!read || (piece.file != nullptr && !piece.file->write(piece.offset, content, piece.bytes))) throw OutOfMemory();
  // The store gives up what is back, so that no more memory is needed than before.
  fallocate(store_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(piece.at),
            static_cast<off_t>(piece.bytes));
}

}  // namespace softgpu::memory
