#include <cuprum/texture/texture_object.hpp>
#include <ostream>

#include "core/base/same_object.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/texture/checks.hpp"
#include "core/texture/resource_desc.hpp"
#include "support/enumeration.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using texture::FilterModeType;
using texture::ResourceDescriptor;
using texture::ResourceKind;
using texture::TextureObjectOptions;

CUDA_RESOURCE_DESC cu_resource(const ResourceDescriptor& resource) {
  CUDA_RESOURCE_DESC description{};
  if (resource.kind() == ResourceKind::array) {
    description.resType = CU_RESOURCE_TYPE_ARRAY;
    description.res.array.hArray = resource.array()->handle;
  } else if (resource.kind() == ResourceKind::mipmapped_array) {
    description.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    description.res.mipmap.hMipmappedArray = resource.mipmapped_array()->handle;
  } else if (resource.kind() == ResourceKind::linear) {
    description.resType = CU_RESOURCE_TYPE_LINEAR;
    auto& linear = description.res.linear;
    linear.devPtr = resource.memory()->pointer;
    linear.format = cu_format(*resource.format());
    linear.numChannels = static_cast<unsigned>(*resource.num_channels());
    linear.sizeInBytes = *resource.size_bytes();
  } else {
    description.resType = CU_RESOURCE_TYPE_PITCH2D;
    auto& rows = description.res.pitch2D;
    rows.devPtr = resource.memory()->pointer;
    rows.format = cu_format(*resource.format());
    rows.numChannels = static_cast<unsigned>(*resource.num_channels());
    rows.width = *resource.width();
    rows.height = *resource.height();
    rows.pitchInBytes = *resource.pitch_bytes();
  }
  return description;
}

namespace {

CUaddress_mode cu_mode(texture::AddressModeType mode) {
  constexpr CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR,
                                      CU_TR_ADDRESS_MODE_BORDER};
  if (const CUaddress_mode* known = support::entry_of(modes, mode)) return *known;
  throw InvalidArgument(support::text("an address mode of a texture is ", mode));
}

CUfilter_mode cu_mode(FilterModeType mode) {
  return mode == FilterModeType::linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
}

unsigned cu_flags(const TextureObjectOptions& options) {
  unsigned flags = 0;
  if (options.read_mode == texture::ReadModeType::element_type) flags |= CU_TRSF_READ_AS_INTEGER;
  if (options.normalized_coords) flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (options.srgb) flags |= CU_TRSF_SRGB;
  if (options.disable_trilinear_optimization) flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (options.seamless_cubemap) flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  return flags;
}

CUDA_TEXTURE_DESC cu_sampling(const TextureObjectOptions& options) {
  CUDA_TEXTURE_DESC sampling{};
  for (std::size_t axis = 0; axis < 3; ++axis) sampling.addressMode[axis] = cu_mode(options.address_mode[axis]);
  sampling.filterMode = cu_mode(options.filter_mode);
  sampling.flags = cu_flags(options);
  sampling.maxAnisotropy = options.max_anisotropy;
  sampling.mipmapFilterMode = cu_mode(options.mipmap_filter_mode);
  sampling.mipmapLevelBias = options.mipmap_level_bias;
  sampling.minMipmapLevelClamp = options.min_mipmap_level_clamp;
  sampling.maxMipmapLevelClamp = options.max_mipmap_level_clamp;
  for (std::size_t channel = 0; channel < 4; ++channel) sampling.borderColor[channel] = options.border_color[channel];
  return sampling;
}

CUtexObject create_texture(const ContextRecord& context, const ResourceDescriptor& resource,
                           const TextureObjectOptions& options) {
  const CUDA_RESOURCE_DESC description = cu_resource(resource);
  const CUDA_TEXTURE_DESC sampling = cu_sampling(options);
  CUtexObject handle = 0;
  const auto doing = [&] { return support::text("creating a texture of ", resource, " on device ", context.device); };
  driver::call<&driver::Api::cuTexObjectCreate>(driver::Doing{doing}, &handle, &description, &sampling,
                                                static_cast<const CUDA_RESOURCE_VIEW_DESC*>(nullptr));
  return handle;
}

}  // namespace
}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

TextureResource::TextureResource(const core::ContextRecord& the_context,
                                 const texture::ResourceDescriptor& the_resource,
                                 const texture::TextureObjectOptions& the_options)
    : context(the_context),
      resource(the_resource),
      options(the_options),
      handle(core::create_texture(the_context, the_resource, the_options)),
      parent_(the_context.owner.lock()) {}

TextureResource::~TextureResource() { core::release_inside<&driver::Api::cuTexObjectDestroy>(context, handle); }

Kept<BufferResource> keep_as_memory(const texture::TextureObject& texture) { return core::as_memory(texture); }

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI::texture {

using cuprum::detail::Access;
using cuprum::detail::Kept;
using cuprum::detail::TextureResource;

std::uint64_t TextureObject::handle() const noexcept { return Access::number(*this); }

ResourceDescriptor TextureObject::resource() const { return Access::keep(*this)->resource; }

TextureObjectOptions TextureObject::options() const { return Access::keep(*this)->options; }

Device TextureObject::device() const { return Access::device(Access::keep(*this)->context.device); }

Context TextureObject::context() const { return core::context_handle(Access::keep(*this)->context); }

void TextureObject::close() { Access::close(*this); }

void TextureObject::refuse() const { Access::refuse(*this); }

std::uint64_t TextureObject::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const TextureObject& a, const TextureObject& b) noexcept {
  return core::are_same(a.shared_.get(), b.shared_.get());
}

std::ostream& operator<<(std::ostream& out, const TextureObject& texture) {
  const Kept<TextureResource> resource = Access::try_keep(texture);
  if (!resource) return out << Access::state_in_words(texture);
  return out << "texture " << reinterpret_cast<void*>(resource->handle) << " on device " << resource->context.device;
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
