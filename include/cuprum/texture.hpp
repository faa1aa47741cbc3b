// Arrays of texels, textures and surfaces. All of include/cuprum/texture.
#pragma once

#include <cuprum/texture/enums.hpp>
#include <cuprum/texture/mipmapped_array.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <cuprum/texture/resource_descriptor.hpp>
#include <cuprum/texture/surface_object.hpp>
#include <cuprum/texture/texture_object.hpp>
