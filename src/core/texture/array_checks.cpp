#include <algorithm>
#include <array>
#include <bit>
#include <cuprum/error.hpp>
#include <limits>

#include "core/texture/checks.hpp"
#include "support/enumeration.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using detail::Access;
using support::join;
using support::text;
using texture::ArrayFormatType;

namespace {

struct Format {
  ArrayFormatType format;
  CUarray_format in_driver;
  std::size_t bytes;
};

// In the order of ArrayFormatType.
constexpr Format formats[] = {
    {ArrayFormatType::uint8, CU_AD_FORMAT_UNSIGNED_INT8, 1},
    {ArrayFormatType::uint16, CU_AD_FORMAT_UNSIGNED_INT16, 2},
    {ArrayFormatType::uint32, CU_AD_FORMAT_UNSIGNED_INT32, 4},
    {ArrayFormatType::int8, CU_AD_FORMAT_SIGNED_INT8, 1},
    {ArrayFormatType::int16, CU_AD_FORMAT_SIGNED_INT16, 2},
    {ArrayFormatType::int32, CU_AD_FORMAT_SIGNED_INT32, 4},
    {ArrayFormatType::float16, CU_AD_FORMAT_HALF, 2},
    {ArrayFormatType::float32, CU_AD_FORMAT_FLOAT, 4},
};

const Format& entry(ArrayFormatType format) {
  if (const Format* known = support::entry_of(formats, format)) return *known;
  throw InvalidArgument(text("the format of an array is ", format));
}

/// The largest extent of an axis: a property of devices.
struct Limit {
  const char* name = nullptr;  ///< null: there is no such axis
  int (*of)(const DeviceProperties&) = nullptr;
};
using Limits = std::array<Limit, 3>;

#define LIMIT(name)                                                             \
  Limit {                                                                       \
    #name, [](const DeviceProperties& properties) { return properties.name(); } \
  }
constexpr Limits lines{LIMIT(maximum_texture1d_width)};
constexpr Limits planes{LIMIT(maximum_texture2d_width), LIMIT(maximum_texture2d_height)};
constexpr Limits volumes{LIMIT(maximum_texture3d_width), LIMIT(maximum_texture3d_height),
                         LIMIT(maximum_texture3d_depth)};
constexpr Limits deep_volumes{LIMIT(maximum_texture3d_width_alternate), LIMIT(maximum_texture3d_height_alternate),
                              LIMIT(maximum_texture3d_depth_alternate)};
constexpr Limits mipmapped_lines{LIMIT(maximum_texture1d_mipmapped_width)};
constexpr Limits mipmapped_planes{LIMIT(maximum_texture2d_mipmapped_width), LIMIT(maximum_texture2d_mipmapped_height)};
constexpr Limits surface_lines{LIMIT(maximum_surface1d_width)};
constexpr Limits surface_planes{LIMIT(maximum_surface2d_width), LIMIT(maximum_surface2d_height)};
constexpr Limits surface_volumes{LIMIT(maximum_surface3d_width), LIMIT(maximum_surface3d_height),
                                 LIMIT(maximum_surface3d_depth)};
#undef LIMIT

constexpr std::array texture_limits = {lines, planes, volumes};
constexpr std::array mipmapped_limits = {mipmapped_lines, mipmapped_planes, volumes};
constexpr std::array surface_limits = {surface_lines, surface_planes, surface_volumes};

using Shape = std::vector<std::size_t>;

/// What a driver does not tell is left to it.
bool fits(const DeviceProperties& properties, const Limits& limits, const Shape& shape) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const int most = limits[axis].of(properties);
    if (most > 0 && shape[axis] > static_cast<std::size_t>(most)) return false;
  }
  return true;
}

std::string in_words(const DeviceProperties& properties, const Limits& limits) {
  std::vector<std::string> parts;
  for (const Limit& limit : limits)
    if (limit.name) parts.push_back(text(limit.of(properties), " (", limit.name, ")"));
  return join(parts, " x ");
}

void check_limits(std::string_view what, int device, const Shape& shape, bool is_mipmapped, bool is_surface) {
  const DeviceProperties properties = Access::device(device).properties();
  const std::size_t kind = shape.size() - 1;
  const Limits& limits = (is_mipmapped ? mipmapped_limits : texture_limits)[kind];
  const bool has_room = fits(properties, limits, shape) || (kind == 2 && fits(properties, deep_volumes, shape));
  const auto refuse = [&](const Limits& broken, const char* of_what) {
    throw InvalidArgument(text(what, ": it is too large; ", of_what, " of device ", device, " have at most ",
                               in_words(properties, broken), " texels"));
  };
  if (!has_room) refuse(limits, is_mipmapped ? "mipmapped textures" : "textures");
  if (is_surface && !fits(properties, surface_limits[kind], shape)) refuse(surface_limits[kind], "surfaces");
}

