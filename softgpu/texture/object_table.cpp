#include "softgpu/texture/object_table.hpp"

#include "softgpu/texture/surface.hpp"
#include "softgpu/texture/texture.hpp"

namespace softgpu::texture {

ObjectTable<Texture>& textures() {
  static auto& table = *new ObjectTable<Texture>();
  return table;
}

ObjectTable<Surface>& surfaces() {
  static auto& table = *new ObjectTable<Surface>();
  return table;
}

}  // namespace softgpu::texture
