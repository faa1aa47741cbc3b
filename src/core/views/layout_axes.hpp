// Numbers of axes, as callers give them.
#pragma once

#include <cuprum/error.hpp>
#include <vector>

#include "support/text.hpp"

namespace cuprum::core {

/// The axis in [0, ndim) that `axis` means: negative ones count from the end.
inline int checked_axis(int axis, int ndim) {
  if (axis < -ndim || axis >= ndim)
    throw InvalidArgument(support::text("axis ", axis, " is out of range for ", ndim, " dimensions"));
  return axis < 0 ? axis + ndim : axis;
}

/// The same for several, which must be different ones.
inline std::vector<int> checked_axes(std::vector<int> axes, int ndim) {
  std::vector<bool> taken(ndim);
  for (int& axis : axes) {
    const int given = axis;
    axis = checked_axis(axis, ndim);
    if (taken[axis])
      throw InvalidArgument(support::text("axes (", support::join(axes), "): axis ", given, " appears more than once"));
    taken[axis] = true;
  }
  return axes;
}

inline std::vector<int> checked_permutation(std::vector<int> axes, int ndim) {
  if (static_cast<int>(axes.size()) != ndim) {
    throw InvalidArgument(support::text("axes (", support::join(axes), "): a permutation of ", ndim,
                                        " dimensions names each of them once"));
  }
  return checked_axes(std::move(axes), ndim);
}

}  // namespace cuprum::core
