// The Python objects of arrays, textures and surfaces. What an object says of itself it says also when it is closed, as
// in cuda.core.
#pragma once

#include <cuprum/texture.hpp>
#include <optional>

#include "bindings/common.hpp"

namespace cuprum::python {

struct PythonArray {
  texture::OpaqueArray array;
  texture::OpaqueArrayOptions facts;
  Device device;
};

struct PythonMipmappedArray {
  texture::MipmappedArray array;
  texture::MipmappedArrayOptions facts;
  Device device;
};

struct PythonResource {
  texture::ResourceDescriptor descriptor;
  nb::object source;
};

struct PythonTexture {
  texture::TextureObject texture;
  Device device;
  nb::object resource;  ///< None when it is closed
  nb::object options;
};

struct PythonSurface {
  texture::SurfaceObject surface;
  Device device;
  nb::object resource;  ///< None when it is closed
};

PythonArray python_array(texture::OpaqueArray array);

/// Of a member of ArrayFormatType in cuprum.typing, and back.
texture::ArrayFormatType array_format_from(nb::handle member);
nb::object array_format_object(texture::ArrayFormatType format);
/// "UINT8".
std::string array_format_name(texture::ArrayFormatType format);

/// A function or class of cuprum._texture_options.
nb::object of_texture_options(const char* name);

/// For Device.create_…, whose arguments were not looked at yet.
PythonArray create_opaque_array(const Device& device, nb::handle options);
PythonMipmappedArray create_mipmapped_array(const Device& device, nb::handle options);
PythonTexture create_texture_object(const Device& device, nb::handle resource, nb::handle options);
PythonSurface create_surface_object(const Device& device, nb::handle resource);

/// The descriptor of a ResourceDescriptor. TypeError for what else.
const texture::ResourceDescriptor& resource_from(nb::handle object);

}  // namespace cuprum::python
