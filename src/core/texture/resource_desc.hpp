// What textures and surfaces have in common.
#pragma once

#include <cuda.h>

#include <cuprum/texture.hpp>

#include "core/memory/buffer_resource.hpp"
#include "core/texture/resources.hpp"

namespace cuprum::core {

CUDA_RESOURCE_DESC cu_resource(const texture::ResourceDescriptor& resource);

/// A buffer of no bytes whose owner keeps the object. Throws InvalidArgument for one that is closed.
template <typename Object>
detail::Kept<detail::BufferResource> as_memory(const Object& object) {
  auto kept = detail::Access::keep(object);
  const std::uint64_t handle = kept.handle();
  auto owner = std::make_shared<decltype(kept)>(std::move(kept));
  return detail::make_kept<detail::BufferResource>(handle, std::size_t{0}, std::shared_ptr<void>(std::move(owner)));
}

}  // namespace cuprum::core
