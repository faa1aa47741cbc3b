// Kernels whose launches the compiler checks.
//
//   TypedKernel<void(float*, float, std::size_t)> scale(code.get_kernel("scale"));
//   launch(stream, config, scale, data, 3, n);          // converts as a call of a function does: 3 is passed as 3.0f
//   launch(stream, config, scale, data, "three", n);    // does not compile
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace cuprum::inline CUPRUM_ABI {

namespace detail {

/// Throws InvalidArgument when the kernel declares other parameters than such of these sizes.
CUPRUM_API void check_signature(const Kernel& kernel, const ArgumentSize* sizes, std::size_t count);

/// Stops the compilation at what is no type of a kernel's parameter.
template <typename Parameter>
constexpr void check_parameter_type() {
  static_assert(!std::is_reference_v<Parameter>, "a kernel has no reference parameters: name a pointer or a value");
  static_assert(!std::derived_from<Parameter, Buffer> && !is_span<Parameter>,
                "a kernel takes an address, not a Buffer or a std::span: name the pointer type, such as float*");
  check_argument_type<Parameter>();
}

}  // namespace detail

/// Only for types such as void(float*, int); others do not compile.
template <typename Signature>
class TypedKernel {
  static_assert(!std::is_same_v<Signature, Signature>,
                "name the kernel's parameters as a function type that returns void: TypedKernel<void(float*, int)>");
};

/// A kernel of known parameter types. A cheap handle, as Kernel is; threads may share it. A texture or surface is named
/// by the class of its handle: TypedKernel<void(texture::TextureObject, float*)>.
template <typename... Parameters>
class TypedKernel<void(Parameters...)> {
 public:
  /// Compares the number and the sizes of the parameters with those that the kernel declares and throws InvalidArgument
  /// when they differ; drivers older than CUDA 12.4 don't tell, and then nothing is compared. The types themselves
  /// can't be: an int in place of a float goes unnoticed.
  explicit TypedKernel(Kernel kernel) : kernel_(std::move(kernel)) {
    (detail::check_parameter_type<Parameters>(), ...);
    static constexpr detail::ArgumentSize sizes[] = {detail::parameter_size<Parameters>..., 0};
    detail::check_signature(kernel_, sizes, sizeof...(Parameters));
  }

  /// The kernel without the types.
  const Kernel& kernel() const { return kernel_; }

  /// By the kernel; the types are those of the class.
  friend bool operator==(const TypedKernel& a, const TypedKernel& b) { return a.kernel_ == b.kernel_; }

 private:
  Kernel kernel_;
};

namespace detail {

template <typename Queue, typename... Values>
void launch_checked_values(const Queue& stream, const LaunchConfig& config, const Kernel& kernel,
                           const Values&... values) {
  void* addresses[] = {argument_address(values)..., nullptr};
  launch(stream, config, kernel, {addresses, nullptr, sizeof...(Values)});
}

}  // namespace detail

/// As launch() of a Kernel, with arguments that convert to the kernel's parameters. For a pointer T* pass a Buffer, a
/// T*, nullptr or a std::span of device memory.
template <typename... Parameters>
void launch(const Stream& stream, const LaunchConfig& config, const TypedKernel<void(Parameters...)>& kernel,
            std::type_identity_t<detail::TypedArgumentOf<Parameters>>... arguments) {
  detail::launch_checked_values(stream, config, kernel.kernel(), detail::typed_value(arguments)...);
}

/// The same on the stream that an object of another library offers.
template <IsStreamType Foreign, typename... Parameters>
void launch(const Foreign& stream, const LaunchConfig& config, const TypedKernel<void(Parameters...)>& kernel,
            std::type_identity_t<detail::TypedArgumentOf<Parameters>>... arguments) {
  detail::launch_checked_values(detail::offered_stream(stream), config, kernel.kernel(),
                                detail::typed_value(arguments)...);
}

}  // namespace cuprum::inline CUPRUM_ABI
