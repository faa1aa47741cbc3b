// Texture and surface objects: what cuTexObjectCreate and cuSurfObjectCreate make of their descriptors.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>

#include "softgpu/texture/surface.hpp"
#include "softgpu/texture/texture.hpp"

namespace softgpu::runtime {

class Context;
struct MemoryServices;

struct TextureObject final : texture::Texture {
  std::uint64_t context = 0;  // id
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampling{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

struct SurfaceObject final : texture::Surface {
  std::uint64_t context = 0;
  CUDA_RESOURCE_DESC resource{};
};

// Throw CUDA_ERROR_INVALID_VALUE for descriptors that make no texture, and CUDA_ERROR_INVALID_HANDLE for what is no
// array. An object does not keep its memory alive.
CUtexObject create_texture(const MemoryServices& services, Context& context, const CUDA_RESOURCE_DESC& resource,
                           const CUDA_TEXTURE_DESC& sampling, const CUDA_RESOURCE_VIEW_DESC* view);
CUsurfObject create_surface(const MemoryServices& services, Context& context, const CUDA_RESOURCE_DESC& resource);

// Throw CUDA_ERROR_INVALID_VALUE.
std::shared_ptr<const TextureObject> find_texture(CUtexObject handle);
std::shared_ptr<const SurfaceObject> find_surface(CUsurfObject handle);
void destroy_texture(CUtexObject handle);
void destroy_surface(CUsurfObject handle);

// All of a context.
void destroy_texture_objects(const Context& context);

}  // namespace softgpu::runtime
