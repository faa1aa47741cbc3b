#include <cuprum/texture/opaque_array.hpp>
#include <ostream>

#include "core/base/same_object.hpp"
#include "core/texture/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

core::ArrayFacts facts_of(const texture::OpaqueArrayOptions& options) {
  return {.shape = options.shape,
          .format = options.format,
          .num_channels = options.num_channels,
          .is_surface_load_store = options.is_surface_load_store};
}

CUarray create_array(const core::ContextRecord& context, const core::ArrayFacts& facts) {
  const CUDA_ARRAY3D_DESCRIPTOR descriptor = core::cu_descriptor(facts);
  CUarray handle = nullptr;
  driver::call<&Api::cuArray3DCreate>(
      Doing{[&] { return text("creating an array of ", core::in_words(facts), " on device ", context.device); }},
      &handle, &descriptor);
  return handle;
}

core::ArrayFacts facts_in_driver(CUarray handle) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  driver::call<&Api::cuArray3DGetDescriptor>(Doing{[&] { return text("wrapping array ", static_cast<void*>(handle)); }},
                                             &descriptor, handle);
  return core::facts_from(descriptor);
}

}  // namespace

ArrayResource::ArrayResource(const core::ContextRecord& the_context, const texture::OpaqueArrayOptions& options)
    : context(the_context),
      ownership(Ownership::ours),
      facts(facts_of(options)),
      handle(create_array(the_context, facts)),
      parent_(the_context.owner.lock()) {}

ArrayResource::ArrayResource(const core::ContextRecord& the_context, CUarray the_handle,
                             std::shared_ptr<const void> owner)
    : context(the_context),
      ownership(Ownership::foreign),
      facts(facts_in_driver(the_handle)),
      handle(the_handle),
      parent_(the_context.owner.lock()),
      owner_(std::move(owner)) {}

ArrayResource::~ArrayResource() {
  if (ownership == Ownership::ours) core::release_inside<&Api::cuArrayDestroy>(context, handle);
}

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI::texture {

using cuprum::detail::Access;
using cuprum::detail::ArrayResource;
using cuprum::detail::Kept;

OpaqueArray OpaqueArray::from_handle(CUarray_st* handle, std::shared_ptr<const void> owner) {
  core::ContextGuard guard(core::ContextChoice::current());
  return Access::make<OpaqueArray, ArrayResource>(guard.context(), handle, std::move(owner));
}

std::vector<std::size_t> OpaqueArray::shape() const { return Access::keep(*this)->facts.shape; }

ArrayFormatType OpaqueArray::format() const { return Access::keep(*this)->facts.format; }

int OpaqueArray::num_channels() const { return Access::keep(*this)->facts.num_channels; }

std::size_t OpaqueArray::element_bytes() const { return Access::keep(*this)->facts.element_bytes(); }

std::size_t OpaqueArray::size_bytes() const { return Access::keep(*this)->facts.size_bytes(); }

bool OpaqueArray::is_surface_load_store() const { return Access::keep(*this)->facts.is_surface_load_store; }

Device OpaqueArray::device() const { return Access::device(Access::keep(*this)->context.device); }

Context OpaqueArray::context() const { return core::context_handle(Access::keep(*this)->context); }

CUarray_st* OpaqueArray::handle() const noexcept {
  return reinterpret_cast<CUarray>(static_cast<std::uintptr_t>(Access::number(*this)));
}

void OpaqueArray::close() { Access::close(*this); }

std::uint64_t OpaqueArray::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const OpaqueArray& a, const OpaqueArray& b) noexcept {
  return core::are_same(a.shared_.get(), b.shared_.get());
}

std::ostream& operator<<(std::ostream& out, const OpaqueArray& array) {
  const Kept<ArrayResource> resource = Access::try_keep(array);
  if (!resource) return out << Access::state_in_words(array);
  return out << "an array of " << core::in_words(resource->facts) << " on device " << resource->context.device;
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
