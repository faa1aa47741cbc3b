#include <cuprum/error.hpp>

#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/texture/checks.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using detail::Access;
using support::text;
using texture::AddressModeType;
using texture::ArrayFormatType;
using texture::FilterModeType;
using texture::ReadModeType;
using texture::ResourceDescriptor;
using texture::ResourceKind;
using texture::TextureObjectOptions;

namespace {

ArrayFormatType format_of(const ResourceDescriptor& resource) {
  if (resource.array()) return resource.array()->facts.format;
  if (resource.mipmapped_array()) return resource.mipmapped_array()->facts.format;
  return *resource.format();
}

const ContextRecord* context_of_array(const ResourceDescriptor& resource) {
  if (resource.array()) return &resource.array()->context;
  if (resource.mipmapped_array()) return &resource.mipmapped_array()->context;
  return nullptr;
}

void check_device(std::string_view what, int device, const ResourceDescriptor& resource) {
  const ContextRecord* context = context_of_array(resource);
  if (!context || context->device == device) return;
  throw InvalidArgument(text(what, " on device ", device, ": the array is one of device ", context->device,
                             "; call the function of that device"));
}

/// A size against the most that a device has, where it tells.
void check_most(std::string_view what, std::string_view name, std::size_t size, int most, const char* property) {
  if (most <= 0 || size <= static_cast<std::size_t>(most)) return;
  throw InvalidArgument(
      text(what, ": ", name, " is ", size, ", and the device has at most ", most, " (", property, ")"));
}

void check_alignment(std::string_view what, std::string_view name, std::size_t value, int alignment,
                     const char* property) {
  if (alignment <= 1 || value % static_cast<std::size_t>(alignment) == 0) return;
  throw InvalidArgument(text(what, ": ", name, " must be a multiple of ", alignment, " bytes (", property, ")"));
}

void check_memory(std::string_view what, int device, const ResourceDescriptor& resource) {
  const detail::BufferResource& memory = *resource.memory();
  if (!memory.facts().is_device_accessible)
    throw InvalidArgument(text(what, ": kernels can't access the buffer; copy it to one of the device"));
  const DeviceProperties properties = Access::device(device).properties();
  check_alignment(what, "the address of the buffer", memory.pointer, properties.texture_alignment(),
                  "texture_alignment");
  if (resource.kind() == ResourceKind::linear) {
    const std::size_t element = bytes_of(*resource.format()) * static_cast<std::size_t>(*resource.num_channels());
    return check_most(what, "the number of texels", *resource.size_bytes() / element,
                      properties.maximum_texture1d_linear_width(), "maximum_texture1d_linear_width");
  }
  check_alignment(what, "pitch_bytes", *resource.pitch_bytes(), properties.texture_pitch_alignment(),
                  "texture_pitch_alignment");
  check_most(what, "width", *resource.width(), properties.maximum_texture2d_linear_width(),
             "maximum_texture2d_linear_width");
  check_most(what, "height", *resource.height(), properties.maximum_texture2d_linear_height(),
             "maximum_texture2d_linear_height");
  check_most(what, "pitch_bytes", *resource.pitch_bytes(), properties.maximum_texture2d_linear_pitch(),
             "maximum_texture2d_linear_pitch");
}

/// Only floats are blended: of integers, what the read mode or sRGB makes floats of. Drivers take the rest without a
/// word, and don't filter.
void check_filters(std::string_view what, ArrayFormatType format, const TextureObjectOptions& options,
                   bool is_mipmapped) {
  const bool reads_floats = !is_integer(format) || options.srgb ||
                            (options.read_mode == ReadModeType::normalized_float && bytes_of(format) < 4);
  if (reads_floats) return;
  const auto check = [&](const char* name, FilterModeType mode) {
    if (mode != FilterModeType::linear) return;
    throw InvalidArgument(text(
        what, ": ", name, " is linear, but ", format, " is read as integers, which can't be blended: use ",
        bytes_of(format) < 4 ? "ReadModeType::normalized_float, " : "", "FilterModeType::point or a format of floats"));
  };
  check("filter_mode", options.filter_mode);
  if (is_mipmapped) check("mipmap_filter_mode", options.mipmap_filter_mode);
}

void check_reading(std::string_view what, ArrayFormatType format, const TextureObjectOptions& options) {
  if (options.read_mode == ReadModeType::normalized_float && is_integer(format) && bytes_of(format) == 4) {
    throw InvalidArgument(text(what, ": read_mode is normalized_float, but ", format,
                               " can't be: only integers of 8 and 16 bits are read as floats"));
  }
  if (options.srgb && format != ArrayFormatType::uint8)
    throw InvalidArgument(text(what, ": srgb is for uint8, and the format is ", format));
}

void check_cubemap(std::string_view what, const ResourceDescriptor& resource, const TextureObjectOptions& options) {
  if (!options.seamless_cubemap || (resource.array() && resource.array()->facts.is_cubemap)) return;
  throw InvalidArgument(text(what, ": seamless_cubemap is for cubemaps, and this is none"));
}

/// Of an enumeration whose members are numbered without gaps.
template <typename Enumeration>
void check_mode(std::string_view what, std::string_view name, Enumeration value, Enumeration last,
                const char* enumeration) {
  if (static_cast<unsigned>(value) <= static_cast<unsigned>(last)) return;
  throw InvalidArgument(text(what, ": ", name, " is ", value, ", which is no ", enumeration));
}

void check_modes(std::string_view what, const TextureObjectOptions& options) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    check_mode(what, "address_mode", options.address_mode[axis], AddressModeType::border, "AddressModeType");
  check_mode(what, "filter_mode", options.filter_mode, FilterModeType::linear, "FilterModeType");
  check_mode(what, "mipmap_filter_mode", options.mipmap_filter_mode, FilterModeType::linear, "FilterModeType");
  check_mode(what, "read_mode", options.read_mode, ReadModeType::normalized_float, "ReadModeType");
}

/// One that was moved from says what it was, and has nothing.
void check_is_there(const ResourceDescriptor& resource) {
  if (!resource.array() && !resource.mipmapped_array() && !resource.memory()) refuse_empty("resource descriptor");
}

}  // namespace

void check_texture(int device, const ResourceDescriptor& resource, const TextureObjectOptions& options) {
  constexpr std::string_view what = "creating a texture";
  check_is_there(resource);
  check_modes(what, options);
  check_device(what, device, resource);
  if (resource.memory()) check_memory(what, device, resource);
  const ArrayFormatType format = format_of(resource);
  const bool is_mipmapped = resource.kind() == ResourceKind::mipmapped_array;
  check_reading(what, format, options);
  if (resource.kind() != ResourceKind::linear) check_filters(what, format, options, is_mipmapped);
  check_cubemap(what, resource, options);
  if (is_mipmapped && !options.normalized_coords)
    throw InvalidArgument(text(what, ": a mipmapped array needs normalized_coords"));
}

void check_surface(int device, const ResourceDescriptor& resource) {
  constexpr std::string_view what = "creating a surface";
  check_is_there(resource);
  if (resource.kind() == ResourceKind::mipmapped_array)
    throw InvalidArgument(text(what, ": a surface shows one level of a mipmapped array: use get_level()"));
  if (resource.kind() != ResourceKind::array)
    throw InvalidArgument(text(what, ": it is made of an OpaqueArray; kernels write buffers by their address"));
  check_device(what, device, resource);
  if (!resource.array()->facts.is_surface_load_store)
    throw InvalidArgument(text(what, ": the array must be created with is_surface_load_store = true"));
}

}  // namespace cuprum::core
