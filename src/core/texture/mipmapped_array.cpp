#include <cuprum/error.hpp>
#include <cuprum/texture/mipmapped_array.hpp>
#include <ostream>

#include "core/base/same_object.hpp"
#include "core/texture/checks.hpp"
#include "core/texture/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

CUmipmappedArray create_mipmapped(const core::ContextRecord& context, const core::ArrayFacts& facts, int num_levels) {
  const CUDA_ARRAY3D_DESCRIPTOR descriptor = core::cu_descriptor(facts);
  CUmipmappedArray handle = nullptr;
  const auto doing = [&] {
    return text("creating a mipmapped array of ", num_levels, " levels, ", core::in_words(facts), " on device ",
                context.device);
  };
  driver::call<&Api::cuMipmappedArrayCreate>(Doing{doing}, &handle, &descriptor, static_cast<unsigned>(num_levels));
  return handle;
}

}  // namespace

MipmappedArrayResource::MipmappedArrayResource(const core::ContextRecord& the_context,
                                               const texture::MipmappedArrayOptions& options)
    : context(the_context),
      facts{.shape = options.shape,
            .format = options.format,
            .num_channels = options.num_channels,
            .is_surface_load_store = options.is_surface_load_store},
      num_levels(core::levels_of(options)),
      handle(create_mipmapped(the_context, facts, num_levels)),
      parent_(the_context.owner.lock()) {}

MipmappedArrayResource::~MipmappedArrayResource() {
  core::release_inside<&Api::cuMipmappedArrayDestroy>(context, handle);
}

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI::texture {

using cuprum::detail::Access;
using cuprum::detail::ArrayResource;
using cuprum::detail::Kept;
using cuprum::detail::MipmappedArrayResource;
using driver::Api;
using driver::Doing;
using support::text;

OpaqueArray MipmappedArray::get_level(int level) const {
  const Kept<MipmappedArrayResource> array = Access::keep(*this);
  if (level < 0 || level >= array->num_levels)
    throw InvalidArgument(text("level ", level, " of ", *this, ": there are levels 0 to ", array->num_levels - 1));
  core::ContextGuard guard(array->context);
  CUarray handle = nullptr;
  driver::call<&Api::cuMipmappedArrayGetLevel>(Doing{[&] { return text("asking for level ", level, " of ", *this); }},
                                               &handle, array->handle, static_cast<unsigned>(level));
  return Access::make<OpaqueArray, ArrayResource>(array->context, handle,
                                                  std::make_shared<const Kept<MipmappedArrayResource>>(array));
}

std::vector<std::size_t> MipmappedArray::shape() const { return Access::keep(*this)->facts.shape; }

ArrayFormatType MipmappedArray::format() const { return Access::keep(*this)->facts.format; }

int MipmappedArray::num_channels() const { return Access::keep(*this)->facts.num_channels; }

int MipmappedArray::num_levels() const { return Access::keep(*this)->num_levels; }

bool MipmappedArray::is_surface_load_store() const { return Access::keep(*this)->facts.is_surface_load_store; }

Device MipmappedArray::device() const { return Access::device(Access::keep(*this)->context.device); }

Context MipmappedArray::context() const { return core::context_handle(Access::keep(*this)->context); }

CUmipmappedArray_st* MipmappedArray::handle() const noexcept {
  return reinterpret_cast<CUmipmappedArray>(static_cast<std::uintptr_t>(Access::number(*this)));
}

void MipmappedArray::close() { Access::close(*this); }

std::uint64_t MipmappedArray::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const MipmappedArray& a, const MipmappedArray& b) noexcept {
  return core::are_same(a.shared_.get(), b.shared_.get());
}

std::ostream& operator<<(std::ostream& out, const MipmappedArray& array) {
  const Kept<MipmappedArrayResource> resource = Access::try_keep(array);
  if (!resource) return out << Access::state_in_words(array);
  return out << "a mipmapped array of " << resource->num_levels << " levels, " << core::in_words(resource->facts)
             << " on device " << resource->context.device;
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
