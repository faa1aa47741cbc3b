// The inside of the handle classes: see docs/design/driver-seam.md.
#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/program.hpp>
#include <cuprum/stream.hpp>
#include <memory>
#include <optional>
#include <string>

namespace cuprum::inline CUPRUM_ABI::detail {

/// What all copies of a handle share. The resource is released when the last of its users goes: all copies, or close(),
/// and those that depend on it, such as a buffer that is yet to be freed on a stream.
template <typename Resource>
struct Closable {
  std::shared_ptr<Resource> resource;
};

/// For resources on which nothing depends but their handles: held in place, which makes them cheaper to make.
template <typename Resource>
struct ClosableInPlace {
  std::optional<Resource> resource;
};
template <>
struct Closable<BufferResource>;
template <>
struct Closable<EventResource>;

struct Access {
  /// The resource behind a handle. Throws InvalidArgument when it is closed, and when the handle is empty.
  template <typename Handle>
  static auto& resource(const Handle& handle) {
    if (!handle.shared_ || !handle.shared_->resource) [[unlikely]]
      refuse(title(handle), handle.shared_ != nullptr);
    return handle.shared_->resource;
  }

  template <typename Handle>
  static bool is_open(const Handle& handle) noexcept {
    return handle.shared_ && handle.shared_->resource;
  }

  template <typename Handle>
  static void close(Handle& handle) {
    if (handle.shared_) handle.shared_->resource.reset();
  }

  template <typename Handle, typename Resource>
  static Handle make(std::shared_ptr<Resource> resource) {
    return Handle(std::make_shared<Closable<Resource>>(Closable<Resource>{std::move(resource)}));
  }

  /// For resources that are held in place.
  template <typename Handle, typename Resource>
  static Handle wrap(std::shared_ptr<Closable<Resource>> shared) {
    return Handle(std::move(shared));
  }
  template <typename Handle, typename Resource, typename... Arguments>
  static Handle make_in_place(Arguments&&... arguments) {
    auto shared = std::make_shared<Closable<Resource>>();
    shared->resource.emplace(std::forward<Arguments>(arguments)...);
    return Handle(std::move(shared));
  }

  // Kernels and object code have no close(): their handles hold the resource itself.
  static const std::shared_ptr<KernelResource>& resource(const Kernel& kernel) {
    if (!kernel.resource_) [[unlikely]]
      refuse("kernel", false);
    return kernel.resource_;
  }
  static const std::shared_ptr<ObjectCodeResource>& resource(const ObjectCode& code) {
    if (!code.resource_) [[unlikely]]
      refuse("object code", false);
    return code.resource_;
  }
  static Kernel make_kernel(std::shared_ptr<KernelResource> resource) { return Kernel(std::move(resource)); }
  static ObjectCode make_code(std::shared_ptr<ObjectCodeResource> resource) { return ObjectCode(std::move(resource)); }

  /// A device whose number is known to be one.
  static Device device(int id) { return Device(id, Device::Unchecked{}); }

 private:
  static const char* title(const Context&) { return "context"; }
  static const char* title(const Stream&) { return "stream"; }
  static const char* title(const Event&) { return "event"; }
  static const char* title(const Buffer&) { return "buffer"; }
  static const char* title(const Program&) { return "program"; }
  static const char* title(const Linker&) { return "linker"; }
  static const char* title(const IPCAllocationHandle&) { return "allocation handle"; }
  [[noreturn]] static void refuse(const char* what, bool is_closed);
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
