// Surfaces: how kernels read and write the texels of arrays.
//
//   SurfaceObject surface = device.create_surface_object(ResourceDescriptor::from_opaque_array(image));
//   launch(stream, config, paint, surface, width, height);    // for a parameter of type cudaSurfaceObject_t
#pragma once

#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/texture/resource_descriptor.hpp>
#include <functional>
#include <iosfwd>

namespace cuprum::inline CUPRUM_ABI::texture {

/// A cheap handle: copies share one CUDA surface object, which is released when the last copy goes or at close(). It
/// keeps its array, also when that is closed. Threads may share it. Made by Device::create_surface_object.
///
/// Launches take it as an argument, as they take a TextureObject.
class CUPRUM_API SurfaceObject {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  SurfaceObject() = default;

  /// The CUsurfObject, which kernels know as cudaSurfaceObject_t; 0 when it is closed or empty.
  std::uint64_t handle() const noexcept;
  /// What it was made of.
  ResourceDescriptor resource() const;
  /// The device that kernels use it on.
  Device device() const;
  /// The context that it was made in.
  Context context() const;

  /// Ends the surface for all copies; later use throws InvalidArgument. Closing twice does nothing.
  void close();

  /// Whether both stand for the same CUDA surface object; closed ones stand for none.
  friend CUPRUM_API bool operator==(const SurfaceObject& a, const SurfaceObject& b) noexcept;

 private:
  friend struct cuprum::detail::Access;
  friend struct cuprum::detail::BindlessAccess;
  friend struct std::hash<SurfaceObject>;
  explicit SurfaceObject(cuprum::detail::Shared<cuprum::detail::SurfaceResource> shared) : shared_(std::move(shared)) {}
  std::uint64_t identity() const noexcept;
  [[noreturn]] void refuse() const;

  cuprum::detail::Shared<cuprum::detail::SurfaceResource> shared_;
};

/// Prints "surface 0x1 on device 0", or "a closed surface".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const SurfaceObject& surface);

}  // namespace cuprum::inline CUPRUM_ABI::texture

/// By which CUDA surface object it stands for.
template <>
struct std::hash<cuprum::texture::SurfaceObject> {
  std::size_t operator()(const cuprum::texture::SurfaceObject& surface) const noexcept {
    return std::hash<std::uint64_t>()(surface.identity());
  }
};
