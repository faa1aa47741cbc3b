// The folder that the pages are in: this user's, and nobody else can look into it or put anything there.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

namespace softgpu::usage {

// A file descriptor, closed with the object. None: negative.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File();

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Opens it; not open where there is none, or where it is not this user's alone. With `make` it is made first.
File open_folder(const std::string& path, bool make);

}  // namespace softgpu::usage
