// Devices: where everything starts.
//
//   Device device;           // the current one, or device 0
//   device.set_current();
//   Stream stream = device.create_stream();
//   Buffer data = device.allocate(4096, stream);
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device_properties.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/event.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/uuid.hpp>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::texture {
class MipmappedArray;
class OpaqueArray;
class ResourceDescriptor;
class SurfaceObject;
class TextureObject;
struct MipmappedArrayOptions;
struct OpaqueArrayOptions;
struct TextureObjectOptions;
}  // namespace cuprum::inline CUPRUM_ABI::texture

namespace cuprum::inline CUPRUM_ABI {

/// What a device's multiprocessors can do, as two numbers: 9.0 for an H100. Later ones compare greater.
struct ComputeCapability {
  int major;  ///< the generation
  int minor;  ///< the variant of it
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

/// A number that stands for a device; copying is free and threads may share it.
///
/// What needs a CUDA context uses the one that is current on the calling thread if it belongs to this device, else the
/// device's primary context. So set_current() is needed only by code that calls CUDA by itself, and to say which device
/// `Device()` and `Program::compile` mean.
class CUPRUM_API Device {
 public:
  /// The device whose context is current on this thread, else device 0. Opens no driver.
  Device();

  /// Throws InvalidArgument when there is no device of that number.
  explicit Device(int device_id);

  /// By increasing number; empty when the driver shows none. Throws NotSupported when there is no driver.
  static std::vector<Device> all();
  /// How many there are, 0 included. Throws NotSupported when there is no driver.
  static int count();

  /// Its number: 0 to count() - 1.
  int device_id() const { return device_id_; }
  /// As the driver gives it: "NVIDIA H200".
  std::string name() const;
  /// Prints as "GPU-…" of NVIDIA's tools does, without the prefix.
  Uuid uuid() const;
  /// As "0000:65:00.0".
  std::string pci_bus_id() const;
  /// 9.0 for softgpu, unless it is configured otherwise.
  ComputeCapability compute_capability() const;
  /// The compute capability as compilers write it after "sm_": "90".
  std::string arch() const;
  /// The attributes; see DeviceProperties.
  DeviceProperties properties() const { return DeviceProperties(device_id_); }
  /// Whether kernels of this device can be given access to the memory of `peer`; true for the device itself.
  bool can_access_peer(const Device& peer) const;

  /// Makes the device's primary context current on the calling thread, and returns what was. When somebody has reset
  /// the primary context, this is what makes the device usable again.
  std::optional<Context> set_current() const;

  /// The same with a context of this device, which the thread keeps until it makes another one current in this way.
  /// Throws InvalidArgument for a context of another device.
  std::optional<Context> set_current(const Context& context) const;

  /// The context that functions of this device use on this thread: see above.
  Context context() const;

  /// All that the device has: what green contexts are made of.
  DeviceResources resources() const;

  /// A new context; it does not become current. Throws InvalidArgument for resources of another device, for the result
  /// of a trial, and for options that a green context can't have; NotSupported for resources that the driver doesn't
  /// know.
  Context create_context(const ContextOptions& options = {}) const;

  /// Blocks until all work of the device's context is done. Throws DriverError when some of it failed.
  void sync() const;

  /// Throws InvalidArgument when the priority is outside what the device has.
  Stream create_stream(const StreamOptions& options = {}) const;

  /// Wraps the stream of a foreign object, as Stream::from_foreign does. Throws InvalidArgument when the stream is
  /// another device's.
  template <IsStreamType Foreign>
  Stream create_stream(Foreign&& object) const {
    return checked(Stream::from_foreign(std::forward<Foreign>(object)));
  }

  /// A builder of graphs with a stream of its own: see <cuprum/graph/builder.hpp>.
  graph::GraphBuilder create_graph_builder() const;

  /// An event that is yet to be recorded. Throws InvalidArgument when it is to be shared between processes:
  /// Stream::record makes those.
  Event create_event(const EventOptions& options = {}) const;

  /// The default stream of this device that cuprum::default_stream() means: at each use, that of context().
  Stream default_stream() const;

  /// `size` bytes from memory_resource(); see MemoryResource::allocate.
  Buffer allocate(std::size_t size, const Stream& stream) const;

  /// The same for `count` objects of type T: allocate<float>(1024, stream).
  template <typename T>
  Buffer allocate(std::size_t count, const Stream& stream) const {
    return allocate(detail::size_in_bytes(count, sizeof(T)), stream);
  }

  /// What allocate() draws on: a DeviceMemoryResource unless another was set. The setting is the process's.
  MemoryResource memory_resource() const;
  /// Makes allocate() draw on `resource`, on all threads, and keeps it until another is set. Buffers that are there
  /// already stay what they are.
  void set_memory_resource(const MemoryResource& resource) const;

  /// An array of texels: see <cuprum/texture/opaque_array.hpp>. What is in it is not defined yet. Throws
  /// InvalidArgument for options that make no array, or one that is larger than the device has.
  texture::OpaqueArray create_opaque_array(const texture::OpaqueArrayOptions& options) const;
  /// The same in several levels of detail: see <cuprum/texture/mipmapped_array.hpp>.
  texture::MipmappedArray create_mipmapped_array(const texture::MipmappedArrayOptions& options) const;

  /// A texture of what `resource` describes: see <cuprum/texture/texture_object.hpp>. Throws InvalidArgument for an
  /// array of another device, for memory that is not aligned or larger than the device has for textures, and for
  /// options that don't go with the format.
  texture::TextureObject create_texture_object(const texture::ResourceDescriptor& resource,
                                               const texture::TextureObjectOptions& options) const;
  /// The same, clamped at the edges, without a filter, by coordinates in texels.
  texture::TextureObject create_texture_object(const texture::ResourceDescriptor& resource) const;
  /// A surface of the array that `resource` describes: see <cuprum/texture/surface_object.hpp>. Throws InvalidArgument
  /// unless that is an OpaqueArray of this device which is_surface_load_store().
  texture::SurfaceObject create_surface_object(const texture::ResourceDescriptor& resource) const;

  friend bool operator==(const Device&, const Device&) = default;

 private:
  friend struct detail::Access;
  struct Unchecked {};
  Device(int device_id, Unchecked) : device_id_(device_id) {}
  Stream checked(Stream stream) const;
  int device_id_;
};

/// Prints "device 0 (NVIDIA H200)".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Device& device);

}  // namespace cuprum::inline CUPRUM_ABI

/// By number, as devices are compared.
template <>
struct std::hash<cuprum::Device> {
  std::size_t operator()(const cuprum::Device& device) const noexcept { return std::hash<int>()(device.device_id()); }
};
