// CUDA contexts, as far as the library needs them: which one a resource belongs to, and making it current for a call.
#pragma once

#include <cuprum/driver.hpp>
#include <new>

namespace cuprum::core {

/// A context that a resource of the library belongs to. Never destroyed, so that references to it are always good and
/// its address tells contexts apart.
struct Context {
  CUcontext handle;
  unsigned long long id;  ///< of the driver; tells a context from a later one at the same address
  int device;
};

/// The primary context of a device. It is retained at the first call and never released: when the process ends, the
/// driver does that, and before there is no moment at which it is known to be unused.
const Context& primary_context(int device);

/// The one that is current on this thread; null when none is, or when no driver is open yet.
const Context* current_context();

/// The one that was current, if it is this device's, else the device's primary context.
const Context& context_for(int device);

/// The Context that stands for a handle of the driver.
const Context& context_of(CUcontext handle);

/// Makes a context current for a scope. Costs one query when it is already.
class ContextGuard {
 public:
  explicit ContextGuard(const Context& context);

  /// For destructors: does not throw; entered() says whether it worked.
  ContextGuard(const Context& context, std::nothrow_t) noexcept;
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

  bool entered() const noexcept { return entered_; }

 private:
  bool entered_ = true;
  bool pushed_ = false;
};

}  // namespace cuprum::core
