#include <cuprum/driver.hpp>
#include <cuprum/graphics_resource.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <memory>
#include <ostream>

#include "core/base/same_object.hpp"
#include "core/graphics/mapping.hpp"
#include "core/stream/default_streams.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::Kept;
using detail::MappedImageResource;
using driver::Api;
using driver::Doing;
using support::text;

CUarray_st* MappedImage::array(unsigned index, unsigned level) const {
  const Kept<MappedImageResource> image = Access::keep(*this);
  const core::Registration& registration = *image->mapping->registration;
  ContextGuard guard(registration.context);
  CUarray array = nullptr;
  driver::call<&Api::cuGraphicsSubResourceGetMappedArray>(
      Doing{[&] { return text("asking for level ", level, " of face or layer ", index, " of ", *this); }}, &array,
      registration.handle(), index, level);
  return array;
}

texture::OpaqueArray MappedImage::opaque_array(unsigned index, unsigned level) const {
  const Kept<MappedImageResource> image = Access::keep(*this);
  ContextGuard guard(image->mapping->registration->context);
  return texture::OpaqueArray::from_handle(array(index, level), std::make_shared<MappedImage>(*this));
}

CUmipmappedArray_st* MappedImage::mipmapped_array() const {
  const Kept<MappedImageResource> image = Access::keep(*this);
  const core::Registration& registration = *image->mapping->registration;
  ContextGuard guard(registration.context);
  CUmipmappedArray array = nullptr;
  driver::call<&Api::cuGraphicsResourceGetMappedMipmappedArray>(
      Doing{[&] { return text("asking for all levels of ", *this); }}, &array, registration.handle());
  return array;
}

CUgraphicsResource_st* MappedImage::handle() const noexcept {
  return reinterpret_cast<CUgraphicsResource>(static_cast<std::uintptr_t>(Access::number(*this)));
}

void MappedImage::close() { Access::close(*this); }

void MappedImage::close(const Stream& stream) {
  if (const Kept<MappedImageResource> closing = Access::try_keep(*this)) {
    core::KeptStream on = core::settled(Access::keep(stream));
    const std::scoped_lock lock(closing->mutex);
    std::swap(closing->unmapped_on, on);
  }
  close();
}

// A resource that is mapped again has the same number, so the mapping itself tells.
std::uint64_t MappedImage::identity() const noexcept { return reinterpret_cast<std::uintptr_t>(shared_.get()); }

bool operator==(const MappedImage& a, const MappedImage& b) noexcept { return a.identity() == b.identity(); }

std::ostream& operator<<(std::ostream& out, const MappedImage& image) {
  const Kept<MappedImageResource> kept = Access::try_keep(image);
  if (!kept) return out << Access::state_in_words(image);
  return out << "the mapped image of graphics resource "
             << static_cast<const void*>(kept->mapping->registration->handle());
}

}  // namespace cuprum::inline CUPRUM_ABI
