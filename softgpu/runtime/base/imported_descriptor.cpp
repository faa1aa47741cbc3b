#include "softgpu/runtime/base/imported_descriptor.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {

memory::Descriptor duplicate_imported(int number) {
  memory::Descriptor own = memory::Descriptor::duplicate(number);
  if (own) return own;
  require(errno != EBADF, CUDA_ERROR_INVALID_HANDLE, "not an open file descriptor");
  throw Failure(CUDA_ERROR_OPERATING_SYSTEM, "the process has too many open files");
}

bool is_eventfd(const memory::Descriptor& descriptor) {
  constexpr std::string_view kEventfd = "anon_inode:[eventfd]";
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor.number());
  std::array<char, 64> target;
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  require(length >= 0, CUDA_ERROR_OPERATING_SYSTEM, "/proc/self/fd does not say what the file descriptor is open for");
  return std::string_view(target.data(), static_cast<std::size_t>(length)) == kEventfd;
}

std::size_t seal_size(const memory::Descriptor& descriptor) {
  const int seals = fcntl(descriptor.number(), F_GET_SEALS);
  require(seals >= 0, CUDA_ERROR_INVALID_HANDLE, "the file descriptor is not one of memfd_create()");
  const bool sealed = (seals & F_SEAL_SHRINK) != 0 || fcntl(descriptor.number(), F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  require(
      sealed, CUDA_ERROR_INVALID_HANDLE,
      "the memory could be cut short while it is used: make it by memfd_create() with MFD_ALLOW_SEALING, or seal it "
      "with F_SEAL_SHRINK");
  struct stat status;
  require(fstat(descriptor.number(), &status) == 0, CUDA_ERROR_OPERATING_SYSTEM, "the memory's size is not known");
  return static_cast<std::size_t>(status.st_size);
}

std::size_t page_bytes(const memory::Descriptor& descriptor) {
  struct statfs status;
  require(fstatfs(descriptor.number(), &status) == 0, CUDA_ERROR_OPERATING_SYSTEM, "the memory's pages are not known");
  if (status.f_type != HUGETLBFS_MAGIC) return memory::kPageBytes;
  const auto bytes = static_cast<std::size_t>(status.f_bsize);
  require(bytes <= memory::kHugePageBytes, CUDA_ERROR_NOT_SUPPORTED,
          "softgpu imports memory of huge pages of 2 MiB, and of none that are larger");
  return bytes;
}

}  // namespace softgpu::runtime
