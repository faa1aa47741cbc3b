// The inside of the handle classes: what their copies share, and how a resource is kept beyond close(). See
// docs/guide/lifetimes.md for the rule.
#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/graphics_resource.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/program.hpp>
#include <cuprum/stream.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace cuprum::inline CUPRUM_ABI::detail {

/// What all copies of a handle share, with the resource in place. A resource says its handle() as a number.
template <typename Resource>
struct Closable final : SharedState {
  template <typename... Arguments>
  explicit Closable(std::in_place_t, Arguments&&... arguments) : resource(std::forward<Arguments>(arguments)...) {
    set_handle(resource.number());
  }
  template <typename... Arguments>
  explicit Closable(Permanent permanent, Arguments&&... arguments)
      : SharedState(permanent), resource(std::forward<Arguments>(arguments)...) {
    set_handle(resource.number());
  }
  using SharedState::Permanent;
  using SharedState::set_handle;
  ~Closable() override {}  // release() has destroyed the resource

  union {
    Resource resource;
  };

 private:
  void release() noexcept override { resource.~Resource(); }
};

/// Makes a resource without a handle, for those who keep it.
template <typename Resource, typename... Arguments>
Kept<Resource> make_kept(Arguments&&... arguments) {
  auto* shared = new Closable<Resource>(std::in_place, std::forward<Arguments>(arguments)...);
  const Shared<Resource> handle(shared);
  shared->try_keep();
  return Kept<Resource>(shared);
}

struct Access {
  /// Keeps the resource behind a handle: for an operation, or as long as the result is kept. Throws when the handle is
  /// closed or empty.
  template <typename Handle>
  static auto keep(const Handle& handle) {
    auto kept = try_keep(handle);
    if (!kept) [[unlikely]]
      refuse(handle);
    return kept;
  }

  /// Says that the handle is closed or empty.
  template <typename Handle>
  [[noreturn]] static void refuse(const Handle& handle) {
    refuse(title(handle), handle.shared_.get() != nullptr);
  }

  /// The same; nothing when the handle is closed or empty.
  template <typename Handle>
  static auto try_keep(const Handle& handle) noexcept {
    return try_keep_shared(handle.shared_);
  }

  /// Keeps the resources behind handles of any kind as one thing, for lists of what something was given.
  template <typename... Handle>
  static std::shared_ptr<const void> keeper_of(const Handle&... handles) {
    return std::make_shared<const std::tuple<decltype(keep(handles))...>>(keep(handles)...);
  }

  template <typename Handle>
  static bool is_open(const Handle& handle) noexcept {
    const SharedState* state = handle.shared_.get();
    return state && !state->is_closed();
  }

  /// CUDA's handle or the address as a number; 0 for a handle that is closed or empty.
  template <typename Handle>
  static std::uint64_t number(const Handle& handle) noexcept {
    const SharedState* state = handle.shared_.get();
    return state ? state->handle() : 0;
  }

  /// "a closed stream", "an empty stream": how a handle is printed that stands for nothing.
  template <typename Handle>
  static std::string state_in_words(const Handle& handle) {
    return std::string(handle.shared_ ? "a closed " : "an empty ") + title(handle);
  }

  template <typename Handle>
  static void close(Handle& handle) noexcept {
    if (SharedState* state = handle.shared_.get()) state->close();
  }

  template <typename Handle, typename Resource, typename... Arguments>
  static Handle make(Arguments&&... arguments) {
    return Handle(Shared<Resource>(new Closable<Resource>(std::in_place, std::forward<Arguments>(arguments)...)));
  }

  /// A handle for a new state.
  template <typename Handle, typename Resource>
  static Handle take(Closable<Resource>* made) noexcept {
    return Handle(Shared<Resource>(made));
  }

  /// A handle for a state that is never destroyed.
  template <typename Handle, typename Resource>
  static Handle wrap(Closable<Resource>& permanent) noexcept {
    return Handle(Shared<Resource>(&permanent));
  }

  // Kernels and object code have no close(): their handles hold the resource itself.
  static const std::shared_ptr<KernelResource>& keep(const Kernel& kernel) {
    if (!kernel.resource_) [[unlikely]]
      refuse("kernel", false);
    return kernel.resource_;
  }
  static const std::shared_ptr<ObjectCodeResource>& keep(const ObjectCode& code) {
    if (!code.resource_) [[unlikely]]
      refuse("object code", false);
    return code.resource_;
  }
  static Kernel make_kernel(std::shared_ptr<KernelResource> resource) { return Kernel(std::move(resource)); }
  static ObjectCode make_code(std::shared_ptr<ObjectCodeResource> resource) { return ObjectCode(std::move(resource)); }

  /// A device whose number is known to be one.
  static Device device(int id) { return Device(id, Device::Unchecked{}); }

 private:
  template <typename Resource>
  static Kept<Resource> try_keep_shared(const Shared<Resource>& shared) noexcept {
    SharedState* state = shared.get();
    if (!state || !state->try_keep()) [[unlikely]]
      return {};
    return Kept<Resource>(state);
  }

  static const char* title(const Context&) { return "context"; }
  static const char* title(const Stream&) { return "stream"; }
  static const char* title(const Event&) { return "event"; }
  static const char* title(const Buffer&) { return "buffer"; }
  static const char* title(const Program&) { return "program"; }
  static const char* title(const Linker&) { return "linker"; }
  static const char* title(const texture::OpaqueArray&) { return "array"; }
  static const char* title(const texture::MipmappedArray&) { return "mipmapped array"; }
  static const char* title(const texture::TextureObject&) { return "texture"; }
  static const char* title(const texture::SurfaceObject&) { return "surface"; }
  static const char* title(const GraphicsResource&) { return "graphics resource"; }
  static const char* title(const MappedImage&) { return "mapped image"; }
  static const char* title(const IPCAllocationHandle&) { return "allocation handle"; }
  [[noreturn]] static void refuse(const char* what, bool is_closed);
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
