// Views of memory as multi-dimensional arrays.
//
//   Buffer buffer = device.allocate(4 * 6 * sizeof(float), stream);
//   auto matrix = StridedMemoryView::from_buffer<float>(buffer, {4, 6});
//   StridedMemoryView column = matrix.sliced({Slice{}, 2});        // the same memory
//   column.copy_from(StridedMemoryView::from_span(std::span(values)), stream);
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuprum/buffer.hpp>
#include <cuprum/data_type.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/strided_layout.hpp>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace cuprum::inline CUPRUM_ABI {

class Stream;
class TensorMapDescriptor;
struct TensorMapDescriptorOptions;

namespace detail {
struct MemoryOf;
struct ViewMaker;
}  // namespace detail

/// Who can reach memory.
enum class MemoryKind {
  host,    ///< the host only
  device,  ///< a device only
  pinned,  ///< page-locked host memory: the host and all devices
  managed  ///< memory that moves between the host and the devices
};

/// What is known of the elements of a view.
struct StridedMemoryViewOptions {
  std::optional<DataType> dtype = {};  ///< must be of the layout's itemsize; without it elements are just bytes
  bool is_readonly = false;            ///< nothing writes to the memory through the view
};

/// How StridedMemoryView::copy_from and copy_to copy.
struct StridedCopyOptions {
  /// Whether the call waits until the copy is done. Unless given: not between two views of device memory, else yes.
  std::optional<bool> blocking = {};
};

/// Typed access to the elements of a view in host-accessible memory, for a number of axes that is known in advance:
/// what std::mdspan is in C++23. As free to copy as a pointer; keeps nothing alive.
template <typename T, std::size_t Rank>
class StridedSpan {
 public:
  /// `first` is the element at index (0, 0, …); strides are in elements.
  StridedSpan(T* first, const std::array<std::int64_t, Rank>& shape, const std::array<std::int64_t, Rank>& strides)
      : first_(first), shape_(shape), strides_(strides) {}

  /// The element at an index, which must be inside the shape.
  template <std::integral... Index>
    requires(sizeof...(Index) == Rank)
  T& operator()(Index... index) const {
    std::size_t axis = 0;
    std::int64_t offset = 0;
    ((offset += static_cast<std::int64_t>(index) * strides_[axis++]), ...);
    return first_[offset];
  }

  /// Of one axis, which must be less than Rank.
  std::int64_t extent(std::size_t axis) const { return shape_[axis]; }
  /// The extent of each axis.
  const std::array<std::int64_t, Rank>& shape() const { return shape_; }

 private:
  T* first_;
  std::array<std::int64_t, Rank> shape_;
  std::array<std::int64_t, Rank> strides_;
};

/// A layout over memory. A value: copies are views of the same memory, which all of them keep alive, unless it was
/// given as a span. Threads may share it. No view reaches outside the memory that the first one was made for; what
/// would throws InvalidArgument.
class CUPRUM_API StridedMemoryView {
 public:
  using Extents = StridedLayout::Extents;  ///< one number for each axis

  /// The layout's offsets count from the beginning of the buffer. Orders nothing: what uses the view must be ordered
  /// after the work that fills the buffer.
  static StridedMemoryView from_buffer(const Buffer& buffer, const StridedLayout& layout,
                                       const StridedMemoryViewOptions& options = {});

  /// Elements of type T, dense in C order.
  template <HasDataType T>
  static StridedMemoryView from_buffer(const Buffer& buffer, const Extents& shape, bool is_readonly = false) {
    return from_buffer(buffer, StridedLayout(shape, sizeof(T)), {.dtype = dtype_of<T>(), .is_readonly = is_readonly});
  }

  /// Elements that somebody else owns, of the host or of a device: the driver says which. They must stay valid as long
  /// as views of them are used; `owner` is kept alive for that time. Read-only when T is const.
  template <HasDataType T, std::size_t Extent>
  static StridedMemoryView from_span(std::span<T, Extent> elements, std::shared_ptr<void> owner = nullptr) {
    return from_span(elements, {static_cast<std::int64_t>(elements.size())}, std::move(owner));
  }

