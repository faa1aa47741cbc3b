#include "softgpu/exec/texture_calls.hpp"

#include <cstring>

#include "softgpu/exec/fault.hpp"
#include "softgpu/texture/object_table.hpp"
#include "softgpu/texture/surface.hpp"
#include "softgpu/texture/texture.hpp"

namespace softgpu::exec {
namespace {

using abi::Geometry;
using texture::Surface;
using texture::Texture;
using texture::Words;

[[noreturn]] void leave(Outcome outcome, const char* problem, std::uint64_t handle) {
  end_kernel(outcome, "%s (0x%llx)", problem, static_cast<unsigned long long>(handle));
}

const Texture& texture_of(std::uint64_t handle) {
  static const auto& table = texture::textures();
  const Texture* found = table[handle];
  if (found == nullptr) leave(Outcome::illegal_address, "not a texture object, or one that was destroyed", handle);
  return *found;
}

const Surface& surface_of(std::uint64_t handle) {
  static const auto& table = texture::surfaces();
  const Surface* found = table[handle];
  if (found == nullptr) leave(Outcome::illegal_address, "not a surface object, or one that was destroyed", handle);
  return *found;
}

void put(void* result, const Words& words) { std::memcpy(result, words.data(), sizeof words); }

// Null where there is nothing to access.
std::byte* place_of(std::uint64_t handle, const abi::SurfaceAccess& access, const texture::SurfacePosition& at) {
  const auto [status, memory] = texture::locate(surface_of(handle), access, at);
  if (status == texture::SurfaceStatus::misaligned)
    leave(Outcome::misaligned_address, "an access to a surface whose x is not a multiple of its size", handle);
  if (status == texture::SurfaceStatus::out_of_bounds)
    leave(Outcome::illegal_address, "an access outside its surface", handle);
  return memory;
}

texture::SurfacePosition position(std::uint32_t layer, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z), layer};
}

}  // namespace
}  // namespace softgpu::exec

using namespace softgpu;
using namespace softgpu::exec;

void softgpu_rt_texture_sample(void* result, std::uint64_t handle, std::uint32_t geometry, std::uint32_t layer, float x,
                               float y, float z, float level) {
  put(result, texture::sample(texture_of(handle), static_cast<Geometry>(geometry), {x, y, z, layer}, level));
}

void softgpu_rt_texture_gradient(void* result, std::uint64_t handle, std::uint32_t geometry, std::uint32_t layer,
                                 float x, float y, float z, float right_x, float right_y, float right_z, float down_x,
                                 float down_y, float down_z) {
  const texture::Gradients gradients{{right_x, right_y, right_z}, {down_x, down_y, down_z}};
  put(result, texture::sample(texture_of(handle), static_cast<Geometry>(geometry), {x, y, z, layer}, gradients));
}

void softgpu_rt_texture_fetch(void* result, std::uint64_t handle, std::uint32_t geometry, std::uint32_t layer,
                              std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t level) {
  const texture::TexelIndex at{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z),
                               layer};
  put(result,
      texture::fetch(texture_of(handle), static_cast<Geometry>(geometry), at, static_cast<std::int32_t>(level)));
}

void softgpu_rt_texture_gather(void* result, std::uint64_t handle, std::uint32_t channel, std::uint32_t layer, float x,
                               float y) {
  put(result, texture::gather(texture_of(handle), {x, y, 0, layer}, channel));
}

std::uint32_t softgpu_rt_texture_query(std::uint64_t handle, std::uint32_t query, std::uint32_t level) {
  const Texture& found = texture_of(handle);
  const auto what = static_cast<abi::ImageQuery>(query);
  if (what == abi::ImageQuery::normalized_coordinates) return found.sampler.normalized_coordinates ? 1 : 0;
  return texture::query(found.image, what, level);
}

std::uint32_t softgpu_rt_surface_query(std::uint64_t handle, std::uint32_t query) {
  return texture::query(surface_of(handle).image, static_cast<abi::ImageQuery>(query), 0);
}

void softgpu_rt_surface_load(void* result, std::uint64_t handle, std::uint32_t access, std::uint32_t layer,
                             std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  const auto what = abi::SurfaceAccess::unpacked(access);
  const std::byte* memory = place_of(handle, what, position(layer, x, y, z));
  if (memory != nullptr)
    std::memcpy(result, memory, what.bytes);
  else
    std::memset(result, 0, what.bytes);
}

void softgpu_rt_surface_store(std::uint64_t low, std::uint64_t high, std::uint64_t handle, std::uint32_t access,
                              std::uint32_t layer, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  const auto what = abi::SurfaceAccess::unpacked(access);
  const std::uint64_t words[] = {low, high};
  std::byte* memory = place_of(handle, what, position(layer, x, y, z));
  if (memory != nullptr) std::memcpy(memory, words, what.bytes);
}
