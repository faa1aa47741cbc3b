// What functions begin and kernels end with.
#pragma once

#include "fuzz/ptx/generator/draft.hpp"

namespace ptx_fuzz {

/// Gives all registers of the draft a value: made of `words` and `wide` (register numbers), which are used as well, or,
/// in a kernel, of what the launch and the input give.
void add_prologue(Draft& draft, const std::vector<int>& words, int wide);

/// Leaves the values of all registers that statements have changed in memory.
void add_epilogue(Draft& draft);
/// How many bytes of memory that takes for each thread.
unsigned result_bytes();

}  // namespace ptx_fuzz
