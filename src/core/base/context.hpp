// CUDA contexts, as far as the library needs them: which one something belongs to, and making it current for a call.
#pragma once

#include <atomic>
#include <cuprum/detail/shared.hpp>
#include <cuprum/driver.hpp>
#include <memory>
#include <new>
#include <optional>
#include <vector>

namespace cuprum::core {

/// What the library knows of one CUDA context. Never destroyed, so that references to it are always good and its
/// address tells contexts apart.
struct ContextRecord {
  ContextRecord(CUcontext the_handle, unsigned long long the_id, int the_device)
      : handle(the_handle), id(the_id), device(the_device) {}

  const CUcontext handle;
  const unsigned long long id;  ///< of the driver; tells a context from a later one at the same address
  const int device;

  /// It is ours, made or retained: while that is so, no other context can have its handle.
  mutable std::atomic<bool> held{false};

  /// We made it, and have ended it: nobody uses it any more.
  mutable std::atomic<bool> destroyed{false};

  /// The green context that it was converted from, when we made it; null for others, of which only green_context_of()
  /// knows.
  mutable std::atomic<CUgreenCtx> green{nullptr};

  /// Whoever destroys a context that we made. What is made in the context shares it; empty for all other contexts.
  mutable std::weak_ptr<detail::OwnedContext> owner;
};

/// The primary context of a device. It is retained at the first call and never released: when the process ends, the
/// driver does that, and before there is no moment at which it is known to be unused.
const ContextRecord& primary_context(int device);

/// The same; when somebody has reset the primary context, it is retained anew.
const ContextRecord& revived_primary_context(int device);

/// Whether the context is still what it was. Asks the driver.
bool is_alive(const ContextRecord& context) noexcept;

/// The ContextRecord of the handle that is current on this thread; null when that context was destroyed. Costs next to
/// nothing when the thread had it the last time, too.
const ContextRecord* known_context(CUcontext current);

/// The one that is current on this thread; null when none is, when it was destroyed, or when no driver is open yet.
const ContextRecord* current_context();

/// The one that is current, if it is this device's, else the device's primary context.
const ContextRecord& context_for(int device);

/// The ContextRecord that stands for any handle of the driver.
const ContextRecord& context_of(CUcontext handle);

/// Makes a context; it does not become current. destroy_context() is its end.
const ContextRecord& create_context(int device, unsigned flags);
/// The same for a green one. There must be resources, all of the device.
const ContextRecord& create_green_context(int device, std::vector<CUdevResource> resources);
/// The green context that a context was converted from, by whomever; null when from none.
CUgreenCtx green_context_of(const ContextRecord& context);
void destroy_context(const ContextRecord& context) noexcept;

/// Which context something happens in: a certain one, or, for default streams, the one that is current when it happens.
class ContextChoice {
 public:
  ContextChoice(const ContextRecord& fixed) noexcept : fixed_(&fixed) {}

  /// Whatever is current; device 0's primary context when nothing is.
  static ContextChoice current() noexcept { return ContextChoice(any_device); }

  /// What is current if it is this device's, else the device's primary context.
  static ContextChoice current_of(int device) noexcept { return ContextChoice(device); }

  bool is_fixed() const noexcept { return fixed_ != nullptr; }

  /// It is a certain one, which we hold.
  bool is_held() const noexcept { return fixed_ && fixed_->held.load(std::memory_order_acquire); }

  /// The context's device, where that is settled already.
  std::optional<int> device() const noexcept {
    if (fixed_) return fixed_->device;
    return device_ == any_device ? std::nullopt : std::optional(device_);
  }

  /// The context. Asks the driver unless it is fixed; where a ContextGuard is needed anyway, ask that.
  const ContextRecord& resolve() const;

  friend bool operator==(const ContextChoice&, const ContextChoice&) = default;

 private:
  friend class ContextGuard;
  static constexpr int any_device = -1;
  explicit ContextChoice(int device) noexcept : device_(device) {}
  const ContextRecord& resolve(CUcontext current) const;

  const ContextRecord* fixed_ = nullptr;
  int device_ = any_device;
};

/// Makes a context current for a scope. Costs one query when it is already.
class ContextGuard {
 public:
  explicit ContextGuard(const ContextChoice& choice);

  /// For destructors: does not throw. entered() is false when it did not work, and when the context is gone, and with
  /// it everything that was to be released in it.
  ContextGuard(const ContextChoice& choice, std::nothrow_t) noexcept;
  ~ContextGuard() {
    if (pushed_) leave();
  }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

  bool entered() const noexcept { return entered_; }
  const ContextRecord& context() const noexcept { return *context_; }
  bool changed_context() const noexcept { return pushed_; }  ///< it was not current before

 private:
  static void leave() noexcept;

  const ContextRecord* context_ = nullptr;
  bool entered_ = false;
  bool pushed_ = false;
};

}  // namespace cuprum::core
