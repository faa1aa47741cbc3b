// An object of OpenGL, and the memory in which kernels see its contents.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "softgpu/opengl/context.hpp"
#include "softgpu/opengl/image.hpp"

namespace softgpu::runtime {

class Context;
struct MemoryServices;

// Functions that take the current OpenGL context throw opengl::Error. One thread at a time.
class SharedObject {
 public:
  virtual ~SharedObject() = default;

  // Throws Problem::no_object unless the object is there, as it was when it was registered.
  virtual void require_unchanged(const opengl::CurrentContext& gl) const = 0;
  // Sees to it that there is memory, which stays until release(). Throws CUDA_ERROR_OUT_OF_MEMORY.
  virtual void allocate(MemoryServices& services, Context& context) = 0;
  virtual void read(const opengl::CurrentContext& gl) = 0;
  virtual void write(const opengl::CurrentContext& gl) const = 0;
  // Gives the memory back when nothing is under way that may use it.
  virtual void release(MemoryServices& services) = 0;

  // Once there is memory. What it is not throws CUDA_ERROR_NOT_MAPPED_AS_POINTER, or _AS_ARRAY.
  virtual std::span<std::byte> bytes() const;
  virtual CUmipmappedArray mipmapped_array() const;
  // A level, and of a cube map or an array texture one face or layer of it. Throws CUDA_ERROR_INVALID_VALUE for what
  // there is not.
  virtual CUarray array(MemoryServices& services, unsigned index, unsigned level);
};

class SharedBuffer final : public SharedObject {
 public:
  SharedBuffer(const opengl::CurrentContext& gl, unsigned name);

  void require_unchanged(const opengl::CurrentContext& gl) const override;
  void allocate(MemoryServices& services, Context& context) override;
  void read(const opengl::CurrentContext& gl) override;
  void write(const opengl::CurrentContext& gl) const override;
  void release(MemoryServices& services) override;
  std::span<std::byte> bytes() const override { return {memory_, size_}; }

 private:
  const unsigned name_;
  const std::size_t size_;
  std::byte* memory_ = nullptr;
};

class SharedImage final : public SharedObject {
 public:
  // `array_flags` are those of the CUDA array: CUDA_ARRAY3D_SURFACE_LDST and the like. Throws CUDA_ERROR_INVALID_VALUE
  // for images that are no arrays with such flags.
  SharedImage(const opengl::CurrentContext& gl, unsigned name, unsigned target, unsigned array_flags);

  void require_unchanged(const opengl::CurrentContext& gl) const override;
  void allocate(MemoryServices& services, Context& context) override;
  void read(const opengl::CurrentContext& gl) override;
  void write(const opengl::CurrentContext& gl) const override;
  void release(MemoryServices& services) override;
  CUmipmappedArray mipmapped_array() const override { return handle_; }
  CUarray array(MemoryServices& services, unsigned index, unsigned level) override;

 private:
  std::byte* level_memory(unsigned level) const;

  const unsigned name_;
  const opengl::ImageDescription description_;
  const CUDA_ARRAY3D_DESCRIPTOR descriptor_;
  std::shared_ptr<class MipmappedArray> array_;
  CUmipmappedArray handle_ = nullptr;
  std::map<std::pair<unsigned, unsigned>, CUarray> layers_;  // by index and level, those that were asked for
};

}  // namespace softgpu::runtime
