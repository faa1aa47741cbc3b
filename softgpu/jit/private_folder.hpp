// A folder that nobody but this user can put files into, and such files in it. What is read from there will be run.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace softgpu::jit {

// A file descriptor, closed with the object. None: negative.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  bool read_all(void* to, std::size_t bytes) const;
  bool write_all(std::string_view data) const;

 private:
  int descriptor_ = -1;
};

// Opened for as long as the object lives; files are reached through it and not by path, so that it can't be exchanged
// for another in between.
class PrivateFolder {
 public:
  // Not open where there is none, or where it is not this user's alone; what is wrong is said on stderr, once.
  explicit PrivateFolder(const std::string& path);

  explicit operator bool() const { return static_cast<bool>(folder_); }

  // A plain file of this user that no other can write. Links are not followed, and nothing is waited for.
  struct Found {
    OpenFile file;
    std::size_t bytes = 0;
  };
  Found open(const std::string& name) const;
  // A new file; none where there is one.
  OpenFile create(const std::string& name) const;
  bool rename(const std::string& from, const std::string& to) const;
  void remove(const std::string& name) const;

 private:
  OpenFile folder_;
};

}  // namespace softgpu::jit
