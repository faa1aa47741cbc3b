// Launches that are made again and again.
//
//   PreparedLaunch step = prepare(stream, config, scale, data, 3.0f, n);
//   for (int i = 0; i < 1000; ++i) {
//     step.set<1>(factors[i]);    // the factor; the other arguments stay
//     step();
//   }
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/detail/launch_plan.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/typed_kernel.hpp>
#include <cuprum/untyped_prepared_launch.hpp>
#include <memory>
#include <tuple>
#include <utility>

namespace cuprum::inline CUPRUM_ABI {

namespace detail {

/// One argument.
template <typename Parameter>
class ArgumentSlot {
 public:
  explicit ArgumentSlot(Parameter argument) : value_(std::move(argument)) {}
  const Parameter& value() const { return value_; }

 private:
  Parameter value_;
};

/// A buffer's memory is kept. It is asked for its address at each launch: it may have grown elsewhere.
template <typename T>
class ArgumentSlot<T*> {
 public:
  explicit ArgumentSlot(const PointerArgument<T>& argument) : pointer_(argument.pointer()) {
    memory_ = argument.keep();
    if (!memory_) return;
    offset_ = reinterpret_cast<DevicePointer>(pointer_) - memory_.handle();
  }
  T* value() const { return memory_ ? reinterpret_cast<T*>(memory_.handle() + offset_) : pointer_; }

 private:
  T* pointer_;
  Kept<BufferResource> memory_;
  DevicePointer offset_ = 0;  ///< of a view's first element, from the beginning of the buffer
};

/// A texture or surface is kept.
template <Bindless Object>
class ArgumentSlot<Object> {
 public:
  explicit ArgumentSlot(const Object& object) : object_(BindlessAccess::keep(object)) {}
  BindlessHandle value() const { return object_.handle(); }

 private:
  decltype(BindlessAccess::keep(std::declval<const Object&>())) object_;
};

/// The memory that a tensor map describes is kept.
template <>
class ArgumentSlot<OpaqueTensorMap> {
 public:
  explicit ArgumentSlot(const TensorMapArgument& argument) : map_(argument.map()), memory_(argument.keep()) {}
  const OpaqueTensorMap& value() const { return map_; }

 private:
  OpaqueTensorMap map_;
  Kept<BufferResource> memory_;
};

template <typename Queue, typename... Values>
void launch_plan_values(const Queue& stream, const LaunchPlan& plan, const Values&... values) {
  void* addresses[] = {argument_address(values)..., nullptr};
  launch(stream, plan, addresses);
}

template <std::size_t I, typename... Parameters>
struct NthParameter {
  static_assert(I < sizeof...(Parameters), "the kernel has no argument of this number; they are counted from 0");
  using Type = std::tuple_element_t<I, std::tuple<Parameters...>>;
};

}  // namespace detail

/// A launch whose kernel, configuration and arguments were looked up and checked once. Launching it costs what the
/// driver's own call costs; an argument is written only when it changes. Made by prepare().
///
/// Keeps alive: the kernel, the stream, and the textures, the surfaces and the memory of the buffers and tensor maps
/// among its arguments, whether or not they are closed later: it works as before then, and the stream is released and
/// the memory freed when no prepared launch has them any more. It does so as long as it exists or until another
/// argument is set, not until the kernel has run. Memory that is named by a pointer or a std::span is the caller's
/// business.
///
/// A copy has arguments of its own and shares the rest. Threads may launch one object at the same time; changing it
/// must not run beside any other use.
template <typename... Parameters>
class PreparedLaunch {
 public:
  /// Use prepare(), which finds out the parameter types.
  PreparedLaunch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                 const detail::ArgumentSize* sizes, detail::TypedArgumentOf<Parameters>... arguments)
      : plan_(detail::make_plan(stream, config, kernel, sizes, sizeof...(Parameters))),
        stream_(stream),
        queue_(detail::keep_queue(stream)),
        slots_(detail::ArgumentSlot<Parameters>(std::move(arguments))...) {}

  /// Queues the kernel on the stream that it was prepared for. Throws DriverError when the driver refuses it.
  void operator()() const { launch_on(queue_); }

  /// The same on another stream, and InvalidArgument when that is closed. A default stream, or one of another context
  /// or device, works too, but then everything is looked up and checked again, as by launch().
  void operator()(const Stream& stream) const { launch_on(detail::keep_queue(stream)); }

  /// The same on the stream that an object of another library offers, which is needed only during the call.
  template <IsStreamType Foreign>
  void operator()(const Foreign& stream) const {
    launch_on(detail::offered_stream(stream));
  }

  /// Sets argument number I, counted from 0, for the launches from now on; those that are queued keep theirs. For a
  /// pointer pass a Buffer, a pointer, nullptr or a std::span of device memory.
  template <std::size_t I>
  void set(detail::TypedArgumentOf<typename detail::NthParameter<I, Parameters...>::Type> argument) {
    using Parameter = typename detail::NthParameter<I, Parameters...>::Type;
    std::get<I>(slots_) = detail::ArgumentSlot<Parameter>(std::move(argument));
  }

  /// Replaces the configuration, which is checked as by launch(); after an exception the old one is still there.
  void set_config(const LaunchConfig& config) {
    plan_ = detail::make_plan(queue_, config, kernel(), nullptr, sizeof...(Parameters));
  }

  /// As prepare() or set_config() was given it. Valid until the next set_config().
  const LaunchConfig& config() const { return detail::config_of(detail::plan_of(plan_)); }
  /// The one that it launches.
  const Kernel& kernel() const { return detail::kernel_of(detail::plan_of(plan_)); }
  /// The one that it was prepared for.
  const Stream& stream() const { return stream_; }

 private:
  template <typename Queue>
  void launch_on(const Queue& queue) const {
    const detail::LaunchPlan& plan = detail::plan_of(plan_);
    std::apply([&](const auto&... slot) { detail::launch_plan_values(queue, plan, slot.value()...); }, slots_);
  }

  std::shared_ptr<const detail::LaunchPlan> plan_;
  Stream stream_;
  detail::Kept<detail::StreamResource> queue_;
  std::tuple<detail::ArgumentSlot<Parameters>...> slots_;
};

/// Prepares what launch() with the same arguments does, with the same checks, and throws as that does. The types of the
/// arguments stay as they are here: set() converts to them. For an argument that is a Buffer or nullptr now, any
/// buffer and any pointer can be set.
template <typename... Arguments>
PreparedLaunch<typename detail::ParameterFor<Arguments>::Type...> prepare(const Stream& stream,
                                                                          const LaunchConfig& config,
                                                                          const Kernel& kernel,
                                                                          const Arguments&... arguments) {
  (detail::check_argument_type<typename detail::ParameterFor<Arguments>::Type>(), ...);
  static constexpr detail::ArgumentSize sizes[] = {
      detail::parameter_size<typename detail::ParameterFor<Arguments>::Type>..., 0};
  return {stream, config, kernel, sizes, arguments...};
}

/// The same for a kernel whose parameter types are known.
template <typename... Parameters>
PreparedLaunch<Parameters...> prepare(const Stream& stream, const LaunchConfig& config,
                                      const TypedKernel<void(Parameters...)>& kernel,
                                      std::type_identity_t<detail::TypedArgumentOf<Parameters>>... arguments) {
  return {stream, config, kernel.kernel(), nullptr, std::move(arguments)...};
}

}  // namespace cuprum::inline CUPRUM_ABI
