// The kernels of launches that were captured. A launch is one of a CUfunction, and of the node that it becomes the
// driver tells no more than that.
#pragma once

#include <cuprum/driver.hpp>
#include <memory>

#include "core/code/kernel_resource.hpp"

namespace cuprum::core {

/// Notes whose function is about to be captured.
void note_captured_kernel(CUfunction function, const std::shared_ptr<detail::KernelResource>& kernel);

/// The kernel that the function is of: null when no launch of this library that became part of a graph was one of it.
/// Such graphs keep their kernels, so that a function can't be another's by now.
std::shared_ptr<detail::KernelResource> captured_kernel(CUfunction function);

}  // namespace cuprum::core