void check_shape(std::string_view what, const Shape& shape, std::size_t element_bytes) {
  if (shape.empty() || shape.size() > 3) {
    throw InvalidArgument(
        text(what, ": a shape is {width}, {width, height} or {width, height, depth}, not ", shape.size(), " extents"));
  }
  std::size_t room = std::numeric_limits<std::size_t>::max() / element_bytes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) throw InvalidArgument(text(what, ": extent ", axis, " of the shape must be at least 1"));
    room /= shape[axis];
  }
  if (room == 0) throw InvalidArgument(text(what, ": so many texels have no place in any memory"));
}

}  // namespace

std::size_t bytes_of(ArrayFormatType format) { return entry(format).bytes; }

bool is_integer(ArrayFormatType format) {
  return format != ArrayFormatType::float16 && format != ArrayFormatType::float32;
}

CUarray_format cu_format(ArrayFormatType format) { return entry(format).in_driver; }

void check_format(std::string_view what, ArrayFormatType format, int num_channels) {
  if (static_cast<std::size_t>(format) >= std::size(formats))
    throw InvalidArgument(text(what, ": the format is ", format, ", which is no ArrayFormatType"));
  if (num_channels != 1 && num_channels != 2 && num_channels != 4)
    throw InvalidArgument(text(what, ": num_channels must be 1, 2 or 4, and is ", num_channels));
}

void check_array(std::string_view what, int device, const texture::OpaqueArrayOptions& options) {
  check_format(what, options.format, options.num_channels);
  check_shape(what, options.shape, bytes_of(options.format) * static_cast<std::size_t>(options.num_channels));
  check_limits(what, device, options.shape, false, options.is_surface_load_store);
}

void check_array(std::string_view what, int device, const texture::MipmappedArrayOptions& options) {
  check_format(what, options.format, options.num_channels);
  check_shape(what, options.shape, bytes_of(options.format) * static_cast<std::size_t>(options.num_channels));
  if (options.num_levels < 1)
    throw InvalidArgument(text(what, ": num_levels must be at least 1, and is ", options.num_levels));
  check_limits(what, device, options.shape, true, options.is_surface_load_store);
}

int levels_of(const texture::MipmappedArrayOptions& options) {
  const std::size_t longest = *std::max_element(options.shape.begin(), options.shape.end());
  return std::min(options.num_levels, static_cast<int>(std::bit_width(longest)));
}

std::size_t ArrayFacts::element_bytes() const { return bytes_of(format) * static_cast<std::size_t>(num_channels); }

CUDA_ARRAY3D_DESCRIPTOR cu_descriptor(const ArrayFacts& facts) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  descriptor.Width = facts.shape[0];
  descriptor.Height = facts.shape.size() > 1 ? facts.shape[1] : 0;
  descriptor.Depth = facts.shape.size() > 2 ? facts.shape[2] : 0;
  descriptor.Format = cu_format(facts.format);
  descriptor.NumChannels = static_cast<unsigned>(facts.num_channels);
  descriptor.Flags = facts.is_surface_load_store ? CUDA_ARRAY3D_SURFACE_LDST : 0;
  return descriptor;
}

ArrayFacts facts_from(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  const auto found = std::find_if(std::begin(formats), std::end(formats),
                                  [&](const Format& format) { return format.in_driver == descriptor.Format; });
  if (found == std::end(formats)) {
    throw NotSupported(text("an array of format ", static_cast<int>(descriptor.Format),
                            " (CUarray_format of <cuda.h>) can't be wrapped: those with 8, 16 and 32 bits, half and "
                            "float can"));
  }
  std::vector<std::size_t> shape{descriptor.Width};
  if (descriptor.Height != 0 || descriptor.Depth != 0) shape.push_back(std::max<std::size_t>(descriptor.Height, 1));
  if (descriptor.Depth != 0) shape.push_back(descriptor.Depth);
  return {.shape = std::move(shape),
          .format = found->format,
          .num_channels = static_cast<int>(descriptor.NumChannels),
          .is_surface_load_store = (descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0,
          .is_cubemap = (descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0};
}

std::string in_words(const ArrayFacts& facts) {
  return text(join(facts.shape, " x "), " texels of ", facts.num_channels, " x ", facts.format);
}

}  // namespace cuprum::core
