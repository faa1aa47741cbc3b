// What graphics resources hold: the registration of an object, and the times for which it is mapped.
#pragma once

#include <cuprum/graphics_resource.hpp>
#include <memory>
#include <mutex>

#include "core/base/closable.hpp"
#include "core/base/context.hpp"
#include "core/memory/taken_back.hpp"
#include "core/stream/resources.hpp"
#include "support/counted.hpp"

namespace cuprum::core {

using KeptStream = detail::Kept<detail::StreamResource>;

/// An object that the driver knows. It is unregistered with the last who needs it.
class Registration : public support::Counted<Registration> {
 public:
  /// The context must be current. `acquire(&handle)` registers the object.
  template <typename Acquire>
  Registration(const ContextRecord& the_context, Acquire&& acquire)
      : context(the_context), parent_(the_context.owner.lock()) {
    acquire(&handle_);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration();

  CUgraphicsResource handle() const noexcept { return handle_; }

  const ContextRecord& context;

 private:
  const std::shared_ptr<const void> parent_;  ///< the context, when it is one that we created
  CUgraphicsResource handle_ = nullptr;
};

/// One mapping of it, from its construction until it is unmapped, which happens once. Threads may share it.
class Mapping {
 public:
  /// Maps it. The stream is settled.
  Mapping(std::shared_ptr<const Registration> registration, KeptStream stream);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool is_active() const noexcept;
  /// False when it was unmapped before. Throws when the driver refuses: then it is still mapped.
  bool unmap(const KeptStream& stream);
  /// The same for destructors: what fails is told to the log hook.
  void unmap_quietly(const KeptStream& stream) noexcept;

  const std::shared_ptr<const Registration> registration;
  const KeptStream stream;  ///< that it was mapped on

 private:
  mutable std::mutex mutex_;
  bool is_active_ = true;
};

/// What takes back the memory of a mapped buffer: no resource that one can allocate from.
class MappedMemory final : public MemoryResource::Interface, public WaitsBeforeTakingBack, public OnlyTakesBack {
 public:
  explicit MappedMemory(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}

  DevicePointer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const override { return true; }
  bool is_host_accessible() const override { return false; }
  std::optional<int> device_id() const override { return mapping_->registration->context.device; }

 private:
  void take_back(DevicePointer pointer, std::size_t size, const KeptStream& stream) override;

  const std::shared_ptr<Mapping> mapping_;
};

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

struct MappedImageResource {
  explicit MappedImageResource(std::shared_ptr<core::Mapping> the_mapping)
      : mapping(std::move(the_mapping)), unmapped_on(mapping->stream) {}
  MappedImageResource(const MappedImageResource&) = delete;
  MappedImageResource& operator=(const MappedImageResource&) = delete;
  ~MappedImageResource() { mapping->unmap_quietly(unmapped_on); }

  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(mapping->registration->handle()); }

  const std::shared_ptr<core::Mapping> mapping;
  std::mutex mutex;  ///< guards what follows
  core::KeptStream unmapped_on;
};

struct GraphicsState {
  explicit GraphicsState(std::shared_ptr<const core::Registration> the_registration)
      : registration(std::move(the_registration)) {}

  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(registration->handle()); }
  bool is_mapped() const;

  const std::shared_ptr<const core::Registration> registration;
  mutable std::mutex mutex;                ///< guards what follows
  std::shared_ptr<core::Mapping> mapping;  ///< the last one
  // What it was mapped as. Held, so that a mapping does not end because nobody keeps what map() returned.
  Buffer buffer;
  MappedImage image;
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
