// What the library throws. Everything derives from cuprum::Error; the types differ by what a caller can do about them.
//
//   try {
//     program.compile(Target::cubin);
//   } catch (const cuprum::CompileError& error) {
//     std::cerr << error.log();
//   }
//
//   Error
//     DriverError          a call of the driver failed
//       OutOfMemory        is a std::bad_alloc, too
//     LibraryError         a call of NVRTC, nvJitLink, libNVVM or NVML failed
//     CompileError, LinkError
//     InvalidArgument      a value that can't be (Python: ValueError)
//       WrongType          something of another type than expected (TypeError)
//       WrongState         an object that is closed, empty or not fit for this (RuntimeError)
//     SystemError          the operating system refused something (OSError)
//     NotSupported         this device, driver or machine can't do it (NotImplementedError)
//     ipc::ChannelError
//
// What is thrown is always a std::exception as well: a std::bad_alloc, a std::invalid_argument or a std::runtime_error.
// Error itself is not, because OutOfMemory would have two of them then, and `catch (const std::exception&)` would not
// catch it.
#pragma once

#include <cuprum/detail/export.hpp>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

/// Base of all exceptions of the library. Apart from them only what std::bad_alloc says of the host's own memory, and
/// what functions of the caller throw, comes out of it.
class CUPRUM_API Error {
 public:
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  virtual ~Error();

  /// What went wrong, with which objects, and what can be done.
  virtual const char* what() const noexcept;

 protected:
  /// `message` is what() in full.
  explicit Error(std::string message);

 private:
  std::shared_ptr<const std::string> message_;  // shared, so that copying the exception can't throw
};

/// A call of the CUDA driver failed. `what()` says what the library was doing with which objects, the call, the
/// driver's own name and description of the code, and the reason, where the driver gives one.
class CUPRUM_API DriverError : public Error {
 public:
  /// What is known of the failure.
  struct Details {
    int code;                 ///< a CUresult of <cuda.h>
    std::string name;         ///< its name, e.g. "CUDA_ERROR_INVALID_VALUE"
    std::string description;  ///< the driver's sentence about it
    std::string call;         ///< the entry point, e.g. "cuMemcpyAsync"
    std::string doing;        ///< what the library was doing, with the objects named; may be empty
    std::string reason = {};  ///< what the driver's log says of this call; empty where it has none (before CUDA 12.9)
  };

  DriverError(const DriverError&) = default;
  DriverError& operator=(const DriverError&) = default;
  ~DriverError() override;

  /// A CUresult of <cuda.h>: what a program can decide by.
  int code() const noexcept { return details_->code; }
  /// The code's name: "CUDA_ERROR_INVALID_VALUE"; its number where the driver has no name for it.
  const std::string& name() const noexcept { return details_->name; }
  /// The driver's sentence about the code.
  const std::string& description() const noexcept { return details_->description; }
  /// The entry point: "cuMemcpyAsync".
  const std::string& call() const noexcept { return details_->call; }
  /// What the library was doing, with the objects named; may be empty.
  const std::string& doing() const noexcept { return details_->doing; }
  /// What the driver's log says of this call; empty where it has none (before CUDA 12.9).
  const std::string& reason() const noexcept { return details_->reason; }

 protected:
  /// What is thrown derives from a std::exception besides.
  explicit DriverError(Details details);

 private:
  std::shared_ptr<const Details> details_;
};

/// The driver has no memory left for the request (CUDA_ERROR_OUT_OF_MEMORY). Freeing something and trying again can
/// help.
class CUPRUM_API OutOfMemory : public DriverError, public std::bad_alloc {
 public:
  /// Makes what() of the details.
  explicit OutOfMemory(Details details);
  OutOfMemory(const OutOfMemory&) = default;
  OutOfMemory& operator=(const OutOfMemory&) = default;
  ~OutOfMemory() override;

  const char* what() const noexcept override;
};

/// A compiler refused the program. `what()` has all of it.
class CUPRUM_API CompileError : public Error, public std::runtime_error {
 public:
  /// What is known of the failure.
  struct Details {
    std::string summary;                    ///< the sentence that what() begins with
    std::string log = {};                   ///< what the compiler printed, with lines
    std::string source = {};                ///< the lines around the first error, numbered; may be empty
    std::vector<std::string> options = {};  ///< what the compiler was told
  };

  /// Makes what() of the summary, the log and the source.
  explicit CompileError(Details details);
  /// The same without source and options.
  CompileError(const std::string& summary, std::string log);
  CompileError(const CompileError&) = default;
  CompileError& operator=(const CompileError&) = default;
  ~CompileError() override;

