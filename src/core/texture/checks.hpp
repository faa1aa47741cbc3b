// What is looked at before the driver is asked for an array, a texture or a surface: it would only say "invalid value".
#pragma once

#include <cuprum/texture.hpp>
#include <string_view>

#include "core/base/context.hpp"
#include "core/texture/resources.hpp"

namespace cuprum::core {

// All throw InvalidArgument that begins with `what`, which says what was asked for.

void check_format(std::string_view what, texture::ArrayFormatType format, int num_channels);

void check_array(std::string_view what, int device, const texture::OpaqueArrayOptions& options);
void check_array(std::string_view what, int device, const texture::MipmappedArrayOptions& options);

/// How many levels it gets: as many as are asked for, but none after one that is a single texel, as drivers have it.
int levels_of(const texture::MipmappedArrayOptions& options);

void check_texture(int device, const texture::ResourceDescriptor& resource,
                   const texture::TextureObjectOptions& options);
void check_surface(int device, const texture::ResourceDescriptor& resource);

/// Of a channel.
std::size_t bytes_of(texture::ArrayFormatType format);
bool is_integer(texture::ArrayFormatType format);

CUarray_format cu_format(texture::ArrayFormatType format);

}  // namespace cuprum::core
