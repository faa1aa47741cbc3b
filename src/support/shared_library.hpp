// A library opened at run time.
#pragma once

#include <string>

namespace cuprum::support {

/// Stays open for the life of the process: what comes from it (function pointers, threads, exit handlers) has no end
/// that could be waited for. So copies are cheap and the destructor does nothing.
class SharedLibrary {
 public:
  /// Opens `name` as dlopen does, with its symbols kept local. On failure the result is empty and error() says why.
  static SharedLibrary open(const std::string& name);

  /// The library that this process has loaded under that name already; empty when it hasn't.
  static SharedLibrary loaded(const std::string& name);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }

  /// Null when there is no such symbol.
  void* symbol(const char* name) const;

  /// As dlopen gave it.
  void* handle() const { return handle_; }

  /// The file that was opened, links resolved.
  std::string path() const;

 private:
  void* handle_ = nullptr;
  std::string error_;
};

/// Folder of the library (or program) that holds the code at `address`, links resolved.
std::string folder_of_code(const void* address);

}  // namespace cuprum::support
