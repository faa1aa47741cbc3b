// Strided layouts: how the elements of a multi-dimensional array lie in memory.
//
//   StridedLayout rows = StridedLayout::dense({4, 6}, sizeof(float));   // strides (6, 1)
//   StridedLayout block = rows.sliced({Slice{.start = 1, .stop = 3}, Slice{.step = 2}});  // shape (2, 3), strides (6,
//   2) StridedLayout columns = rows.permuted({1, 0});                      // shape (6, 4), strides (1, 6)
//
// A layout is arithmetic only: it knows no memory. StridedMemoryView puts one over memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

/// Which axis has the smallest stride.
enum class StrideOrder {
  c,    ///< the last one: rows are contiguous
  f,    ///< the first one: columns are contiguous
  keep  ///< as in the layout that the new one is made from
};

/// Every `step`-th index from `start` to before `stop`, with Python's rules: negative numbers count from the end, a
/// bound that is not given is the axis's, one beyond the axis is cut, and a negative step goes backwards.
struct Slice {
  std::optional<std::int64_t> start = {};  ///< the first index; none: the axis's first, or last for a negative step
  std::optional<std::int64_t> stop = {};   ///< the index after the last; none: as far as the axis goes
  std::int64_t step = 1;                   ///< must not be 0
};

/// Stands for as many whole axes as the other items of a slicing leave over.
struct Ellipsis {};
/// To be written in a slicing: layout.sliced({0, ellipsis, 1}). There can be one.
inline constexpr Ellipsis ellipsis{};

/// What `sliced` does with one axis: an index picks one of its elements and drops the axis, a Slice keeps a part of it.
class SliceItem {
 public:
  /// An index; a negative one counts from the end.
  template <std::integral Index>
  constexpr SliceItem(Index index) : kind_(Kind::one), slice_{.start = static_cast<std::int64_t>(index)} {}
  /// A part of the axis.
  constexpr SliceItem(const Slice& slice) : kind_(Kind::some), slice_(slice) {}
  /// The axes that the other items leave over.
  constexpr SliceItem(Ellipsis) : kind_(Kind::rest) {}

  /// Whether the axis is dropped.
  constexpr bool is_index() const { return kind_ == Kind::one; }
  /// Whether it stands for any number of axes.
  constexpr bool is_ellipsis() const { return kind_ == Kind::rest; }
  /// As it was given. Only for what is_index().
  constexpr std::int64_t index() const { return *slice_.start; }
  /// As it was given. Only for what is neither an index nor an ellipsis.
  constexpr const Slice& slice() const { return slice_; }

 private:
  enum class Kind { one, some, rest };
  Kind kind_;
  Slice slice_;
};

/// A set of axes, as StridedLayout::flattened_axis_mask gives it: bit i says that axis i can be merged into the one
/// before. The masks of several layouts of one shape are combined with `&`.
struct AxisMask {
  std::uint64_t bits = 0;  ///< the lowest is axis 0
  /// The axes that are in both.
  friend AxisMask operator&(AxisMask a, AxisMask b) { return {a.bits & b.bits}; }
  friend bool operator==(AxisMask, AxisMask) = default;
};

/// How StridedLayout::repacked joins or splits elements.
struct RepackOptions {
  std::uint64_t data_ptr = 0;  ///< an address that must be aligned to the new itemsize; 0: not known, not checked
  int axis = -1;               ///< whose elements are joined or split; its stride must be 1
  bool keep_dim = true;        ///< keep the axis when only one element of it is left
};

/// What StridedLayout::max_compatible_itemsize may assume.
struct MaxItemsizeOptions {
  std::int64_t max_itemsize = 16;  ///< in bytes; the result divides it
  std::uint64_t data_ptr = 0;      ///< as in RepackOptions
  int axis = -1;                   ///< as in RepackOptions
};

