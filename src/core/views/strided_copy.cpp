#include "core/views/strided_copy.hpp"

#include <algorithm>
#include <utility>

namespace cuprum::core {
namespace {

/// The axes that are more than one element long, all forward in the destination: an axis that goes backwards there is
/// gone along from its other end in both.
std::vector<CopyAxis> forward_axes(const StridedLayout& destination, const StridedLayout& source, CopyPlan& plan) {
  std::vector<CopyAxis> axes;
  for (int i = 0; i < destination.ndim(); ++i) {
    CopyAxis axis{destination.shape()[i], destination.strides()[i] * destination.itemsize(),
                  source.strides()[i] * source.itemsize()};
    if (axis.extent == 1) continue;
    if (axis.destination_stride < 0) {
      plan.destination_offset += (axis.extent - 1) * axis.destination_stride;
      plan.source_offset += (axis.extent - 1) * axis.source_stride;
      axis.destination_stride = -axis.destination_stride;
      axis.source_stride = -axis.source_stride;
    }
    axes.push_back(axis);
  }
  return axes;
}

/// From the largest stride to the smallest, with neighbours that continue each other in both layouts merged.
std::vector<CopyAxis> merged(std::vector<CopyAxis> axes) {
  std::sort(axes.begin(), axes.end(),
            [](const CopyAxis& a, const CopyAxis& b) { return a.destination_stride > b.destination_stride; });
  std::vector<CopyAxis> result;
  for (const CopyAxis& axis : axes) {
    if (!result.empty() && result.back().destination_stride == axis.destination_stride * axis.extent &&
        result.back().source_stride == axis.source_stride * axis.extent) {
      result.back() = {result.back().extent * axis.extent, axis.destination_stride, axis.source_stride};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

/// Takes out the longest of the axes that fit, to be done within a call of the driver.
template <typename Fits>
CopyAxis take_longest(std::vector<CopyAxis>& axes, Fits fits) {
  auto best = axes.end();
  for (auto axis = axes.begin(); axis != axes.end(); ++axis)
    if (fits(*axis) && (best == axes.end() || axis->extent > best->extent)) best = axis;
  if (best == axes.end()) return {};
  const CopyAxis taken = *best;
  axes.erase(best);
  return taken;
}

/// Whether slices at this distance can be told to the driver: as a number of rows that each slice has, in use or not.
bool holds_rows(std::int64_t distance, std::int64_t pitch, std::int64_t rows) {
  return distance > 0 && distance % pitch == 0 && distance / pitch >= rows;
}

}  // namespace

std::int64_t CopyPlan::blocks() const {
  std::int64_t count = 1;
  for (const CopyAxis& axis : loops) count *= axis.extent;
  return count;
}

CopyPlan plan_copy(const StridedLayout& destination, const StridedLayout& source, std::int64_t max_pitch) {
  CopyPlan plan{.destination_offset = destination.slice_offset_in_bytes(),
                .source_offset = source.slice_offset_in_bytes(),
                .width = destination.itemsize()};
  std::vector<CopyAxis> axes = merged(forward_axes(destination, source, plan));
  if (!axes.empty() && axes.back().destination_stride == plan.width && axes.back().source_stride == plan.width) {
    plan.width *= axes.back().extent;
    axes.pop_back();
  }
  plan.rows = take_longest(axes, [&](const CopyAxis& axis) {
    return std::min(axis.destination_stride, axis.source_stride) >= plan.width &&
           std::max(axis.destination_stride, axis.source_stride) <= max_pitch;
  });
  if (plan.rows.extent > 1) {
    plan.slices = take_longest(axes, [&](const CopyAxis& axis) {
      return holds_rows(axis.destination_stride, plan.rows.destination_stride, plan.rows.extent) &&
             holds_rows(axis.source_stride, plan.rows.source_stride, plan.rows.extent);
    });
  }
  plan.loops = std::move(axes);
  return plan;
}

}  // namespace cuprum::core
