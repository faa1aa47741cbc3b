// Leaving out what a prologue prepared for statements that did not come. Small programs are quick to compile.
#pragma once

#include "fuzz/ptx/generator/draft.hpp"

namespace ptx_fuzz {

/// Takes out of the finished function what fills memory that it does not use, and then what computes values that nobody
/// reads. Shared memory is filled by the kernel, which so comes last: the plan collects what is used of it.
void remove_unneeded(Draft& draft);

}  // namespace ptx_fuzz
