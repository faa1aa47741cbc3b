// What arrays, textures and surfaces hold.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/texture.hpp>
#include <memory>
#include <vector>

#include "core/base/closable.hpp"
#include "core/base/context.hpp"
#include "core/stream/resources.hpp"
#include "driver/release.hpp"
#include "support/counted.hpp"

namespace cuprum::core {

/// What an array is, whoever made it.
struct ArrayFacts {
  std::vector<std::size_t> shape;
  texture::ArrayFormatType format;
  int num_channels;
  bool is_surface_load_store;
  bool is_cubemap = false;  ///< only of arrays that others made

  /// Of an axis; 1 for one that it does not have.
  std::size_t extent(std::size_t axis) const { return axis < shape.size() ? shape[axis] : 1; }
  std::size_t element_bytes() const;
  std::size_t row_bytes() const { return extent(0) * element_bytes(); }
  std::size_t size_bytes() const { return row_bytes() * extent(1) * extent(2); }
};

CUDA_ARRAY3D_DESCRIPTOR cu_descriptor(const ArrayFacts& facts);
/// Throws NotSupported for formats that the library does not have.
ArrayFacts facts_from(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

/// "640 x 480 texels of 4 x uint8".
std::string in_words(const ArrayFacts& facts);

/// Gives something back that the driver looks up in the context that is current. What is gone with its context needs no
/// release.
template <auto Entry, typename Handle>
void release_inside(const ContextRecord& context, Handle handle) noexcept {
  if (ContextGuard guard(context, std::nothrow); guard.entered()) driver::release<Entry>(handle);
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

struct ArrayResource : support::Counted<ArrayResource> {
  /// Creates an array of options that were checked. The context must be current.
  ArrayResource(const core::ContextRecord& the_context, const texture::OpaqueArrayOptions& options);
  /// Wraps one; `owner` is kept as long. The context must be current.
  ArrayResource(const core::ContextRecord& the_context, CUarray the_handle, std::shared_ptr<const void> owner);
  ArrayResource(const ArrayResource&) = delete;
  ArrayResource& operator=(const ArrayResource&) = delete;
  ~ArrayResource();

  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(handle); }

  const core::ContextRecord& context;
  const Ownership ownership;
  const core::ArrayFacts facts;
  const CUarray handle;

 private:
  const std::shared_ptr<const void> parent_;  ///< the context, when it is one that we created
  const std::shared_ptr<const void> owner_;
};

struct MipmappedArrayResource : support::Counted<MipmappedArrayResource> {
  /// Creates an array of options that were checked. The context must be current.
  MipmappedArrayResource(const core::ContextRecord& the_context, const texture::MipmappedArrayOptions& options);
  MipmappedArrayResource(const MipmappedArrayResource&) = delete;
  MipmappedArrayResource& operator=(const MipmappedArrayResource&) = delete;
  ~MipmappedArrayResource();

  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(handle); }

  const core::ContextRecord& context;
  const core::ArrayFacts facts;  ///< of level 0
  const int num_levels;
  const CUmipmappedArray handle;

 private:
  const std::shared_ptr<const void> parent_;
};

struct TextureResource : support::Counted<TextureResource> {
  /// Creates a texture of a resource and options that were checked. The context must be current.
  TextureResource(const core::ContextRecord& the_context, const texture::ResourceDescriptor& the_resource,
                  const texture::TextureObjectOptions& the_options);
  TextureResource(const TextureResource&) = delete;
  TextureResource& operator=(const TextureResource&) = delete;
  ~TextureResource();

  std::uint64_t number() const noexcept { return handle; }

  const core::ContextRecord& context;
  const texture::ResourceDescriptor resource;  ///< keeps the memory
  const texture::TextureObjectOptions options;
  const CUtexObject handle;

 private:
  const std::shared_ptr<const void> parent_;
};

struct SurfaceResource : support::Counted<SurfaceResource> {
  /// Creates a surface of a resource that was checked. The context must be current.
  SurfaceResource(const core::ContextRecord& the_context, const texture::ResourceDescriptor& the_resource);
  SurfaceResource(const SurfaceResource&) = delete;
  SurfaceResource& operator=(const SurfaceResource&) = delete;
  ~SurfaceResource();

  std::uint64_t number() const noexcept { return handle; }

  const core::ContextRecord& context;
  const texture::ResourceDescriptor resource;  ///< keeps the array
  const CUsurfObject handle;

 private:
  const std::shared_ptr<const void> parent_;
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
