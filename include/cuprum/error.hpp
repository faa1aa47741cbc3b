// What the library throws. Everything derives from cuprum::Error; the types differ by what a caller can do about them.
//
//   try {
//     program.compile(Target::cubin);
//   } catch (const cuprum::CompileError& error) {
//     std::cerr << error.log();
//   }
#pragma once

#include <cuprum/detail/export.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

/// Base of all exceptions of the library.
class CUPRUM_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;
};

/// A call of the CUDA driver failed. `what()` says what the library was doing with which objects, the call, the
/// driver's own name and description of the code, and the reason, where the driver gives one.
class CUPRUM_API DriverError : public Error {
 public:
  struct Details {
    int code;                 ///< a CUresult of <cuda.h>
    std::string name;         ///< its name, e.g. "CUDA_ERROR_INVALID_VALUE"
    std::string description;  ///< the driver's sentence about it
    std::string call;         ///< the entry point, e.g. "cuMemcpyAsync"
    std::string doing;        ///< what the library was doing, with the objects named; may be empty
    std::string reason = {};  ///< what the driver's log says of this call; empty where it has none (before CUDA 12.9)
  };

  explicit DriverError(Details details);
  DriverError(const DriverError&) = default;
  DriverError& operator=(const DriverError&) = default;
  ~DriverError() override;

  int code() const noexcept { return details_->code; }
  const std::string& name() const noexcept { return details_->name; }
  const std::string& description() const noexcept { return details_->description; }
  const std::string& call() const noexcept { return details_->call; }
  const std::string& doing() const noexcept { return details_->doing; }
  const std::string& reason() const noexcept { return details_->reason; }

 private:
  std::shared_ptr<const Details> details_;  // shared, so that copying the exception can't throw
};

/// The driver has no memory left for the request (CUDA_ERROR_OUT_OF_MEMORY). Freeing something and trying again can
/// help.
class CUPRUM_API OutOfMemory : public DriverError {
 public:
  using DriverError::DriverError;
  OutOfMemory(const OutOfMemory&) = default;
  OutOfMemory& operator=(const OutOfMemory&) = default;
  ~OutOfMemory() override;
};

/// A compiler refused the program. `what()` has all of it.
class CUPRUM_API CompileError : public Error {
 public:
  struct Details {
    std::string summary;
    std::string log = {};                   ///< what the compiler printed, with lines
    std::string source = {};                ///< the lines around the first error, numbered; may be empty
    std::vector<std::string> options = {};  ///< what the compiler was told
  };

  explicit CompileError(Details details);
  CompileError(const std::string& summary, std::string log);
  CompileError(const CompileError&) = default;
  CompileError& operator=(const CompileError&) = default;
  ~CompileError() override;

  const std::string& log() const noexcept { return details_->log; }
  const std::string& source() const noexcept { return details_->source; }
  const std::vector<std::string>& options() const noexcept { return details_->options; }

 private:
  std::shared_ptr<const Details> details_;
};

/// A linker refused its inputs; `log()` is what it printed.
class CUPRUM_API LinkError : public Error {
 public:
  LinkError(const std::string& summary, std::string log);
  LinkError(const LinkError&) = default;
  LinkError& operator=(const LinkError&) = default;
  ~LinkError() override;

  const std::string& log() const noexcept { return *log_; }

 private:
  std::shared_ptr<const std::string> log_;
};

/// A call of NVRTC, nvJitLink, libNVVM or NVML failed.
class CUPRUM_API LibraryError : public Error {
 public:
  struct Details {
    std::string library;      ///< "NVRTC"
    std::string path;         ///< its file
    std::string call;         ///< "nvrtcCompileProgram"
    int code;                 ///< what the call returned
    std::string description;  ///< the library's own words about it
  };

  explicit LibraryError(Details details);
  LibraryError(const LibraryError&) = default;
  LibraryError& operator=(const LibraryError&) = default;
  ~LibraryError() override;

  const std::string& library() const noexcept { return details_->library; }
  const std::string& path() const noexcept { return details_->path; }
  const std::string& call() const noexcept { return details_->call; }
  int code() const noexcept { return details_->code; }
  const std::string& description() const noexcept { return details_->description; }

 private:
  std::shared_ptr<const Details> details_;
};

/// The caller asked for something that can't be: a closed object, a copy between different sizes, arguments that don't
/// match a kernel, a value out of range. Found before anything reached the driver.
class CUPRUM_API InvalidArgument : public Error {
 public:
  using Error::Error;
  InvalidArgument(const InvalidArgument&) = default;
  InvalidArgument& operator=(const InvalidArgument&) = default;
  ~InvalidArgument() override;
};

/// This machine can't do it; the text says what would be needed: a driver version, a compute capability, a library.
class CUPRUM_API NotSupported : public Error {
 public:
  using Error::Error;
  NotSupported(const NotSupported&) = default;
  NotSupported& operator=(const NotSupported&) = default;
  ~NotSupported() override;
};

}  // namespace cuprum::inline CUPRUM_ABI
