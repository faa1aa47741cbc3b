#pragma once

#include <atomic>
#include <cuprum/driver.hpp>
#include <cuprum/object_code.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/context.hpp"
#include "support/counted.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

/// What code was made from, as far as the same can be made of it once more, for devices that can't run it: by linking,
/// which is the affair of whoever has linked it.
class PortableSource {
 public:
  PortableSource() = default;
  PortableSource(const PortableSource&) = delete;
  PortableSource& operator=(const PortableSource&) = delete;
  virtual ~PortableSource() = default;

  /// Modules of PTX that are yet to be linked; see ptx_modules().
  virtual std::vector<std::string> ptx_modules() const = 0;

  /// One image that the driver loads; see portable_image(). `name` is the code's.
  virtual std::string image(const std::string& name) const = 0;
};

struct Code {
  Target type;
  std::string name = {};
  std::string bytes = {};
  std::string ptx = {};  ///< of the same compilation, for devices that can't run `bytes`; may be empty
  std::unordered_map<std::string, std::string> symbol_mapping = {};
  std::shared_ptr<const PortableSource> source = {};  ///< of linked code, which has no `ptx`: what that can be made of
};

/// The driver's libraries of some code. Machine code is for some devices only, and for the others there is the PTX of
/// the same compilation: a process with devices of several architectures has two libraries of one code.
struct LoadedCode {
  CUlibrary own = nullptr;       ///< of the code itself
  CUlibrary portable = nullptr;  ///< of its PTX
  std::map<int, CUlibrary> by_device = {};
};

/// Code, and the driver's libraries of it once it is loaded.
struct ObjectCodeResource : support::Counted<ObjectCodeResource>, std::enable_shared_from_this<ObjectCodeResource> {
  explicit ObjectCodeResource(Code the_code) : code(std::move(the_code)) {}
  ObjectCodeResource(const ObjectCodeResource&) = delete;
  ObjectCodeResource& operator=(const ObjectCodeResource&) = delete;
  ~ObjectCodeResource();

  /// That which runs in `context`, which must be current. Loads at the first call for a device.
  CUlibrary library(const core::ContextRecord& context);

  /// The code that a library of the driver is of, as long as somebody has it; null for libraries of others.
  static std::shared_ptr<ObjectCodeResource> of_library(CUlibrary library);

  /// The same kernel as `handle`, for a context that must be current.
  CUkernel kernel_in(const core::ContextRecord& context, CUkernel handle, const std::string& symbol);

  /// What all handles of one of its kernels share, so that what is set through one holds for the others. A context must
  /// be current.
  std::shared_ptr<KernelResource> kernel(CUkernel handle, const std::string& symbol);

  const Code code;

 private:
  std::mutex mutex_;
  LoadedCode loaded_;
  std::unordered_map<CUkernel, std::weak_ptr<KernelResource>> kernels_;
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
