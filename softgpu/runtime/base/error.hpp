// How a request of the driver API fails: with a CUresult and, where more can be said, a message.
#pragma once

#include <cuda.h>

#include <exception>
#include <string>
#include <utility>

namespace softgpu::runtime {

// Caught by api/, which returns the code and, with SOFTGPU_TRACE=errors, prints the message.
class Failure : public std::exception {
 public:
  explicit Failure(CUresult code, std::string message = {}) : code_(code), message_(std::move(message)) {}
  CUresult code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  CUresult code_;
  std::string message_;
};

// What NVIDIA's driver does not look at and may crash by, handles that are none above all. With SOFTGPU_STRICT=1 the
// program ends there, so that it is found without a GPU.
class Misuse : public Failure {
 public:
  using Failure::Failure;
};

inline void require_handle(bool condition, CUresult code, const char* message) {
  if (!condition) throw Misuse(code, message);
}

inline void require(bool condition, CUresult code, const char* message = "") {
  if (!condition) throw Failure(code, message);
}

}  // namespace softgpu::runtime
