// How C++ values become kernel arguments: as their bytes, after buffers and the like were turned into addresses.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/opaque_tensor_map.hpp>
#include <memory>
#include <span>
#include <type_traits>

namespace cuprum::inline CUPRUM_ABI {
class StridedMemoryView;
class TensorMapDescriptor;
}  // namespace cuprum::inline CUPRUM_ABI
namespace cuprum::inline CUPRUM_ABI::texture {
class SurfaceObject;
class TextureObject;
}  // namespace cuprum::inline CUPRUM_ABI::texture

namespace cuprum::inline CUPRUM_ABI::detail {

/// A view of memory, which is passed as the address of its first element. It need not be complete where this is read.
template <typename T>
concept View = std::same_as<T, StridedMemoryView>;

/// A tensor map, which is passed as its bytes. It need not be complete, either.
template <typename T>
concept TensorMap = std::same_as<T, TensorMapDescriptor>;

/// What a view or a tensor map keeps.
struct MemoryOf {
  template <View Elements>
  static const Kept<BufferResource>& view(const Elements& elements) {
    return elements.memory_;
  }
  template <TensorMap Map>
  static const Kept<BufferResource>& tensor_map(const Map& map) {
    return view(map.view());
  }
};

/// A texture or surface, which is passed as its handle. It need not be complete where this is read.
template <typename T>
concept Bindless = std::same_as<T, texture::TextureObject> || std::same_as<T, texture::SurfaceObject>;

/// What a kernel knows a texture or surface by.
using BindlessHandle = std::uint64_t;

struct BindlessAccess {
  /// Throws InvalidArgument when it is closed or empty.
  template <Bindless Object>
  static auto keep(const Object& object) {
    SharedState* state = object.shared_.get();
    if (!state || !state->try_keep()) [[unlikely]]
      object.refuse();
    return kept(object.shared_, state);
  }
  /// The same without keeping it.
  template <Bindless Object>
  static BindlessHandle handle(const Object& object) {
    const SharedState* state = object.shared_.get();
    if (!state || state->is_closed()) [[unlikely]]
      object.refuse();
    return state->kept_handle();
  }

 private:
  template <typename Resource>
  static Kept<Resource> kept(const Shared<Resource>&, SharedState* counted) {
    return Kept<Resource>(counted);
  }
};

/// Memory without bytes that keeps a texture or surface: for graphs, which keep memory.
CUPRUM_API Kept<BufferResource> keep_as_memory(const texture::TextureObject& texture);
CUPRUM_API Kept<BufferResource> keep_as_memory(const texture::SurfaceObject& surface);

/// Stops the compilation, with a reason, at what a kernel can't take by value.
template <typename T>
constexpr void check_argument_type() {
  static_assert(!std::is_array_v<T>,
                "a kernel can't take an array: pass a Buffer or a pointer to device memory, or a struct that holds it");
  static_assert(!std::is_function_v<std::remove_pointer_t<T>> && !std::is_member_pointer_v<T>,
                "the address of a host function means nothing on a device: it can't be a kernel argument");
  static_assert(!std::is_same_v<T, long double>, "devices have no long double: pass a float or a double");
  static_assert(Bindless<T> || std::is_trivially_copyable_v<T>,
                "a kernel argument is copied byte by byte: pass a Buffer, a pointer, a number or a plain struct");
}

/// The value whose bytes are passed for an argument.
template <typename T>
decltype(auto) argument_value(const T& argument) {
  if constexpr (std::derived_from<T, Buffer>) {
    return address_of(argument);
  } else if constexpr (View<T>) {
    return argument.ptr();
  } else if constexpr (Bindless<T>) {
    return BindlessAccess::handle(argument);
  } else if constexpr (TensorMap<T>) {
    return argument.opaque();  // a reference
  } else if constexpr (std::is_null_pointer_v<T>) {
    return DevicePointer{0};  // an object of its type need not hold zeros
  } else if constexpr (is_span<T>) {
    return argument.data();
  } else {
    check_argument_type<T>();
    return (argument);
  }
}

/// The address of a buffer's memory, which stays as long as this does, also when another thread closes the buffer.
struct KeptAddress {
  Kept<BufferResource> memory;
  DevicePointer address = memory.handle();
};

/// The handle of a texture or surface, which stays as long as this does.
template <typename Resource>
struct KeptHandle {
  explicit KeptHandle(Kept<Resource> the_object) : object(std::move(the_object)) {}
  Kept<Resource> object;
  BindlessHandle handle = object.handle();
};

/// The same for what is passed before the call returns: of a buffer with its memory, of a texture with itself.
template <typename T>
decltype(auto) launch_value(const T& argument) {
  if constexpr (std::derived_from<T, Buffer>) {
    return KeptAddress{keep_memory(argument)};
  } else if constexpr (Bindless<T>) {
    return KeptHandle(BindlessAccess::keep(argument));
  } else {
    return argument_value(argument);
  }
}

inline void* argument_address(const KeptAddress& kept) { return const_cast<DevicePointer*>(&kept.address); }
template <typename Resource>
void* argument_address(const KeptHandle<Resource>& kept) {
  return const_cast<BindlessHandle*>(&kept.handle);
}
template <typename T>
void* argument_address(const T& value) {
  return const_cast<void*>(static_cast<const volatile void*>(std::addressof(value)));
}

/// Of an argument. Narrow: all those of a launch are read each time, and few cache lines are as good as none.
using ArgumentSize = unsigned;

/// What the kernel gets of a value.
template <typename T>
inline constexpr ArgumentSize argument_size = std::is_same_v<T, KeptAddress> ? sizeof(DevicePointer) : sizeof(T);
template <typename Resource>
inline constexpr ArgumentSize argument_size<KeptHandle<Resource>> = sizeof(BindlessHandle);

/// Of a parameter that is named by a C++ type.
template <typename T>
inline constexpr ArgumentSize parameter_size = sizeof(T);
template <Bindless T>
inline constexpr ArgumentSize parameter_size<T> = sizeof(BindlessHandle);

/// What a launch hands to the library. Sizes are null when they were compared with the kernel's parameters before; the
/// count is compared always.
struct ArgumentList {
  void** addresses;
  const ArgumentSize* sizes;
  std::size_t count;
};

/// What a launch takes for a parameter T* of a typed kernel: a T* or what converts to it, nullptr, a std::span of
/// device memory, or a Buffer.
template <typename T>
class PointerArgument {
 public:
  PointerArgument(std::nullptr_t) {}

