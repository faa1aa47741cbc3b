// What the analysis has found out, as text: one thread's code in the order in which a gang runs it, with how each
// value differs between lanes, whose lanes run each block, and where the gang goes on behind it.
//
//   then: mask=then when_empty=join
//     %v = load i32, ptr %p, align 4  ; varying
//     br label %join
//    next=join pending=other
#pragma once

#include "llvm/Support/raw_ostream.h"
#include "softgpu/simt/layout.hpp"

namespace softgpu::simt {

void print_analysis(llvm::raw_ostream&, const Divergence&, const Layout&);

}  // namespace softgpu::simt
