#include <cuprum/error.hpp>
#include <cuprum/texture/resource_descriptor.hpp>
#include <ostream>

#include "core/memory/buffer_resource.hpp"
#include "core/texture/checks.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::texture {

using cuprum::detail::Access;
using support::text;

ResourceDescriptor ResourceDescriptor::from_opaque_array(const OpaqueArray& array) {
  ResourceDescriptor resource(ResourceKind::array, array);
  resource.array_ = Access::keep(array);
  return resource;
}

ResourceDescriptor ResourceDescriptor::from_mipmapped_array(const MipmappedArray& mipmapped_array) {
  ResourceDescriptor resource(ResourceKind::mipmapped_array, mipmapped_array);
  resource.mipmapped_ = Access::keep(mipmapped_array);
  return resource;
}

ResourceDescriptor ResourceDescriptor::from_linear(const Buffer& buffer, const LinearOptions& options) {
  constexpr std::string_view what = "texels in linear memory";
  ResourceDescriptor resource(ResourceKind::linear, buffer);
  resource.memory_ = Access::keep(buffer);
  core::check_format(what, options.format, options.num_channels);
  const std::size_t element = core::bytes_of(options.format) * static_cast<std::size_t>(options.num_channels);
  const std::size_t room = resource.memory_->size;
  const std::size_t size = options.size_bytes.value_or(room);
  if (size > room) throw InvalidArgument(text(what, ": size_bytes is ", size, ", and the buffer has ", room));
  if (size < element || size % element != 0) {
    throw InvalidArgument(text(what, ": ", size, " bytes are no whole number of texels of ", element, " bytes (",
                               options.num_channels, " x ", options.format, "), or none"));
  }
  resource.format_ = options.format;
  resource.num_channels_ = options.num_channels;
  resource.size_bytes_ = size;
  return resource;
}

ResourceDescriptor ResourceDescriptor::from_pitch2d(const Buffer& buffer, const Pitch2DOptions& options) {
  constexpr std::string_view what = "rows of texels in memory";
  ResourceDescriptor resource(ResourceKind::pitch2d, buffer);
  resource.memory_ = Access::keep(buffer);
  core::check_format(what, options.format, options.num_channels);
  if (options.width == 0 || options.height == 0) {
    throw InvalidArgument(
        text(what, ": the width is ", options.width, " and the height ", options.height, "; both must be at least 1"));
  }
  const std::size_t element = core::bytes_of(options.format) * static_cast<std::size_t>(options.num_channels);
  if (options.pitch_bytes / element < options.width) {
    throw InvalidArgument(text(what, ": pitch_bytes is ", options.pitch_bytes, ", and a row of ", options.width,
                               " texels of ", element, " bytes is longer"));
  }
  const std::size_t room = resource.memory_->size;
  if (room / options.pitch_bytes < options.height) {
    throw InvalidArgument(
        text(what, ": ", options.height, " rows of ", options.pitch_bytes, " bytes are more than the buffer's ", room));
  }
  resource.format_ = options.format;
  resource.num_channels_ = options.num_channels;
  resource.width_ = options.width;
  resource.height_ = options.height;
  resource.pitch_bytes_ = options.pitch_bytes;
  return resource;
}

std::ostream& operator<<(std::ostream& out, const ResourceDescriptor& resource) {
  if (resource.kind() == ResourceKind::linear) {
    out << *resource.size_bytes() << " bytes of " << *resource.num_channels() << " x " << *resource.format() << " in ";
  } else if (resource.kind() == ResourceKind::pitch2d) {
    out << *resource.width() << " x " << *resource.height() << " texels of " << *resource.num_channels() << " x "
        << *resource.format() << " in ";
  }
  std::visit([&](const auto& source) { out << source; }, resource.source());
  return out;
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
