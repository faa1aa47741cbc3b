#include "softgpu/memory/shared_file.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

namespace softgpu::memory {
namespace {

constexpr std::array<char, 16> kMagic = {"softgpu memory\1"};  // the last character is the layout's version
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

int protection(Access access) {
  switch (access) {
    case Access::none: return PROT_NONE;
    case Access::read: return PROT_READ;
    case Access::read_write: return PROT_READ | PROT_WRITE;
  }
  return PROT_NONE;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Descriptor Descriptor::duplicate(int number) { return Descriptor(fcntl(number, F_DUPFD_CLOEXEC, 0)); }

std::shared_ptr<SharedFile> SharedFile::create(Purpose purpose, std::size_t bytes, const void* properties,
                                               std::size_t property_bytes) {
  if (bytes > std::numeric_limits<std::int64_t>::max() - kDataOffset) throw OutOfMemory();
  Header header{.magic = kMagic, .purpose = purpose, .padding = 0, .id = {}, .bytes = bytes, .properties = {}};
  std::memcpy(header.properties.data(), properties, property_bytes);
  Descriptor file(memfd_create("softgpu", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool made = file && getrandom(header.id.data(), header.id.size(), 0) == sizeof(Id) &&
                    ftruncate(file.number(), static_cast<off_t>(kDataOffset + bytes)) == 0 &&
                    fcntl(file.number(), F_ADD_SEALS, kSeals) == 0 &&
                    pwrite(file.number(), &header, sizeof header, 0) == sizeof header;
  if (!made) throw OutOfMemory();
  return std::shared_ptr<SharedFile>(new SharedFile(std::move(file), header));
}

std::shared_ptr<SharedFile> SharedFile::open(Purpose purpose, Descriptor descriptor) {
  Header header;
  struct stat status;
  const int seals = descriptor ? fcntl(descriptor.number(), F_GET_SEALS) : -1;
  const bool ours = seals >= 0 && (seals & kSeals) == kSeals && fstat(descriptor.number(), &status) == 0 &&
                    pread(descriptor.number(), &header, sizeof header, 0) == sizeof header && header.magic == kMagic &&
                    header.purpose == purpose && static_cast<std::size_t>(status.st_size) >= kDataOffset &&
                    header.bytes == static_cast<std::size_t>(status.st_size) - kDataOffset;
  if (!ours) return nullptr;
  std::shared_ptr<SharedFile> opened(new SharedFile(std::move(descriptor), header));
  opened->note_shared();
  return opened;
}

bool SharedFile::is_one(const Descriptor& descriptor) {
  std::array<char, kMagic.size()> start;
  return pread(descriptor.number(), start.data(), start.size(), 0) == static_cast<ssize_t>(start.size()) &&
         start == kMagic;
}

void SharedFile::map_at(std::byte* address, std::size_t offset, std::size_t bytes, Access access) const {
  const void* mapped = mmap(address, bytes, protection(access), MAP_SHARED | MAP_FIXED, descriptor_.number(),
                            static_cast<off_t>(kDataOffset + offset));
  if (mapped == MAP_FAILED) throw OutOfMemory();
  if (bytes >= kHugePageBytes) madvise(address, bytes, MADV_HUGEPAGE);  // harmless where it fails
}

void SharedFile::discard(std::size_t offset, std::size_t bytes) const {
  fallocate(descriptor_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kDataOffset + offset),
            static_cast<off_t>(bytes));
}

std::optional<SharedFile::Part> SharedFile::written_part(std::size_t offset, std::size_t bytes) const {
  const auto begin = static_cast<off_t>(kDataOffset + offset), end = begin + static_cast<off_t>(bytes);
  const off_t first = lseek(descriptor_.number(), begin, SEEK_DATA);
  if (first < 0 || first >= end) return std::nullopt;
  const off_t hole = lseek(descriptor_.number(), first, SEEK_HOLE);
  const off_t last = hole < 0 || hole > end ? end : hole;
  return Part{static_cast<std::size_t>(first) - kDataOffset, static_cast<std::size_t>(last - first)};
}

bool SharedFile::read(std::size_t offset, void* data, std::size_t bytes) const {
  return contains(offset, bytes) && pread(descriptor_.number(), data, bytes,
                                          static_cast<off_t>(kDataOffset + offset)) == static_cast<ssize_t>(bytes);
}

bool SharedFile::write(std::size_t offset, const void* data, std::size_t bytes) const {
  return contains(offset, bytes) && pwrite(descriptor_.number(), data, bytes,
                                           static_cast<off_t>(kDataOffset + offset)) == static_cast<ssize_t>(bytes);
}

bool protect(std::byte* address, std::size_t bytes, Access access) {
  return mprotect(address, bytes, protection(access)) == 0;
}

}  // namespace softgpu::memory
