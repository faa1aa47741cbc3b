// Buffers and images of OpenGL that kernels use in turn with OpenGL.
//
//   GraphicsResource picture = GraphicsResource::from_gl_image(texture, GL_TEXTURE_2D, {.surface_load_store = true});
//   MappedImage image = picture.map_image(stream);        // from here on it is CUDA's
//   SurfaceObject pixels = device.create_surface_object(ResourceDescriptor::from_opaque_array(image.opaque_array()));
//   launch(stream, config, draw, pixels);
//   picture.unmap();                                      // and from here on OpenGL's again
//
// The OpenGL context that has the object must be current on the thread that registers, maps or unmaps it.
#pragma once

#include <cstdint>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <functional>
#include <iosfwd>

namespace cuprum::inline CUPRUM_ABI::texture {
class OpaqueArray;
}

namespace cuprum::inline CUPRUM_ABI {

class Stream;

/// What CUDA is to do with the object. What is not said costs copies, or is refused by the driver.
struct GraphicsResourceOptions {
  bool read_only = false;           ///< kernels don't write it
  bool write_discard = false;       ///< kernels don't read it, and write all of it: what is in it may be lost
  bool surface_load_store = false;  ///< images only: surfaces are made of it
  bool texture_gather = false;      ///< images only: textures of it are gathered from
};

/// An image that is mapped: its arrays, for as long as it is CUDA's. A cheap handle; copies share one mapping, which
/// ends when the last copy goes, at close() or at GraphicsResource::unmap(). It keeps the resource registered. Threads
/// may share it. Made by GraphicsResource::map_image.
class CUPRUM_API MappedImage {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws WrongState.
  MappedImage() = default;

  /// The array of a mipmap level, and of a cube map or an array texture that of one face or layer: a CUarray of
  /// <cuda.h>, which belongs to the driver and is good while the image is mapped. Throws DriverError for a level, face
  /// or layer that there is not.
  CUarray_st* array(unsigned index = 0, unsigned level = 0) const;
  /// The same, for textures, surfaces and copies. Throws NotSupported for formats that OpaqueArray does not have.
  texture::OpaqueArray opaque_array(unsigned index = 0, unsigned level = 0) const;
  /// All levels, faces and layers: a CUmipmappedArray of <cuda.h>, in the same way.
  CUmipmappedArray_st* mipmapped_array() const;

  /// That of the resource; null when the image is not mapped any more, or the handle is empty.
  CUgraphicsResource_st* handle() const noexcept;

  /// Unmaps the image, in the order of the stream that it was mapped on, for all copies. Waits as
  /// GraphicsResource::unmap() does; what fails goes to the log hook. Closing twice does nothing.
  void close();
  /// The same in the order of another stream.
  void close(const Stream& stream);

  /// Whether both stand for the same mapping.
  friend CUPRUM_API bool operator==(const MappedImage& a, const MappedImage& b) noexcept;

 private:
  friend struct detail::Access;
  friend struct std::hash<MappedImage>;
  std::uint64_t identity() const noexcept;
  explicit MappedImage(detail::Shared<detail::MappedImageResource> shared) : shared_(std::move(shared)) {}
  detail::Shared<detail::MappedImageResource> shared_;
};

/// Prints "the mapped image of graphics resource 0x55d0c8a0", or "a closed mapped image".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const MappedImage& image);

/// An object of OpenGL that is registered with CUDA. A cheap handle: copies share one registration, which ends when the
/// last copy goes or at close(), and when nothing is mapped of it any more. Threads may share it.
///
/// Mapping hands the object to CUDA: what OpenGL was told before comes before what is queued then on the stream.
/// Unmapping hands it back: what was queued on the stream comes before what OpenGL is told then. Meanwhile OpenGL must
/// leave it alone.
class CUPRUM_API GraphicsResource {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws WrongState.
  GraphicsResource() = default;

  /// Registers a buffer by OpenGL's name (GLuint), in the context of CUDA that is current. It must have its memory.
  /// Throws DriverError when the driver refuses: there is no such buffer, no OpenGL context is current, or the OpenGL
  /// is none that the driver can share objects with; NotSupported when it has no OpenGL.
  static GraphicsResource from_gl_buffer(unsigned gl_buffer, const GraphicsResourceOptions& options = {});

  /// Registers a texture or a renderbuffer by OpenGL's name (GLuint). `target` is the one that it was made for:
  /// GL_TEXTURE_2D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY or GL_RENDERBUFFER.
  /// Throws as from_gl_buffer() does, and for formats that CUDA does not have: those of three channels, compressed
  /// ones, depths, sRGB; and multisampled images.
  static GraphicsResource from_gl_image(unsigned image, unsigned target, const GraphicsResourceOptions& options = {});

  /// Maps a buffer: its memory as a Buffer, which must not be used after it was unmapped. It is unmapped by unmap(),
  /// when the buffer is closed, or with the last that holds it: this resource, while it is open, is one. A buffer that
  /// goes waits for its stream, as unmap() does, and tells the log hook what fails. Throws WrongState when it is mapped
  /// already, and DriverError for an image.
  Buffer map(const Stream& stream) const;

  /// Maps an image. Throws WrongState when it is mapped already, and DriverError for a buffer.
  MappedImage map_image(const Stream& stream) const;

  /// Unmaps what is mapped, in the order of the stream that it was mapped on, and closes the Buffer or MappedImage,
  /// whatever still holds it. Softgpu, which copies, waits for the stream here; NVIDIA's driver need not. Throws
  /// WrongState when nothing is mapped, and DriverError when the driver refuses, such as without the OpenGL context:
  /// then it is still mapped.
  void unmap() const;
  /// The same in the order of another stream.
  void unmap(const Stream& stream) const;

  /// Whether it is CUDA's now. False for a closed or empty handle.
  bool is_mapped() const noexcept;
  /// Null when it is closed or empty.
  CUgraphicsResource_st* handle() const noexcept;
  /// The same.
  CUgraphicsResource_st* resource_handle() const noexcept { return handle(); }

  /// Unmaps it, if it is mapped, and ends it for all copies; what fails goes to the log hook. Later use throws
  /// WrongState. Closing twice does nothing.
  void close();
  /// The same, unmapping it in the order of another stream.
  void close(const Stream& stream);

  /// Whether both stand for the same registration.
  friend CUPRUM_API bool operator==(const GraphicsResource& a, const GraphicsResource& b) noexcept;

 private:
  friend struct detail::Access;
  friend struct std::hash<GraphicsResource>;
  std::uint64_t identity() const noexcept;
  explicit GraphicsResource(detail::Shared<detail::GraphicsState> shared) : shared_(std::move(shared)) {}
  detail::Shared<detail::GraphicsState> shared_;
};

/// Prints "graphics resource 0x55d0c8a0 on device 0", and whether it is mapped.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const GraphicsResource& resource);

}  // namespace cuprum::inline CUPRUM_ABI

/// By which registration it stands for.
template <>
struct std::hash<cuprum::GraphicsResource> {
  std::size_t operator()(const cuprum::GraphicsResource& resource) const noexcept {
    return std::hash<std::uint64_t>()(resource.identity());
  }
};

/// By which mapping it stands for.
template <>
struct std::hash<cuprum::MappedImage> {
  std::size_t operator()(const cuprum::MappedImage& image) const noexcept {
    return std::hash<std::uint64_t>()(image.identity());
  }
};
