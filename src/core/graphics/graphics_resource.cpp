#include <cuprum/driver.hpp>
#include <cuprum/graphics_resource.hpp>
#include <cuprum/stream.hpp>
#include <ostream>

#include "core/base/same_object.hpp"
#include "core/graphics/mapping.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/stream/default_streams.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using core::KeptStream;
using core::Mapping;
using detail::Access;
using detail::GraphicsState;
using detail::Kept;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

unsigned flags_of(const GraphicsResourceOptions& options) {
  if (options.read_only && options.write_discard) {
    throw InvalidArgument("a graphics resource can't be read_only and write_discard: what is discarded is written");
  }
  unsigned flags = CU_GRAPHICS_REGISTER_FLAGS_NONE;
  if (options.read_only) flags |= CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY;
  if (options.write_discard) flags |= CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD;
  if (options.surface_load_store) flags |= CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST;
  if (options.texture_gather) flags |= CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
  return flags;
}

/// Registers an object in the current context of CUDA.
template <typename Acquire>
GraphicsResource registered(Acquire&& acquire) {
  ContextGuard guard(core::ContextChoice::current());
  return Access::make<GraphicsResource, GraphicsState>(
      std::make_shared<const core::Registration>(guard.context(), std::forward<Acquire>(acquire)));
}

/// Maps the resource, and unmaps it again when it is not what `use(mapping)` takes it for.
template <typename Use>
auto map_as(GraphicsState& state, const Stream& stream, Use&& use) {
  const std::scoped_lock lock(state.mutex);
  if (state.mapping && state.mapping->is_active())
    throw WrongState("this graphics resource is already mapped: unmap() it first");
  auto mapping = std::make_shared<Mapping>(state.registration, core::settled(Access::keep(stream)));
  try {
    auto mapped = use(mapping);
    state.mapping = std::move(mapping);
    return mapped;
  } catch (...) {
    mapping->unmap_quietly(mapping->stream);
    throw;
  }
}

/// The stream on which the buffer or image would be unmapped if it went now.
KeptStream usual_stream(const GraphicsState& state) {
  if (const auto buffer = Access::try_keep(state.buffer)) return buffer->freed_on();
  return state.mapping->stream;
}

void close_what_was_mapped(GraphicsState& state) {
  state.buffer.close();
  state.image.close();
}

void unmap(GraphicsState& state, const KeptStream* stream) {
  const std::scoped_lock lock(state.mutex);
  if (!state.mapping || !state.mapping->unmap(stream ? *stream : usual_stream(state)))
    throw WrongState("this graphics resource is not mapped: map() it first");
  close_what_was_mapped(state);
}

void end(GraphicsState& state, const KeptStream* stream) {
  const std::scoped_lock lock(state.mutex);
  if (state.mapping) state.mapping->unmap_quietly(stream ? *stream : usual_stream(state));
  close_what_was_mapped(state);
}

}  // namespace

bool GraphicsState::is_mapped() const {
  const std::scoped_lock lock(mutex);
  return mapping && mapping->is_active();
}

GraphicsResource GraphicsResource::from_gl_buffer(unsigned gl_buffer, const GraphicsResourceOptions& options) {
  const unsigned flags = flags_of(options);
  return registered([&](CUgraphicsResource* handle) {
    driver::call<&Api::cuGraphicsGLRegisterBuffer>(
        Doing{[&] { return text("registering buffer ", gl_buffer, " of OpenGL"); }}, handle, gl_buffer, flags);
  });
}

GraphicsResource GraphicsResource::from_gl_image(unsigned image, unsigned target,
                                                 const GraphicsResourceOptions& options) {
  const unsigned flags = flags_of(options);
  return registered([&](CUgraphicsResource* handle) {
    driver::call<&Api::cuGraphicsGLRegisterImage>(
        Doing{[&] { return text("registering image ", image, " of OpenGL, with the target ", target); }}, handle, image,
        target, flags);
  });
}

Buffer GraphicsResource::map(const Stream& stream) const {
  const Kept<GraphicsState> state = Access::keep(*this);
  return map_as(*state, stream, [&](const std::shared_ptr<Mapping>& mapping) {
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    ContextGuard guard(state->registration->context);
    driver::call<&Api::cuGraphicsResourceGetMappedPointer>(
        Doing{[&] { return text("mapping ", *this, " as a buffer; images are for map_image()"); }}, &pointer, &size,
        state->registration->handle());
    const std::shared_ptr<MemoryResource::Interface> memory = std::make_shared<core::MappedMemory>(mapping);
    return state->buffer = detail::wrap_buffer(pointer, size, memory, mapping->stream);
  });
}

MappedImage GraphicsResource::map_image(const Stream& stream) const {
  const Kept<GraphicsState> state = Access::keep(*this);
  return map_as(*state, stream, [&](const std::shared_ptr<Mapping>& mapping) {
    CUmipmappedArray levels = nullptr;
    ContextGuard guard(state->registration->context);
    driver::call<&Api::cuGraphicsResourceGetMappedMipmappedArray>(
        Doing{[&] { return text("mapping ", *this, " as an image; buffers are for map()"); }}, &levels,
        state->registration->handle());
    return state->image = Access::make<MappedImage, detail::MappedImageResource>(mapping);
  });
}

void GraphicsResource::unmap() const { cuprum::unmap(*Access::keep(*this), nullptr); }

void GraphicsResource::unmap(const Stream& stream) const {
  const KeptStream on = core::settled(Access::keep(stream));
  cuprum::unmap(*Access::keep(*this), &on);
}

bool GraphicsResource::is_mapped() const noexcept {
  const Kept<GraphicsState> state = Access::try_keep(*this);
  return state && state->is_mapped();
}

CUgraphicsResource_st* GraphicsResource::handle() const noexcept {
  return reinterpret_cast<CUgraphicsResource>(static_cast<std::uintptr_t>(Access::number(*this)));
}

void GraphicsResource::close() {
  if (const Kept<GraphicsState> state = Access::try_keep(*this)) end(*state, nullptr);
  Access::close(*this);
}

void GraphicsResource::close(const Stream& stream) {
  const KeptStream on = core::settled(Access::keep(stream));
  if (const Kept<GraphicsState> state = Access::try_keep(*this)) end(*state, &on);
  Access::close(*this);
}

std::uint64_t GraphicsResource::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const GraphicsResource& a, const GraphicsResource& b) noexcept {
  return core::are_same(a.shared_.get(), b.shared_.get());
}

std::ostream& operator<<(std::ostream& out, const GraphicsResource& resource) {
  const Kept<GraphicsState> state = Access::try_keep(resource);
  if (!state) return out << Access::state_in_words(resource);
  return out << "graphics resource " << static_cast<const void*>(state->registration->handle()) << " on device "
             << state->registration->context.device;
}

}  // namespace cuprum::inline CUPRUM_ABI