  template <typename Pointer>
    requires(std::is_pointer_v<Pointer> && std::convertible_to<Pointer, T*>)
  PointerArgument(const Pointer& pointer) : pointer_(pointer) {}

  template <typename Element, std::size_t Extent>
    requires std::convertible_to<Element*, T*>
  PointerArgument(std::span<Element, Extent> elements) : pointer_(elements.data()) {}

  PointerArgument(const Buffer& buffer)
      : kept_(keep_memory(buffer)), pointer_(reinterpret_cast<T*>(static_cast<std::uintptr_t>(kept_.handle()))) {}

  /// Throws InvalidArgument when the elements are of another type than T, or read-only and T isn't const.
  template <View Elements>
  PointerArgument(const Elements& view)
      : pointer_(static_cast<T*>(view.template device_address<T>())), memory_(&MemoryOf::view(view)) {}

  template <typename Element, std::size_t Extent>
  PointerArgument(Element (&)[Extent]) = delete;  // an array is the host's memory

  T* pointer() const { return pointer_; }
  /// Keeps the memory that the pointer comes from, if that is a buffer's.
  Kept<BufferResource> keep() const { return memory_ ? *memory_ : kept_; }

 private:
  Kept<BufferResource> kept_ = {};  ///< of a buffer, which another thread may close meanwhile
  T* pointer_ = nullptr;
  const Kept<BufferResource>* memory_ = nullptr;  ///< of a view
};

/// What a launch takes for a tensor map among the parameters of a typed kernel: a TensorMapDescriptor, or its bytes.
/// Refers to what it is made of.
class TensorMapArgument {
 public:
  TensorMapArgument(const OpaqueTensorMap& map) : map_(&map) {}
  template <TensorMap Map>
  TensorMapArgument(const Map& map) : map_(&map.opaque()), memory_(&MemoryOf::tensor_map(map)) {}

  const OpaqueTensorMap& map() const { return *map_; }
  /// Keeps the memory that it describes, if that is known.
  Kept<BufferResource> keep() const { return memory_ ? *memory_ : Kept<BufferResource>{}; }

 private:
  const OpaqueTensorMap* map_;
  const Kept<BufferResource>* memory_ = nullptr;
};

/// What a launch takes for a parameter of a typed kernel. Numbers convert as in a call of a function.
template <typename Parameter>
struct TypedArgument {
  using Type = Parameter;
};
template <typename T>
struct TypedArgument<T*> {
  using Type = PointerArgument<T>;
};
template <>
struct TypedArgument<OpaqueTensorMap> {
  using Type = TensorMapArgument;
};
template <typename Parameter>
using TypedArgumentOf = typename TypedArgument<Parameter>::Type;

template <typename T>
const T& typed_value(const T& argument) {
  return argument;
}
template <Bindless T>
auto typed_value(const T& argument) {
  return KeptHandle(BindlessAccess::keep(argument));
}
template <typename T>
T* typed_value(const PointerArgument<T>& argument) {
  return argument.pointer();
}
inline const OpaqueTensorMap& typed_value(const TensorMapArgument& argument) { return argument.map(); }

/// The parameter type that a launch is prepared with for an argument of type T.
template <typename T>
struct ParameterFor {
  using Type = T;
};
template <typename T>
  requires(std::derived_from<T, Buffer> || std::is_null_pointer_v<T> || View<T>)
struct ParameterFor<T> {
  using Type = const void*;  // which any buffer and any pointer can replace
};
template <TensorMap T>
struct ParameterFor<T> {
  using Type = OpaqueTensorMap;
};
template <typename T, std::size_t Extent>
struct ParameterFor<std::span<T, Extent>> {
  using Type = T*;
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
