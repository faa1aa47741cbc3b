#include "softgpu/simt/analysis_text.hpp"

#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

void print(raw_ostream& out, const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::unknown: out << "unknown"; break;
    case Shape::Kind::uniform: out << "uniform"; break;
    case Shape::Kind::strided: out << "strided " << shape.stride; break;
    case Shape::Kind::varying: out << "varying"; break;
  }
  if (shape.guarded) out << " guarded";
  if (shape.alignment > 0) out << " aligned 2^" << unsigned{shape.alignment};
}

void print_names(raw_ostream& out, const char* title, ArrayRef<const BasicBlock*> blocks) {
  const char* separator = "";
  out << title;
  for (const BasicBlock* block : blocks) {
    out << separator << (block ? block->getName() : "nowhere");
    separator = ",";
  }
}

void print(raw_ostream& out, const BlockPlan& plan, const Divergence& divergence, const Layout& layout) {
  const BasicBlock* block = plan.block;
  const Loop* loop = divergence.loops().getLoopFor(block);
  out << block->getName() << ": mask=" << layout.mask_owner(block)->getName();
  if (plan.when_empty) out << " when_empty=" << plan.when_empty->getName();
  if (divergence.is_join(block)) out << " join";
  if (loop && loop->getHeader() == block) out << (divergence.is_divergent(loop) ? " divergent_loop" : " uniform_loop");
  if (divergence.is_divergent(block)) out << " divergent_branch";
  if (is_contained(layout.ways_out(), block)) out << " way_out";
  out << '\n';
  for (const Instruction& instruction : *block) {
    instruction.print(out);
    if (!instruction.getType()->isVoidTy()) print(out << "  ; ", divergence.shape(&instruction));
    out << '\n';
  }
  const SmallVector<const BasicBlock*, 2> next(plan.next.begin(), plan.next.end());
  if (!next.empty()) print_names(out, " next=", next);
  if (!plan.pending.empty()) print_names(out, " pending=", plan.pending);
  out << "\n\n";
}

}  // namespace

void print_analysis(raw_ostream& out, const Divergence& divergence, const Layout& layout) {
  for (const BlockPlan& plan : layout.blocks()) print(out, plan, divergence, layout);
}

}  // namespace softgpu::simt
