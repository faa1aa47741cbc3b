// The functions of abi/runtime_calls.def that read textures and access surfaces.
#pragma once

#include <cstdint>

extern "C" {

void softgpu_rt_texture_sample(void* result, std::uint64_t handle, std::uint32_t geometry, std::uint32_t layer, float x,
                               float y, float z, float level);
void softgpu_rt_texture_gradient(void* result, std::uint64_t handle, std::uint32_t geometry, std::uint32_t layer,
                                 float x, float y, float z, float right_x, float right_y, float right_z, float down_x,
                                 float down_y, float down_z);
void softgpu_rt_texture_fetch(void* result, std::uint64_t handle, std::uint32_t geometry, std::uint32_t layer,
                              std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t level);
void softgpu_rt_texture_gather(void* result, std::uint64_t handle, std::uint32_t channel, std::uint32_t layer, float x,
                               float y);
std::uint32_t softgpu_rt_texture_query(std::uint64_t handle, std::uint32_t query, std::uint32_t level);
std::uint32_t softgpu_rt_surface_query(std::uint64_t handle, std::uint32_t query);
void softgpu_rt_surface_load(void* result, std::uint64_t handle, std::uint32_t access, std::uint32_t layer,
                             std::uint32_t x, std::uint32_t y, std::uint32_t z);
void softgpu_rt_surface_store(std::uint64_t low, std::uint64_t high, std::uint64_t handle, std::uint32_t access,
                              std::uint32_t layer, std::uint32_t x, std::uint32_t y, std::uint32_t z);
}
