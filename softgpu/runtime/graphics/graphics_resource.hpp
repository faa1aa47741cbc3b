// Graphics resources: objects of OpenGL that CUDA may use in turn with OpenGL (docs/design/graphics.md).
//
// OpenGL's contents and what kernels see are two copies. Mapping copies from OpenGL, in the calling thread and before
// it returns; unmapping copies back, in the calling thread when the stream has got there. Between them the object is
// CUDA's.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace softgpu::runtime {

class Context;
struct GraphicsServices;
struct MemoryServices;
class SharedObject;
class Stream;

// Thread-safe.
class GraphicsResource {
 public:
  GraphicsResource(Context& context, std::unique_ptr<SharedObject> object, unsigned map_flags);
  ~GraphicsResource();
  GraphicsResource(const GraphicsResource&) = delete;
  GraphicsResource& operator=(const GraphicsResource&) = delete;

  Context& context() const { return context_; }
  // From the next mapping on; CU_GRAPHICS_MAP_RESOURCE_FLAGS_…. Throws CUDA_ERROR_ALREADY_MAPPED.
  void set_map_flags(unsigned flags);

  // What there is while it is mapped; else CUDA_ERROR_NOT_MAPPED.
  std::span<std::byte> bytes() const;
  CUmipmappedArray mipmapped_array() const;
  CUarray array(MemoryServices& services, unsigned index, unsigned level);

 private:
  friend class Passage;
  friend void unregister(GraphicsServices& services, CUgraphicsResource handle);
  enum class State { unmapped, mapped, passing };  // passing: a thread is mapping or unmapping it

  void require_mapped() const;

  Context& context_;
  const std::unique_ptr<SharedObject> object_;
  mutable std::mutex mutex_;  // what follows, and the object while it is not `passing`
  unsigned map_flags_;
  State state_ = State::unmapped;
};

// Of the current context of CUDA and that of OpenGL; `flags` are CU_GRAPHICS_REGISTER_FLAGS_….
CUgraphicsResource register_buffer(GraphicsServices& services, Context& context, unsigned name, unsigned flags);
CUgraphicsResource register_image(GraphicsServices& services, Context& context, unsigned name, unsigned target,
                                  unsigned flags);
// Throws CUDA_ERROR_INVALID_HANDLE, and CUDA_ERROR_ALREADY_MAPPED while it is mapped.
void unregister(GraphicsServices& services, CUgraphicsResource handle);

using Resources = std::vector<std::shared_ptr<GraphicsResource>>;
// All of them or none: when one can't be, the others are left as they were.
void map_resources(GraphicsServices& services, const Resources& resources, Stream& stream);
void unmap_resources(const Resources& resources, Stream& stream);

// Throws CUDA_ERROR_INVALID_GRAPHICS_CONTEXT unless an OpenGL context is current.
void require_opengl();

}  // namespace softgpu::runtime
