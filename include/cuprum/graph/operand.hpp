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
  Operand(const Buffer& buffer) : address_(buffer.handle()), buffer_(buffer), is_buffer_(true) {}
  Operand(DevicePointer address, std::shared_ptr<const void> owner = {})
      : address_(address), owner_(std::move(owner)) {}
  template <typename T>
    requires(std::is_object_v<T> || std::is_void_v<T>)
  Operand(T* address, std::shared_ptr<const void> owner = {})
      : Operand(reinterpret_cast<DevicePointer>(address), std::move(owner)) {}

  DevicePointer address() const { return address_; }
  bool buffer_is_given() const { return is_buffer_; }
  const Buffer& buffer() const { return buffer_; }  ///< an empty handle when it is an address
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  DevicePointer address_;
  Buffer buffer_;
  bool is_buffer_ = false;
  std::shared_ptr<const void> owner_;
};

/// What a copy in two or three dimensions covers. Rows of a side follow each other at its pitch, slices at its pitch
/// times its height; 0 stands for no gaps.
struct CopyExtent {
  std::size_t width = 0;  ///< bytes of a row
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t dst_pitch = 0;
  std::size_t src_pitch = 0;
  std::size_t dst_height = 0;
  std::size_t src_height = 0;

  friend bool operator==(const CopyExtent&, const CopyExtent&) = default;
};

}  // namespace cuprum::inline CUPRUM_ABI::graph
