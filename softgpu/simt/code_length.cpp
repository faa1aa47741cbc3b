#include "softgpu/simt/code_length.hpp"

#include "llvm/Analysis/CFG.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

constexpr unsigned kLongCode = 3000;
constexpr unsigned kHugeCode = 20000;
constexpr unsigned kManyLoops = 100;

}  // namespace

bool is_long(const Function& function) { return function.getInstructionCount() > kLongCode; }

bool is_huge(const Module& module) { return module.getInstructionCount() > kHugeCode; }

bool has_many_loops(const Function& function) {
  if (function.isDeclaration()) return false;
  SmallVector<std::pair<const BasicBlock*, const BasicBlock*>, 32> back_edges;
  FindFunctionBackedges(function, back_edges);
  return back_edges.size() > kManyLoops;
}

bool has_many_loops(const Module& module) {
  return any_of(module, [](const Function& function) { return has_many_loops(function); });
}

}  // namespace softgpu::simt