  const char* what() const noexcept override;

  /// What the compiler printed, with lines; may be empty.
  const std::string& log() const noexcept { return details_->log; }
  /// The lines around the first error, numbered; empty when they are not known.
  const std::string& source() const noexcept { return details_->source; }
  /// What the compiler was told; empty when it was told nothing, or is the driver's.
  const std::vector<std::string>& options() const noexcept { return details_->options; }

 private:
  std::shared_ptr<const Details> details_;
};

/// A linker refused its inputs; `log()` is what it printed.
class CUPRUM_API LinkError : public Error, public std::runtime_error {
 public:
  /// Makes what() of both.
  LinkError(const std::string& summary, std::string log);
  LinkError(const LinkError&) = default;
  LinkError& operator=(const LinkError&) = default;
  ~LinkError() override;

  const char* what() const noexcept override;

  /// What the linker printed; may be empty.
  const std::string& log() const noexcept { return *log_; }

 private:
  std::shared_ptr<const std::string> log_;
};

/// A call of NVRTC, nvJitLink, libNVVM or NVML failed.
class CUPRUM_API LibraryError : public Error, public std::runtime_error {
 public:
  /// What is known of the failure.
  struct Details {
    std::string library;      ///< "NVRTC"
    std::string path;         ///< its file
    std::string call;         ///< "nvrtcCompileProgram"
    int code;                 ///< what the call returned
    std::string description;  ///< the library's own words about it
  };

  /// Makes what() of the details.
  explicit LibraryError(Details details);
  LibraryError(const LibraryError&) = default;
  LibraryError& operator=(const LibraryError&) = default;
  ~LibraryError() override;

  const char* what() const noexcept override;

  /// The library's name: "NVRTC".
  const std::string& library() const noexcept { return details_->library; }
  /// The file that it was opened from.
  const std::string& path() const noexcept { return details_->path; }
  /// The function: "nvrtcCompileProgram".
  const std::string& call() const noexcept { return details_->call; }
  /// What the call returned: nvrtc::Result and its likes, as a number.
  int code() const noexcept { return details_->code; }
  /// The library's own words about the code.
  const std::string& description() const noexcept { return details_->description; }

 private:
  std::shared_ptr<const Details> details_;
};

/// The caller asked for something that can't be: a copy between different sizes, a shape that the device can't take, a
/// value out of range. Found before anything reached the driver.
class CUPRUM_API InvalidArgument : public Error, public std::invalid_argument {
 public:
  /// `message` is what() in full.
  explicit InvalidArgument(const std::string& message);
  InvalidArgument(const InvalidArgument&) = default;
  InvalidArgument& operator=(const InvalidArgument&) = default;
  ~InvalidArgument() override;

  const char* what() const noexcept override;
};

/// Something is of another type than expected: an argument that is not what the kernel declares, elements that are not
/// what the view has.
class CUPRUM_API WrongType : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
  WrongType(const WrongType&) = default;
  WrongType& operator=(const WrongType&) = default;
  ~WrongType() override;
};

/// The object can't do it, whatever the arguments: it is closed or empty, was made without what this needs (an event
/// without timing, a pool that is not shared), or is in the middle of something.
class CUPRUM_API WrongState : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
  WrongState(const WrongState&) = default;
  WrongState& operator=(const WrongState&) = default;
  ~WrongState() override;
};

/// The operating system could not do what the library needs: a file that can't be written, no random numbers.
class CUPRUM_API SystemError : public Error, public std::runtime_error {
 public:
  /// The text says what was done with what; the system's words for `code`, an errno, are added.
  SystemError(const std::string& message, int code);
  SystemError(const SystemError&) = default;
  SystemError& operator=(const SystemError&) = default;
  ~SystemError() override;

  const char* what() const noexcept override;
  /// The errno.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// This machine can't do it; the text says what would be needed: a driver version, a compute capability, a library.
class CUPRUM_API NotSupported : public Error, public std::runtime_error {
 public:
  /// `message` is what() in full; `code` is what a call returned that said so, if one was made.
  explicit NotSupported(const std::string& message, std::optional<int> code = std::nullopt);
  NotSupported(const NotSupported&) = default;
  NotSupported& operator=(const NotSupported&) = default;
  ~NotSupported() override;

  const char* what() const noexcept override;

  /// What the call returned that said so: a CUresult, or a code of NVRTC and its like. None when no call was made.
  std::optional<int> code() const noexcept { return code_; }

 private:
  std::optional<int> code_;
};

}  // namespace cuprum::inline CUPRUM_ABI
