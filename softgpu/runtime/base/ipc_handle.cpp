#include "softgpu/runtime/base/ipc_handle.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

using memory::SharedFile;

struct HandleData {
  std::array<char, 8> magic;
  SharedFile::Purpose purpose;
  std::int32_t process, descriptor;
  SharedFile::Id id;
  std::array<std::byte, 20> zeros;
  std::uint64_t sum;  // of what is in front: with another number a thread of the process leads to the file, too
};
static_assert(sizeof(HandleData) == kIpcHandleBytes);

constexpr std::array<char, 8> kHandleMagic = {'s', 'o', 'f', 't', 'g', 'p', 'u', 'h'};

// FNV-1a.
std::uint64_t sum_of(const HandleData& data) {
  std::array<unsigned char, offsetof(HandleData, sum)> bytes;
  std::memcpy(bytes.data(), &data, bytes.size());
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const unsigned char byte : bytes) sum = (sum ^ byte) * 0x100000001b3;
  return sum;
}

// Opens regular files only: a forged handle could name a device or a pipe, which opening might disturb.
memory::Descriptor open_of_process(int process, int descriptor) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return memory::Descriptor();
  return memory::Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

}  // namespace

void write_ipc_handle(const SharedFile& file, SharedFile::Purpose purpose, void* handle) {
  file.note_shared();
  HandleData data{.magic = kHandleMagic,
                  .purpose = purpose,
                  .process = getpid(),
                  .descriptor = file.descriptor().number(),
                  .id = file.id(),
                  .zeros = {},
                  .sum = 0};
  data.sum = sum_of(data);
  std::memcpy(handle, &data, sizeof data);
}

std::shared_ptr<SharedFile> open_ipc_handle(SharedFile::Purpose purpose, const void* handle) {
  HandleData data;
  std::memcpy(&data, handle, sizeof data);
  require(data.magic == kHandleMagic && data.purpose == purpose && data.process > 0 && data.descriptor >= 0 &&
              data.sum == sum_of(data),
          CUDA_ERROR_INVALID_VALUE, "not a handle for other processes, or one of another kind");
  require(data.process != getpid(), CUDA_ERROR_INVALID_CONTEXT, "the handle is of this process");
  auto file = SharedFile::open(purpose, open_of_process(data.process, data.descriptor));
  require(file != nullptr && file->id() == data.id, CUDA_ERROR_MAP_FAILED,
          "the process that exported it has ended or has freed it, or is another user's");
  return file;
}

}  // namespace softgpu::runtime
