// CUDA arrays: memory for textures and surfaces, of a layout that is the driver's own affair. Here it is plain rows.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "softgpu/texture/image.hpp"

namespace softgpu::runtime {

class Context;
class ExternalMemory;
struct MemoryServices;

class Array {
 public:
  // Throws CUDA_ERROR_INVALID_VALUE, _NOT_SUPPORTED or _OUT_OF_MEMORY.
  static std::shared_ptr<Array> create(MemoryServices& services, Context& context,
                                       const CUDA_ARRAY3D_DESCRIPTOR& descriptor);
  // A level of detail of a mipmapped array, which has the memory.
  Array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, const texture::Image& image, bool is_level)
      : context_(context), descriptor_(descriptor), image_(image), is_level_(is_level) {}

  Context& context() const { return context_; }
  const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const { return descriptor_; }
  const texture::Image& image() const { return image_; }
  bool is_level() const { return is_level_; }
  std::byte* memory() const { return image_.levels[0].base; }

 private:
  Context& context_;
  const CUDA_ARRAY3D_DESCRIPTOR descriptor_;
  const texture::Image image_;
  const bool is_level_;
};

class MipmappedArray {
 public:
  // At least one level, and at most as many as there are down to a single texel, whatever is asked for.
  static std::shared_ptr<MipmappedArray> create(MemoryServices& services, Context& context,
                                                const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels);
  // In external memory: plain rows without gaps, slices and layers behind each other, each level at the next multiple
  // of 512 bytes from the first one's beginning. Throws CUDA_ERROR_INVALID_VALUE for a part that is not in it.
  static std::shared_ptr<MipmappedArray> map(MemoryServices& services, const std::shared_ptr<ExternalMemory>& source,
                                             std::size_t offset, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                             unsigned levels);
  MipmappedArray(MemoryServices& services, Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                 const texture::Image& image);

  Context& context() const { return context_; }
  const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const { return descriptor_; }
  const texture::Image& image() const { return image_; }
  CUarray level(unsigned level) const;  // throws CUDA_ERROR_INVALID_VALUE
  // It belongs to something else, a graphics resource: cuMipmappedArrayDestroy is refused. Before it gets a handle.
  void keep_from_programs() { is_kept_ = true; }

 private:
  friend void destroy_mipmapped_array(MemoryServices& services, CUmipmappedArray handle);
  friend void release_mipmapped_array(MemoryServices& services, CUmipmappedArray handle);

  Context& context_;
  const CUDA_ARRAY3D_DESCRIPTOR descriptor_;
  const texture::Image image_;
  std::vector<CUarray> levels_;
  bool is_kept_ = false;
};

// Wait for what is under way, which may use the memory. Throw CUDA_ERROR_INVALID_HANDLE.
void destroy_array(MemoryServices& services, CUarray handle);
void destroy_mipmapped_array(MemoryServices& services, CUmipmappedArray handle);
// The same for one that is kept from programs.
void release_mipmapped_array(MemoryServices& services, CUmipmappedArray handle);

}  // namespace softgpu::runtime