  /// The same as an array of this shape, dense in C order, which must not need more elements than there are.
  template <HasDataType T, std::size_t Extent>
  static StridedMemoryView from_span(std::span<T, Extent> elements, const Extents& shape,
                                     std::shared_ptr<void> owner = nullptr) {
    const Buffer memory =
        Buffer::from_handle(reinterpret_cast<DevicePointer>(elements.data()), elements.size_bytes(), std::move(owner));
    return from_buffer<T>(memory, shape, std::is_const_v<T>);
  }

  /// Elements that somebody else owns, of the host or of a device, laid out in any way: strides may be negative or 0.
  /// The layout's offsets count from `pointer`, which for a negative stride is not the lowest address. The driver is
  /// asked once what memory that is. As from_span() otherwise.
  static StridedMemoryView from_pointer(DevicePointer pointer, const StridedLayout& layout,
                                        const StridedMemoryViewOptions& options = {},
                                        std::shared_ptr<void> owner = nullptr);

  /// The same for elements of type T, with strides in elements. Read-only when T is const.
  template <HasDataType T>
  static StridedMemoryView from_pointer(T* first, const Extents& shape, const Extents& strides,
                                        std::shared_ptr<void> owner = nullptr) {
    return from_pointer(reinterpret_cast<DevicePointer>(first), StridedLayout(shape, strides, sizeof(T)),
                        {.dtype = dtype_of<T>(), .is_readonly = std::is_const_v<T>}, std::move(owner));
  }

  /// The address of the element at index (0, 0, …).
  DevicePointer ptr() const;
  /// How the elements lie in the memory. Valid as long as the view, as the next two.
  const StridedLayout& layout() const { return layout_; }
  /// The extent of each axis.
  std::span<const std::int64_t> shape() const { return layout_.shape(); }
  /// In elements.
  std::span<const std::int64_t> strides() const { return layout_.strides(); }
  /// The number of axes; 0 for a single element.
  int ndim() const { return layout_.ndim(); }
  /// The number of elements.
  std::int64_t size() const { return layout_.volume(); }
  /// The type of the elements; none when nobody said, and they are just bytes.
  const std::optional<DataType>& dtype() const { return dtype_; }
  /// Whether copies to the view, and access by types that are not const, are refused.
  bool is_readonly() const { return is_readonly_; }
  /// Whether the memory is a copy that was made for this view: what is written there, nobody else sees. Known only of
  /// views from DLPack.
  bool is_copied() const { return is_copied_; }

  /// As it was when the view was made.
  MemoryKind memory_kind() const { return kind_; }
  /// Whether kernels can use it.
  bool is_device_accessible() const { return kind_ != MemoryKind::host; }
  /// Whether as_span() and as_strided_span() can be used.
  bool is_host_accessible() const { return kind_ != MemoryKind::device; }
  /// The device that the memory is on; none for host memory.
  std::optional<int> device_id() const { return device_id_; }

  /// The buffer that the view was made from, or one that wraps the memory. The view keeps the memory: it is good for
  /// use also when the buffer is closed.
  const Buffer& exporting_obj() const { return buffer_; }

  /// The same memory with another layout, whose offsets count as those of layout() do, and another type of elements if
  /// one is given; else the type stays and the itemsize must too.
  StridedMemoryView view(const StridedLayout& layout, const std::optional<DataType>& dtype = {}) const;

  /// The same layout with another type of elements of the same size.
  StridedMemoryView view(const DataType& dtype) const;

  // Parts and rearrangements of the same memory: the functions of these names in StridedLayout say more.

  /// A part; see StridedLayout::sliced.
  StridedMemoryView sliced(std::span<const SliceItem> items) const;
  /// The same with the items in braces: sliced({Slice{}, 2}).
  StridedMemoryView sliced(std::initializer_list<SliceItem> items) const;
  /// sliced() along the first axis alone.
  StridedMemoryView operator[](const SliceItem& item) const;
  /// With the axes in another order; see StridedLayout::permuted.
  StridedMemoryView permuted(const StridedLayout::Axes& axis_order) const;
  /// With the axes in reverse order.
  StridedMemoryView transposed() const;
  /// With another shape of the same volume; see StridedLayout::reshaped. Throws InvalidArgument when that needs a copy.
  StridedMemoryView reshaped(const Extents& shape) const;
  /// With as few axes as the strides allow; see StridedLayout::flattened.
  StridedMemoryView flattened() const;
  /// Without the axes of extent 1.
  StridedMemoryView squeezed() const;
  /// With an axis of extent 1 added, so that it is this axis of the result.
  StridedMemoryView unsqueezed(int axis) const;
  /// With axes of extent 1 repeated; see StridedLayout::broadcast_to. Copies to what is repeated are refused.
  StridedMemoryView broadcast_to(const Extents& shape) const;

