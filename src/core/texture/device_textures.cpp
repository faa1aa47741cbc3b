#include <cuprum/device.hpp>
#include <cuprum/texture.hpp>

#include "core/texture/checks.hpp"
#include "core/texture/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextChoice;
using core::ContextGuard;
using detail::Access;
using support::join;
using support::text;

namespace {

// What an array shows belongs to the context that the array is of, whichever is current.
ContextChoice context_for(int device, const texture::ResourceDescriptor& resource) {
  if (resource.array()) return resource.array()->context;
  if (resource.mipmapped_array()) return resource.mipmapped_array()->context;
  return ContextChoice::current_of(device);
}

}  // namespace

texture::OpaqueArray Device::create_opaque_array(const texture::OpaqueArrayOptions& options) const {
  core::check_array(text("creating an array of ", join(options.shape, " x "), " texels"), device_id_, options);
  ContextGuard guard(ContextChoice::current_of(device_id_));
  return Access::make<texture::OpaqueArray, detail::ArrayResource>(guard.context(), options);
}

texture::MipmappedArray Device::create_mipmapped_array(const texture::MipmappedArrayOptions& options) const {
  core::check_array(text("creating a mipmapped array of ", join(options.shape, " x "), " texels"), device_id_, options);
  ContextGuard guard(ContextChoice::current_of(device_id_));
  return Access::make<texture::MipmappedArray, detail::MipmappedArrayResource>(guard.context(), options);
}

texture::TextureObject Device::create_texture_object(const texture::ResourceDescriptor& resource) const {
  return create_texture_object(resource, {});
}

texture::TextureObject Device::create_texture_object(const texture::ResourceDescriptor& resource,
                                                     const texture::TextureObjectOptions& options) const {
  core::check_texture(device_id_, resource, options);
  ContextGuard guard(context_for(device_id_, resource));
  return Access::make<texture::TextureObject, detail::TextureResource>(guard.context(), resource, options);
}

texture::SurfaceObject Device::create_surface_object(const texture::ResourceDescriptor& resource) const {
  core::check_surface(device_id_, resource);
  ContextGuard guard(context_for(device_id_, resource));
  return Access::make<texture::SurfaceObject, detail::SurfaceResource>(guard.context(), resource);
}

}  // namespace cuprum::inline CUPRUM_ABI
