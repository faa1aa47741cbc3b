#include "softgpu/runtime/base/ipc_handle.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
  std::array<std::byte, 28> zeros;
};
static_assert(sizeof(HandleData) == kIpcHandleBytes);

constexpr std::array<char, 8> kHandleMagic = {'s', 'o', 'f', 't', 'g', 'p', 'u', 'h'};

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
  const HandleData data{.magic = kHandleMagic,
                        .purpose = purpose,
                        .process = getpid(),
                        .descriptor = file.descriptor().number(),
                        .id = file.id(),
                        .zeros = {}};
  std::memcpy(handle, &data, sizeof data);
}

std::shared_ptr<SharedFile> open_ipc_handle(SharedFile::Purpose purpose, const void* handle) {
  HandleData data;
  std::memcpy(&data, handle, sizeof data);
  require(data.magic == kHandleMagic && data.purpose == purpose && data.process > 0 && data.descriptor >= 0 &&
              data.zeros == decltype(data.zeros){},
          CUDA_ERROR_INVALID_VALUE, "not a handle for other processes, or one of another kind");
  require(data.process != getpid(), CUDA_ERROR_INVALID_CONTEXT, "the handle is of this process");
  auto file = SharedFile::open(purpose, open_of_process(data.process, data.descriptor));
  require(file != nullptr && file->id() == data.id, CUDA_ERROR_MAP_FAILED,
          "the process that exported it has ended or has freed it, or is another user's");
  return file;
}

}  // namespace softgpu::runtime
