#include "softgpu/runtime/graphics/graphics_resource.hpp"

#include <exception>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/graphics/graphics_services.hpp"
#include "softgpu/runtime/graphics/shared_object.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/stream.hpp"
#include "softgpu/runtime/work/stream_work.hpp"

namespace softgpu::runtime {
namespace {

using opengl::CurrentContext;
using opengl::Problem;

constexpr unsigned kReadOnly = CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY;
constexpr unsigned kWriteDiscard = CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD;

CUresult code_of(Problem problem) {
  switch (problem) {
    case Problem::no_context: return CUDA_ERROR_INVALID_GRAPHICS_CONTEXT;
    case Problem::no_object: return CUDA_ERROR_INVALID_HANDLE;
    case Problem::mapped: return CUDA_ERROR_ALREADY_MAPPED;
    case Problem::unfit: return CUDA_ERROR_INVALID_VALUE;
    case Problem::unsupported: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_UNKNOWN;
  }
}

// `work(gl)` with the calling thread's OpenGL, whose errors become CUDA's.
template <typename Work>
auto with_opengl(Work&& work) {
  try {
    return work(CurrentContext::get());
  } catch (const opengl::Error& error) {
    throw Failure(code_of(error.problem()), error.what());
  }
}

void check_register_flags(unsigned flags, unsigned possible) {
  constexpr unsigned kBoth = CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD;
  require((flags & ~possible) == 0, CUDA_ERROR_INVALID_VALUE, "flags that there are not for such an object");
  require((flags & kBoth) != kBoth, CUDA_ERROR_INVALID_VALUE, "what is only read can't be discarded");
}

// The register flags that say how it will be used have the values of the map flags.
unsigned map_flags_of(unsigned register_flags) { return register_flags & (kReadOnly | kWriteDiscard); }
static_assert(kReadOnly == CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY &&
              kWriteDiscard == CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);

unsigned array_flags_of(unsigned register_flags) {
  unsigned flags = 0;
  if (register_flags & CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST) flags |= CUDA_ARRAY3D_SURFACE_LDST;
  if (register_flags & CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER) flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
  return flags;
}

void require_same_context(const Resources& resources, const Stream& stream) {
  for (const auto& resource : resources)
    require(&resource->context() == &stream.context(), CUDA_ERROR_INVALID_CONTEXT,
            "the resource was registered in another context than the stream's");
}

}  // namespace

// Resources on their way from one state to the other: no other thread can map, unmap or unregister them meanwhile. They
// fall back to the state that they were in, unless they arrive.
class Passage {
 public:
  using State = GraphicsResource::State;

  Passage(const Resources& resources, State from, State to, CUresult otherwise, const char* message)
      : from_(from), to_(to) {
    for (const auto& resource : resources) {
      if (!claim(*resource)) {
        settle(from_);
        throw Failure(otherwise, message);
      }
      resources_.push_back(resource);
    }
  }
  ~Passage() { settle(from_); }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  void arrive() { settle(to_); }

  // `work(object, map_flags)` for each of them.
  template <typename Work>
  void for_each(Work&& work) const {
    for (const auto& resource : resources_) work(*resource->object_, resource->map_flags_);
  }

 private:
  bool claim(GraphicsResource& resource) const {
    const std::scoped_lock lock(resource.mutex_);
    if (resource.state_ != from_) return false;
    resource.state_ = State::passing;
    return true;
  }

  void settle(State state) {
    for (const auto& resource : resources_) {
      const std::scoped_lock lock(resource->mutex_);
      resource->state_ = state;
    }
    resources_.clear();
  }

