#include <cuprum/texture/surface_object.hpp>
#include <ostream>

#include "core/base/same_object.hpp"
#include "core/texture/resource_desc.hpp"
#include "core/texture/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

CUsurfObject create_surface(const core::ContextRecord& context, const texture::ResourceDescriptor& resource) {
  const CUDA_RESOURCE_DESC description = core::cu_resource(resource);
  CUsurfObject handle = 0;
  driver::call<&Api::cuSurfObjectCreate>(
      Doing{[&] { return text("creating a surface of ", resource, " on device ", context.device); }}, &handle,
      &description);
  return handle;
}

}  // namespace

SurfaceResource::SurfaceResource(const core::ContextRecord& the_context,
                                 const texture::ResourceDescriptor& the_resource)
    : context(the_context),
      resource(the_resource),
      handle(create_surface(the_context, the_resource)),
      parent_(the_context.owner.lock()) {}

SurfaceResource::~SurfaceResource() { core::release_inside<&Api::cuSurfObjectDestroy>(context, handle); }

Kept<BufferResource> keep_as_memory(const texture::SurfaceObject& surface) { return core::as_memory(surface); }

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI::texture {

using cuprum::detail::Access;
using cuprum::detail::Kept;
using cuprum::detail::SurfaceResource;

std::uint64_t SurfaceObject::handle() const noexcept { return Access::number(*this); }

ResourceDescriptor SurfaceObject::resource() const { return Access::keep(*this)->resource; }

Device SurfaceObject::device() const { return Access::device(Access::keep(*this)->context.device); }

Context SurfaceObject::context() const { return core::context_handle(Access::keep(*this)->context); }

void SurfaceObject::close() { Access::close(*this); }

void SurfaceObject::refuse() const { Access::refuse(*this); }

std::uint64_t SurfaceObject::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const SurfaceObject& a, const SurfaceObject& b) noexcept {
  return core::are_same(a.shared_.get(), b.shared_.get());
}

std::ostream& operator<<(std::ostream& out, const SurfaceObject& surface) {
  const Kept<SurfaceResource> resource = Access::try_keep(surface);
  if (!resource) return out << Access::state_in_words(surface);
  return out << "surface " << reinterpret_cast<void*>(resource->handle) << " on device " << resource->context.device;
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
