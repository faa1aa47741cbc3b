#pragma once

#include <atomic>
#include <cuprum/driver.hpp>
#include <cuprum/object_code.hpp>
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

/// Code, and the driver's library of it once it is loaded.
struct ObjectCodeResource : support::Counted<ObjectCodeResource>, std::enable_shared_from_this<ObjectCodeResource> {
  explicit ObjectCodeResource(Code the_code) : code(std::move(the_code)) {}
  ObjectCodeResource(const ObjectCodeResource&) = delete;
  ObjectCodeResource& operator=(const ObjectCodeResource&) = delete;
  ~ObjectCodeResource();

  /// Loads at the first call. `context` is where the code is tried: whether a device can run it turns out there.
  CUlibrary library(const core::ContextRecord& context);

  /// What all handles of one of its kernels share, so that what is set through one holds for the others. A context must
  /// be current.
  std::shared_ptr<KernelResource> kernel(CUkernel handle, const std::string& symbol);

  const Code code;

 private:
  std::mutex mutex_;
  CUlibrary library_ = nullptr;
  std::unordered_map<CUkernel, std::weak_ptr<KernelResource>> kernels_;
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