  const State from_, to_;
  Resources resources_;
};

GraphicsResource::GraphicsResource(Context& context, std::unique_ptr<SharedObject> object, unsigned map_flags)
    : context_(context), object_(std::move(object)), map_flags_(map_flags) {}

GraphicsResource::~GraphicsResource() = default;

void GraphicsResource::set_map_flags(unsigned flags) {
  require(flags == CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE || flags == kReadOnly || flags == kWriteDiscard,
          CUDA_ERROR_INVALID_VALUE, "no such flags for mapping");
  const std::scoped_lock lock(mutex_);
  require(state_ == State::unmapped, CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped: unmap it first");
  map_flags_ = flags;
}

void GraphicsResource::require_mapped() const {
  require(state_ == State::mapped, CUDA_ERROR_NOT_MAPPED, "the resource is not mapped");
}

std::span<std::byte> GraphicsResource::bytes() const {
  const std::scoped_lock lock(mutex_);
  require_mapped();
  return object_->bytes();
}

CUmipmappedArray GraphicsResource::mipmapped_array() const {
  const std::scoped_lock lock(mutex_);
  require_mapped();
  return object_->mipmapped_array();
}

CUarray GraphicsResource::array(MemoryServices& services, unsigned index, unsigned level) {
  const std::scoped_lock lock(mutex_);
  require_mapped();
  return object_->array(services, index, level);
}

CUgraphicsResource register_buffer(GraphicsServices& services, Context& context, unsigned name, unsigned flags) {
  check_register_flags(flags, kReadOnly | kWriteDiscard);
  auto object = with_opengl([&](const CurrentContext& gl) { return std::make_unique<SharedBuffer>(gl, name); });
  return services.resources.add(std::make_shared<GraphicsResource>(context, std::move(object), map_flags_of(flags)));
}

CUgraphicsResource register_image(GraphicsServices& services, Context& context, unsigned name, unsigned target,
                                  unsigned flags) {
  check_register_flags(flags, kReadOnly | kWriteDiscard | CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST |
                                  CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER);
  auto object = with_opengl(
      [&](const CurrentContext& gl) { return std::make_unique<SharedImage>(gl, name, target, array_flags_of(flags)); });
  return services.resources.add(std::make_shared<GraphicsResource>(context, std::move(object), map_flags_of(flags)));
}

void unregister(GraphicsServices& services, CUgraphicsResource handle) {
  const auto resource = services.resources.find(handle);
  require_handle(resource != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a graphics resource, or no longer registered");
  {
    Passage passage({resource}, Passage::State::unmapped, Passage::State::passing, CUDA_ERROR_ALREADY_MAPPED,
                    "the resource is mapped: unmap it first");
    passage.arrive();
  }
  services.resources.remove(handle);
  resource->object_->release(services.memory);
}

void map_resources(GraphicsServices& services, const Resources& resources, Stream& stream) {
  stream.require_uncaptured();
  require_same_context(resources, stream);
  Passage passage(resources, Passage::State::unmapped, Passage::State::mapped, CUDA_ERROR_ALREADY_MAPPED,
                  "a resource is mapped already");
  with_opengl([&](const CurrentContext& gl) {
    passage.for_each([&](SharedObject& object, unsigned map_flags) {
      object.require_unchanged(gl);
      object.allocate(services.memory, stream.context());
      if (map_flags != kWriteDiscard) object.read(gl);
    });
  });
  passage.arrive();
}

namespace {

// An object that is gone has nowhere to write to, and nobody can see what it would have.
void write_back(const CurrentContext& gl, const SharedObject& object) {
  try {
    object.require_unchanged(gl);
  } catch (const opengl::Error& error) {
    if (error.problem() == Problem::no_object) return;
    throw;
  }
  object.write(gl);
}

}  // namespace

void unmap_resources(const Resources& resources, Stream& stream) {
  require_same_context(resources, stream);
  Passage passage(resources, Passage::State::mapped, Passage::State::unmapped, CUDA_ERROR_NOT_MAPPED,
                  "a resource is not mapped");
  require_opengl();  // rather than after the wait
  std::exception_ptr failure;
  work_in_turn(stream, [&] {
    try {
      with_opengl([&](const CurrentContext& gl) {
        passage.for_each([&](const SharedObject& object, unsigned map_flags) {
          if (map_flags != kReadOnly) write_back(gl, object);
        });
        gl->Finish();  // for the other contexts that share the object
      });
    } catch (...) {
      failure = std::current_exception();  // the stream must go on
    }
  });
  if (failure) std::rethrow_exception(failure);
  passage.arrive();
}

void require_opengl() {
  with_opengl([](const CurrentContext&) {});
}

void drop_graphics_of(GraphicsServices& services, const Context& context) {
  services.resources.remove_if([&](const GraphicsResource& resource) { return &resource.context() == &context; });
}

}  // namespace softgpu::runtime
