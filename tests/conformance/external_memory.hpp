// External memory for tests: memory of memfd_create(), which softgpu imports and NVIDIA's driver doesn't.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "conformance/semaphore.hpp"

namespace conformance {

constexpr auto kMemfdType = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;

// The program's side: a memfd, mapped.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes, unsigned flags = 0)
      : bytes_(bytes), descriptor_(memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags)) {
    EXPECT_EQ(ftruncate(descriptor_.get(), static_cast<off_t>(bytes)), 0);
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~SharedMemory() { munmap(memory_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  unsigned char* data() const { return static_cast<unsigned char*>(memory_); }
  size_t bytes() const { return bytes_; }
  const OwnedDescriptor& descriptor() const { return descriptor_; }

 private:
  const size_t bytes_;
  const OwnedDescriptor descriptor_;
  void* memory_ = nullptr;
};

inline CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory_description(int descriptor, size_t bytes) {
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
  description.type = kMemfdType;
  description.handle.fd = descriptor;
  description.size = bytes;
  return description;
}

inline CUexternalMemory imported(const SharedMemory& memory) {
  CUexternalMemory external = nullptr;
  const auto description = memory_description(memory.descriptor().duplicate(), memory.bytes());
  EXPECT_SUCCESS(CU(cuImportExternalMemory)(&external, &description));
  EXPECT_FALSE(is_open(description.handle.fd));
  return external;
}

// Memory of memfd_create().
class ExternalMemfd : public DriverTest {
 protected:
  void SetUp() override {
    if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver imports memory of graphics APIs, and none of Linux";
    DriverTest::SetUp();
  }
  void TearDown() override {
    if (is_softgpu()) DriverTest::TearDown();
  }
};

}  // namespace conformance
