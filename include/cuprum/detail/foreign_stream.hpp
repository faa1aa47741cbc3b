// Getting a CUDA stream out of objects of other libraries: the template side of cuprum::IsStreamType.
#pragma once

#include <concepts>
#include <cuprum/detail/cuda_handles.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace cuprum::inline CUPRUM_ABI::detail {

/// Objects that are a stream themselves. `nullptr` and 0 are no streams: name a default stream instead.
template <typename T>
concept StreamItself = !std::same_as<std::remove_cvref_t<T>, std::nullptr_t> && requires(const T& object) {
  requires requires {
    { object.cuda_stream() } -> std::convertible_to<CUstream_st*>;
  } || std::convertible_to<const T&, CUstream_st*> || requires {
    { object.stream() } -> std::convertible_to<CUstream_st*>;
  } || requires {
    { object.handle() } -> std::convertible_to<CUstream_st*>;
  } || requires {
    { object.value() } -> std::convertible_to<CUstream_st*>;
  } || requires {
    { object.get() } -> std::convertible_to<CUstream_st*>;
  };
};

/// Those, and owning pointers to them.
template <typename T>
concept OffersStream = StreamItself<std::remove_cvref_t<T>> || requires(const std::remove_cvref_t<T>& pointer) {
  requires std::is_class_v<std::remove_cvref_t<T>>;
  requires StreamItself<std::remove_cvref_t<decltype(*pointer)>>;
};

template <OffersStream T>
CUstream_st* offered_stream(const T& object) {
  if constexpr (!StreamItself<T>) {
    return offered_stream(*object);
  } else if constexpr (requires { object.cuda_stream(); }) {
    return object.cuda_stream();
  } else if constexpr (std::convertible_to<const T&, CUstream_st*>) {
    return object;
  } else if constexpr (requires { object.stream(); }) {
    return object.stream();
  } else if constexpr (requires { object.handle(); }) {
    return object.handle();
  } else if constexpr (requires { object.value(); }) {
    return object.value();
  } else {
    return object.get();
  }
}

template <typename T>
std::shared_ptr<const void> keep_foreign(T&& object) {
  using Kept = std::remove_cvref_t<T>;
  static_assert(
      std::constructible_from<Kept, T&&>,
      "the stream keeps the object alive, which can't be copied: move it in, or pass a std::shared_ptr to it");
  if constexpr (std::is_pointer_v<Kept>) {
    return {};  // a raw CUstream owns nothing
  } else if constexpr (std::convertible_to<Kept, std::shared_ptr<const void>>) {
    return std::forward<T>(object);
  } else {
    return std::make_shared<const Kept>(std::forward<T>(object));
  }
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