/// Shape, strides, itemsize and offset of an array: the element at index (i, j, …) lies
/// slice_offset + i * strides[0] + j * strides[1] + … elements from where the memory begins.
///
/// A value, checked when it is made: its volume and all its offsets, also in bytes, fit into 64 bits. What can't be
/// (a negative extent, too many axes, an overflow) throws InvalidArgument, so the queries need not. Operations return
/// new layouts of the same memory; nothing is ever copied. Axes may be counted from the end: -1 is the last.
class CUPRUM_API StridedLayout {
 public:
  static constexpr int max_ndim = 64;  ///< the most axes that a layout can have

  using Extents = std::vector<std::int64_t>;  ///< one number for each axis
  using Axes = std::vector<int>;              ///< numbers of axes

  /// Dense in C order: the last axis is contiguous.
  StridedLayout(const Extents& shape, std::int64_t itemsize);

  /// Strides are in elements; with `divide_strides` they are in bytes and must be multiples of the itemsize.
  StridedLayout(const Extents& shape, const Extents& strides, std::int64_t itemsize, bool divide_strides = false);

  /// The same values.
  StridedLayout(const StridedLayout&) = default;
  /// Leaves the layout of a single element behind, without an offset.
  StridedLayout(StridedLayout&& other) noexcept;
  /// The same values.
  StridedLayout& operator=(const StridedLayout&) = default;
  /// As when it is made.
  StridedLayout& operator=(StridedLayout&& other) noexcept;
  ~StridedLayout() = default;

  /// Without gaps. `stride_order` is c or f, or a permutation of the axes from the largest stride to the smallest.
  /// When there are no elements all strides are 0.
  static StridedLayout dense(const Extents& shape, std::int64_t itemsize, StrideOrder stride_order = StrideOrder::c);
  /// The same with a permutation.
  static StridedLayout dense(const Extents& shape, std::int64_t itemsize, const Axes& stride_order);

  /// The same shape and itemsize without gaps and without an offset.
  static StridedLayout dense_like(const StridedLayout& other, StrideOrder stride_order = StrideOrder::keep);
  /// The same with a permutation, as dense() takes it.
  static StridedLayout dense_like(const StridedLayout& other, const Axes& stride_order);
  /// dense_like() of this layout.
  StridedLayout to_dense(StrideOrder stride_order = StrideOrder::keep) const;
  /// The same with a permutation.
  StridedLayout to_dense(const Axes& stride_order) const;

  /// The number of axes; 0 for a single element.
  int ndim() const { return static_cast<int>(dims_.size() / 2); }
  /// The extent of each axis. Valid as long as the layout.
  std::span<const std::int64_t> shape() const { return {dims_.data(), dims_.size() / 2}; }
  /// In elements. Valid as long as the layout.
  std::span<const std::int64_t> strides() const { return {dims_.data() + dims_.size() / 2, dims_.size() / 2}; }
  /// strides() times itemsize().
  Extents strides_in_bytes() const;
  /// Of an element, in bytes; at least 1.
  std::int64_t itemsize() const { return itemsize_; }
  /// The number of elements.
  std::int64_t volume() const { return volume_; }

  /// The offset of the element at index (0, 0, …), in elements; slicing makes it.
  std::int64_t slice_offset() const { return slice_offset_; }
  /// slice_offset() times itemsize().
  std::int64_t slice_offset_in_bytes() const { return slice_offset_ * itemsize_; }

  /// The least and the greatest offset of an element; (0, -1) when there are none.
  std::pair<std::int64_t, std::int64_t> offset_bounds() const { return {min_offset_, max_offset_}; }
  /// The least offset of an element, in elements; 0 when there are none.
  std::int64_t min_offset() const { return min_offset_; }
  /// The greatest offset of an element, in elements; -1 when there are none.
  std::int64_t max_offset() const { return max_offset_; }

  /// The bytes that memory needs to hold all elements: (max_offset + 1) * itemsize. Throws InvalidArgument when an
  /// element lies before the beginning of the memory (min_offset < 0).
  std::int64_t required_size_in_bytes() const;

  /// The offset of one element, in elements. Throws InvalidArgument when the index is outside the shape.
  std::int64_t offset_of(std::span<const std::int64_t> index) const;
  /// The same with the index in braces: offset_of({1, 2}).
  std::int64_t offset_of(std::initializer_list<std::int64_t> index) const;

  /// The axes from the largest stride to the smallest.
  Axes stride_order() const;

