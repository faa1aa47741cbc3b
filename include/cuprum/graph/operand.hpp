// Memory that nodes of a graph read and write.
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace cuprum::inline CUPRUM_ABI::graph {

/// Where a copy or a fill of a graph begins: a Buffer, which the graph then keeps, or an address, which is the caller's
/// to keep valid as long as the graph can run. An owner that comes with an address is kept as a buffer is.
class Operand {
 public:
  /// From its beginning. Throws InvalidArgument for a closed buffer.
  Operand(const Buffer& buffer)
      : memory_(cuprum::detail::keep_memory(buffer)), address_(memory_.handle()), buffer_(buffer) {}
  /// Memory of a device, or of the host, by its number.
  Operand(DevicePointer address, std::shared_ptr<const void> owner = {})
      : address_(address), owner_(std::move(owner)) {}
  /// The same by a pointer.
  template <typename T>
    requires(std::is_object_v<T> || std::is_void_v<T>)
  Operand(T* address, std::shared_ptr<const void> owner = {})
      : Operand(reinterpret_cast<DevicePointer>(address), std::move(owner)) {}

  DevicePointer address() const { return address_; }                   ///< where it begins
  bool buffer_is_given() const { return static_cast<bool>(memory_); }  ///< whether it is a buffer, and no address
  const Buffer& buffer() const { return buffer_; }                     ///< an empty handle when it is an address
  const std::shared_ptr<const void>& owner() const { return owner_; }  ///< null when none was given
  /// Of the buffer; for the library.
  const cuprum::detail::Kept<cuprum::detail::BufferResource>& memory() const { return memory_; }

 private:
  cuprum::detail::Kept<cuprum::detail::BufferResource> memory_;  ///< of the buffer, also when that is closed
  DevicePointer address_;
  Buffer buffer_;
  std::shared_ptr<const void> owner_;
};

/// What a copy in two or three dimensions covers. Rows of a side follow each other at its pitch, slices at its pitch
/// times its height; 0 stands for no gaps.
struct CopyExtent {
  std::size_t width = 0;       ///< bytes of a row
  std::size_t height = 1;      ///< rows of a slice
  std::size_t depth = 1;       ///< slices
  std::size_t dst_pitch = 0;   ///< bytes from one row of the destination to the next
  std::size_t src_pitch = 0;   ///< the same of the source
  std::size_t dst_height = 0;  ///< rows from one slice of the destination to the next
  std::size_t src_height = 0;  ///< the same of the source

  friend bool operator==(const CopyExtent&, const CopyExtent&) = default;
};

}  // namespace cuprum::inline CUPRUM_ABI::graph
