// Arrays of texels: memory that kernels use through textures and surfaces only.
//
//   OpaqueArray image = device.create_opaque_array({.shape = {640, 480}, .num_channels = 4});
//   image.copy_from(pixels, stream);  // pixels: a std::vector<float> of 640 * 480 * 4
//   TextureObject texture = device.create_texture_object(ResourceDescriptor::from_opaque_array(image));
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/texture/enums.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {
class Context;
class Device;
class Stream;
}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::inline CUPRUM_ABI::texture {

/// For Device::create_opaque_array.
struct OpaqueArrayOptions {
  std::vector<std::size_t> shape = {};                ///< width, width and height, or width, height and depth
  ArrayFormatType format = ArrayFormatType::float32;  ///< of each channel
  int num_channels = 1;                               ///< of each texel: 1, 2 or 4
  bool is_surface_load_store = false;                 ///< kernels can write it through a SurfaceObject

  friend bool operator==(const OpaqueArrayOptions&, const OpaqueArrayOptions&) = default;
};

/// A cheap handle: copies share one CUDA array, which is released when the last copy goes or at close(), unless a
/// texture, a surface, a descriptor or a graph was given it: those keep it until they go. How texels lie in it is the
/// driver's affair, so that it has no address, and what is in it gets there and back by copies. Threads may share it.
/// Made by Device::create_opaque_array and MipmappedArray::get_level.
///
/// Copies are of the whole array: rows one after the other without gaps, slices one after the other. They are queued on
/// the given stream and the calls return at once; both sides must stay open until the copy has run. A graph that is
/// captured from the stream keeps arrays and buffers. All throw InvalidArgument when the other side has too few bytes,
/// or one of both is closed.
class CUPRUM_API OpaqueArray {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  OpaqueArray() = default;

  /// Wraps an array of the current context that somebody else owns, such as one that a graphics API shares; `owner` is
  /// kept as long. Shape and format are the driver's. Throws DriverError for what is no array, and NotSupported for one
  /// whose texels have none of the formats here, such as compressed ones.
  static OpaqueArray from_handle(CUarray_st* handle, std::shared_ptr<const void> owner = nullptr);

  /// Copies the first size_bytes() of a buffer into the array.
  void copy_from(const Buffer& source, const Stream& stream) const;
  /// Copies the array to the beginning of a buffer, and returns that.
  Buffer copy_to(const Buffer& destination, const Stream& stream) const;

  /// Copies another array of the same context and shape, with texels of as many bytes.
  void copy_from(const OpaqueArray& source, const Stream& stream) const;
  /// Copies the array to such a one, and returns that.
  OpaqueArray copy_to(const OpaqueArray& destination, const Stream& stream) const;

  /// Copies from ordinary host memory. Pageable memory has been read when this returns; page-locked memory must stay as
  /// it is until the copy has run.
  template <cuprum::detail::Copyable T, std::size_t Extent>
  void copy_from(std::span<T, Extent> source, const Stream& stream) const {
    copy_from_host(source.data(), source.size_bytes(), stream);
  }
  /// Copies to ordinary host memory. The contents are there after the next stream.sync().
  template <cuprum::detail::Copyable T, std::size_t Extent>
    requires(!std::is_const_v<T>)
  void copy_to(std::span<T, Extent> destination, const Stream& stream) const {
    copy_to_host(destination.data(), destination.size_bytes(), stream);
  }
  /// Copies from any range whose elements lie one after the other, as from a span.
  template <cuprum::detail::ContiguousRange Range>
  void copy_from(const Range& source, const Stream& stream) const {
    copy_from(std::span(source), stream);
  }
  /// Copies to such a range, as to a span.
  template <cuprum::detail::WritableRange Range>
  void copy_to(Range& destination, const Stream& stream) const {
    copy_to(std::span(destination), stream);
  }

  /// In texels: width, and height and depth where it has them.
  std::vector<std::size_t> shape() const;
  /// Of each channel.
  ArrayFormatType format() const;
  /// Of each texel: 1, 2 or 4.
  int num_channels() const;
  /// Of a texel.
  std::size_t element_bytes() const;
  /// Of all texels: what copies need.
  std::size_t size_bytes() const;
  /// Whether a SurfaceObject can be made of it.
  bool is_surface_load_store() const;
  /// The device that it is on.
  Device device() const;
  /// The context that it was made in.
  Context context() const;
  /// The CUarray; null when it is closed or empty.
  CUarray_st* handle() const noexcept;

  /// Ends the array for all copies; later use throws InvalidArgument. Closing twice does nothing. Kernels that use it
  /// must have run, unless something that was given it is still there.
  void close();

  /// Whether both stand for the same CUDA array; closed ones stand for none.
  friend CUPRUM_API bool operator==(const OpaqueArray& a, const OpaqueArray& b) noexcept;

 private:
  friend struct cuprum::detail::Access;
  friend struct std::hash<OpaqueArray>;
  explicit OpaqueArray(cuprum::detail::Shared<cuprum::detail::ArrayResource> shared) : shared_(std::move(shared)) {}
  std::uint64_t identity() const noexcept;
  void copy_from_host(const void* source, std::size_t bytes, const Stream& stream) const;
  void copy_to_host(void* destination, std::size_t bytes, const Stream& stream) const;

  cuprum::detail::Shared<cuprum::detail::ArrayResource> shared_;
};

/// Prints "an array of 640 x 480 texels of 4 x uint8 on device 0", or "a closed array".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const OpaqueArray& array);

}  // namespace cuprum::inline CUPRUM_ABI::texture

/// By which CUDA array it stands for.
template <>
struct std::hash<cuprum::texture::OpaqueArray> {
  std::size_t operator()(const cuprum::texture::OpaqueArray& array) const noexcept {
    return std::hash<std::uint64_t>()(array.identity());
  }
};
