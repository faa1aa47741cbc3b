// Launching kernels.
//
//   launch(stream, {.grid = ceil_div(n, 256), .block = 256}, scale, data, 3.0f, n);
//
// Arguments are passed by value and must have the types of the kernel's parameters: their number and sizes are compared
// with what the kernel declares before anything is queued.
//
//   for a parameter      pass
//   T*                   a Buffer, a T*, nullptr, a std::span of device memory or a StridedMemoryView (the address of
//   its
//                        first element; sizes and strides are not passed on)
//   a number, an enum    a value of exactly that type: 1.0f for a float, std::size_t{1} for a size_t
//   half, bfloat16       __half, __nv_bfloat16 of NVIDIA's headers, _Float16, or any type of two bytes with these bits
//   complex<T>           std::complex<T>, or a struct of two T
//   cudaTextureObject_t  a texture::TextureObject; cudaSurfaceObject_t: a texture::SurfaceObject
//   a struct             a trivially copyable struct of the same layout: members of the same types in the same order
//                        and, where they have one, the same alignas; only the size is compared
//   CUtensorMap          a TensorMapDescriptor
//
// Arrays, references to objects with constructors and host functions are refused by the compiler. Where the arguments
// are known only at run time, pass KernelArguments: addresses and sizes. TypedKernel
// (<cuprum/typed_kernel.hpp>) lets the compiler check all types, PreparedLaunch (<cuprum/prepared_launch.hpp>) repeats
// a launch with less work.
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>
#include <span>

namespace cuprum::inline CUPRUM_ABI {

/// Arguments that a program learns of only at run time, such as one that launches kernels for an interpreter: where the
/// values are and how many bytes each has. Refers to both arrays and to the values; what uses it reads them before it
/// returns, and keeps nothing.
///
///   const void* addresses[] = {&pointer, &factor};
///   const std::size_t sizes[] = {sizeof pointer, sizeof factor};
///   launch(stream, config, kernel, KernelArguments{addresses, sizes});
struct KernelArguments {
  std::span<const void* const> addresses = {};  ///< of the values, in the order of the parameters
  std::span<const std::size_t> sizes = {};      ///< of the values, in bytes; as many
  /// Those among them that are memory, for a graph to keep; a launch on a stream does not look at them.
  std::span<const Buffer> buffers = {};
};

namespace detail {

CUPRUM_API void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                       const ArgumentList& arguments);

/// On a stream that is somebody else's; nothing of it is kept.
CUPRUM_API void launch(CUstream_st* stream, const LaunchConfig& config, const Kernel& kernel,
                       const ArgumentList& arguments);
CUPRUM_API void launch(CUstream_st* stream, const LaunchConfig& config, const Kernel& kernel,
                       const KernelArguments& arguments);

template <typename Queue, typename... Values>
void launch_values(const Queue& stream, const LaunchConfig& config, const Kernel& kernel, const Values&... values) {
  void* addresses[] = {argument_address(values)..., nullptr};
  static constexpr ArgumentSize sizes[] = {argument_size<Values>..., 0};
  launch(stream, config, kernel, {addresses, sizes, sizeof...(Values)});
}

}  // namespace detail

/// Queues the kernel on the stream and returns. What the arguments point to must stay valid until it has run; the
/// kernel and the arguments themselves need not. Buffers are kept until it is queued, also when another thread closes
/// them meanwhile. Throws InvalidArgument for arguments or a shape that the kernel or the
/// device can't take, and NotSupported for a kind of launch that the device doesn't have; nothing is queued then.
/// Threads may launch at the same time, also on one stream.
template <typename... Arguments>
void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, const Arguments&... arguments) {
  detail::launch_values(stream, config, kernel, detail::launch_value(arguments)...);
}

/// The same with arguments known at run time. Their number and sizes are compared with what the kernel declares, where
/// the driver tells that (see Kernel::known_arguments_info). Throws InvalidArgument, too, when there are not as many
/// addresses as sizes, and when an address is null. Allocates nothing.
CUPRUM_API void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                       const KernelArguments& arguments);

/// The same two on the stream that an object of another library offers, which is needed only during the call. The
/// driver is asked which context it is in at a thread's first launch on it; a thread remembers that of a few streams.
template <IsStreamType Foreign, typename... Arguments>
void launch(const Foreign& stream, const LaunchConfig& config, const Kernel& kernel, const Arguments&... arguments) {
  detail::launch_values(detail::offered_stream(stream), config, kernel, detail::launch_value(arguments)...);
}
/// The second of them.
template <IsStreamType Foreign>
void launch(const Foreign& stream, const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) {
  detail::launch(detail::offered_stream(stream), config, kernel, arguments);
}

}  // namespace cuprum::inline CUPRUM_ABI
