// How a copy between two strided layouts is made of the copies that the driver has.
#pragma once

#include <cstdint>
#include <cuprum/strided_layout.hpp>
#include <vector>

namespace cuprum::core {

/// Going along an axis of both layouts at once; strides are in bytes.
struct CopyAxis {
  std::int64_t extent = 1;
  std::int64_t destination_stride = 0;
  std::int64_t source_stride = 0;
  friend bool operator==(const CopyAxis&, const CopyAxis&) = default;
};

/// Blocks of `slices.extent` times `rows.extent` rows of `width` contiguous bytes, one block for each step along the
/// axes of `loops`. A row axis of extent 1 means a contiguous copy.
struct CopyPlan {
  std::int64_t destination_offset = 0;  ///< of the first block, in bytes
  std::int64_t source_offset = 0;
  std::int64_t width = 0;
  CopyAxis rows;
  CopyAxis slices;
  std::vector<CopyAxis> loops;

  /// The number of blocks, of which each is a call of the driver.
  std::int64_t blocks() const;
};

/// The layouts have the same shape and itemsize; the destination's elements are distinct. `max_pitch` is the largest
/// distance of rows that the driver takes.
CopyPlan plan_copy(const StridedLayout& destination, const StridedLayout& source, std::int64_t max_pitch);

}  // namespace cuprum::core