  /// Whether the elements follow each other without gaps in the order of their indices, the last index fastest. True
  /// without elements; the strides of axes of extent 1 don't matter.
  bool is_contiguous_c() const;
  /// The same with the first index fastest.
  bool is_contiguous_f() const;
  /// In some order of the axes: the elements fill [min_offset, max_offset], each offset once, and no stride is
  /// negative.
  bool is_contiguous_any() const;
  /// Contiguous and without offset: the elements fill [0, volume - 1].
  bool is_dense() const { return slice_offset_ == 0 && is_contiguous_any(); }
  /// Whether no two elements share an offset. Exact for what slicing, permuting, reshaping and broadcasting make of a
  /// dense layout; false for some unique layouts with interleaved strides, as (2, 3) with strides (3, 2).
  bool is_unique() const;

  /// One item per axis from the first on; the axes left over stay whole. Throws InvalidArgument for an index outside
  /// its axis, a step of 0, or more items than axes. When nothing is left all strides are 0.
  StridedLayout sliced(std::span<const SliceItem> items) const;
  /// The same with the items in braces: sliced({Slice{}, 2}).
  StridedLayout sliced(std::initializer_list<SliceItem> items) const;
  /// sliced() along the first axis alone.
  StridedLayout operator[](const SliceItem& item) const;

  /// Axis i of the result is axis `axis_order[i]` of this.
  StridedLayout permuted(const Axes& axis_order) const;

  /// With the axes in reverse order.
  StridedLayout transposed() const;

  /// The same elements in C order of their indices under another shape of the same volume. One extent may be -1: it
  /// follows from the others. Throws InvalidArgument when that would need a copy.
  StridedLayout reshaped(const Extents& shape) const;

  /// Merges neighbouring axes between `start_axis` and `end_axis`, both included, as far as their strides allow.
  StridedLayout flattened(int start_axis = 0, int end_axis = -1) const;

  /// Merges those of the axes in `mask` into the ones before them whose strides allow it.
  StridedLayout flattened(AxisMask mask) const;

  /// The axes that flattened() merges into the ones before them.
  AxisMask flattened_axis_mask() const;

  /// Without the axes of extent 1. A layout without elements becomes one of shape (0) and stride 0.
  StridedLayout squeezed() const;

  /// With axes of extent 1 added, so that they are these axes of the result.
  StridedLayout unsqueezed(int axis) const;
  /// The same for several; they must be different.
  StridedLayout unsqueezed(const Axes& axes) const;

  /// Repeats axes of extent 1, and adds axes in front, with stride 0, to get `shape`.
  StridedLayout broadcast_to(const Extents& shape) const;

  /// The same bytes as elements of another size: joins or splits the elements of one axis. When joining, the axis's
  /// extent, the other strides and the offset must be multiples of the factor.
  StridedLayout repacked(std::int64_t itemsize, const RepackOptions& options = {}) const;

  /// The largest itemsize that repacked() takes; at least the one there is.
  std::int64_t max_compatible_itemsize(const MaxItemsizeOptions& options = {}) const;

  /// By shape, strides, itemsize and offset.
  friend CUPRUM_API bool operator==(const StridedLayout& a, const StridedLayout& b);

 private:
  struct Checked {};
  /// All layouts come from here. `dims`: the shape, then the strides.
  StridedLayout(Checked, std::vector<std::int64_t> dims, std::int64_t itemsize, std::int64_t slice_offset);
  StridedLayout with(const Extents& shape, const Extents& strides) const;
  StridedLayout packed(std::int64_t factor, int axis, const RepackOptions& options) const;
  StridedLayout unpacked(std::int64_t factor, int axis) const;

  std::vector<std::int64_t> dims_;
  std::int64_t itemsize_;
  std::int64_t slice_offset_;
  std::int64_t volume_ = 0;
  std::int64_t min_offset_ = 0;
  std::int64_t max_offset_ = -1;
};

/// Prints "shape (2, 3), strides (3, 1), itemsize 4", and the offset where there is one.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const StridedLayout& layout);

}  // namespace cuprum::inline CUPRUM_ABI