  /// The elements of a C-contiguous view in host-accessible memory. T must be of the view's type, or of its itemsize
  /// where one of them has no DataType, and const for a read-only view. As Buffer::as_span: waits for the allocation of
  /// stream-ordered memory, and not for work that was queued since.
  template <detail::Copyable T>
  std::span<T> as_span() const {
    check_access(sizeof(T), alignof(T), type_of<T>(), std::is_const_v<T>);
    check_contiguous();
    return {static_cast<T*>(host_address()), static_cast<std::size_t>(size())};
  }

  /// The same for any layout of `Rank` axes.
  template <detail::Copyable T, std::size_t Rank>
  StridedSpan<T, Rank> as_strided_span() const {
    check_access(sizeof(T), alignof(T), type_of<T>(), std::is_const_v<T>);
    check_rank(Rank);
    std::array<std::int64_t, Rank> shape{};
    std::array<std::int64_t, Rank> strides{};
    for (std::size_t axis = 0; axis < Rank; ++axis) {
      shape[axis] = layout_.shape()[axis];
      strides[axis] = layout_.strides()[axis];
    }
    return {static_cast<T*>(host_address()), shape, strides};
  }

  /// The address of the element at index (0, 0, …) for a device, as launches of typed kernels pass it. T must be of the
  /// view's type where both have a DataType, and const for a read-only view.
  template <typename T>
  T* device_address() const {
    check_type(type_of<std::remove_cv_t<T>>(), std::is_const_v<T>);
    return reinterpret_cast<T*>(ptr());
  }

  /// A description of the view for the copy engine of GPUs since compute capability 9.0, which moves tiles of it; see
  /// <cuprum/tensor_map.hpp>. Throws InvalidArgument for a view or options that it can't have, and NotSupported where
  /// the device has no tensor maps.
  TensorMapDescriptor as_tensor_map(const TensorMapDescriptorOptions& options) const;

  /// Queues a copy of all elements of `source`, whose shape, itemsize and type (where both have one) must be those of
  /// this view, between any two kinds of memory. The views must not overlap, no two elements of this view may share
  /// memory, and both must stay valid until the copy has run. While `stream` is being captured, the graph keeps what
  /// the views keep.
  ///
  /// Layouts that a pitched copy describes are copied by one call of the driver: those that are contiguous in the same
  /// order, sliced or padded, up to three axes. Others take one call for each step along the axes that are left over.
  void copy_from(const StridedMemoryView& source, const Stream& stream, const StridedCopyOptions& options = {}) const;

  /// The same in the other direction.
  void copy_to(const StridedMemoryView& destination, const Stream& stream,
               const StridedCopyOptions& options = {}) const;

 private:
  friend struct detail::ViewMaker;
  friend struct detail::MemoryOf;
  StridedMemoryView(const Buffer& buffer, std::int64_t origin, const StridedLayout& layout);

  template <typename T>
  static constexpr std::optional<DataType> type_of() {
    if constexpr (HasDataType<T>) return dtype_of<T>();
    return std::nullopt;
  }
  void check_fits() const;
  void check_type(std::optional<DataType> type, bool is_const) const;
  void check_access(std::size_t size, std::size_t alignment, std::optional<DataType> type, bool is_const) const;
  void check_contiguous() const;
  void check_rank(std::size_t rank) const;
  void* host_address() const;

  Buffer buffer_;
  detail::Kept<detail::BufferResource> memory_;  ///< the buffer's, also when that is closed
  std::int64_t origin_;  ///< bytes from the beginning of the buffer to where the layout's offsets count from
  StridedLayout layout_;
  std::optional<DataType> dtype_;
  MemoryKind kind_ = MemoryKind::host;
  std::optional<int> device_id_;
  bool is_readonly_ = false;
  bool is_copied_ = false;
};

/// Prints "a view of float32 with shape (4, 6), strides (6, 1), itemsize 4 at 0x7f…".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const StridedMemoryView& view);

}  // namespace cuprum::inline CUPRUM_ABI
