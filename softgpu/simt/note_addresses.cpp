#include "softgpu/simt/note_addresses.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "softgpu/abi/marks.hpp"
#include "softgpu/simt/address_remainder.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

struct Access {
  Instruction* instruction;
  Value* address;
  Type* type;
  Align alignment;
  bool atomic;

  static std::optional<Access> of(Instruction& instruction) {
    if (auto* load = dyn_cast<LoadInst>(&instruction))
      return Access{load, load->getPointerOperand(), load->getType(), load->getAlign(), false};
    if (auto* store = dyn_cast<StoreInst>(&instruction))
      return Access{store, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(), false};
    if (auto* update = dyn_cast<AtomicRMWInst>(&instruction))
      return Access{update, update->getPointerOperand(), update->getType(), update->getAlign(), true};
    if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
      return Access{exchange, exchange->getPointerOperand(), exchange->getCompareOperand()->getType(),
                    exchange->getAlign(), true};
    return std::nullopt;
  }

  // The CPU may fault at an address that is less aligned than the code generator has been told.
  void claim_no_more_than_an_element(const DataLayout& layout) const {
    const Align element(PowerOf2Ceil(layout.getTypeStoreSize(type).getFixedValue()));
    if (auto* load = dyn_cast<LoadInst>(instruction)) load->setAlignment(std::min(alignment, element));
    if (auto* store = dyn_cast<StoreInst>(instruction)) store->setAlignment(std::min(alignment, element));
  }
};

struct Note {
  Instruction* at;
  Remainder remainder;
  std::uint64_t alignment;
  bool
      at_once;  // The access itself must not happen: locked ones across cache lines stop the whole machine for a while.
  DebugLoc line;

  // Where this one is, the other says nothing new.
  bool covers(const Note& other) const {
    return alignment >= other.alignment && remainder.addend % other.alignment == other.remainder.addend &&
           at_once >= other.at_once;
  }
};

class Notes {
 public:
  explicit Notes(Function& function)
      : function_(function), layout_(function.getDataLayout()), dominators_(function), loops_(dominators_) {
    dominators_.updateDFSNumbers();
  }

  void run() {
    collect();
    // From dominators to what they dominate.
    stable_sort(notes_, [&](const Note& a, const Note& b) { return depth_of(a) < depth_of(b); });
    for (const Note& note : notes_)
      if (!is_covered(note)) {
        kept_[note.remainder.value].push_back(note);
        emit(note);
      }
  }

 private:
  void collect() {
    for (Instruction& instruction : instructions(function_)) {
      if (!dominators_.isReachableFromEntry(instruction.getParent())) continue;
      const auto access = Access::of(instruction);
      if (!access || access->alignment == Align(1)) continue;
      const std::uint64_t alignment = access->alignment.value();
      if (const auto remainder = finder(alignment).remainder(access->address, instruction))
        notes_.push_back({place_of(instruction, remainder->value), *remainder, alignment, access->atomic,
                          instruction.getDebugLoc()});
      access->claim_no_more_than_an_element(layout_);
    }
  }

  RemainderFinder& finder(std::uint64_t alignment) {
    auto& finder = finders_[Log2_64(alignment)];
    if (!finder) finder = std::make_unique<RemainderFinder>(layout_, loops_, alignment);
    return *finder;
  }

  // In front of the loops that come to the access whenever they are entered, and don't change the value.
  Instruction* place_of(Instruction& access, const Value* value) {
    Instruction* place = &access;
    while (const Loop* loop = loops_.getLoopFor(place->getParent())) {
      const auto* instruction = dyn_cast<Instruction>(value);
      BasicBlock* before = loop->getLoopPreheader();
      if (!before || (instruction && loop->contains(instruction)) || !always_runs(*loop, place->getParent())) break;
      place = before->getTerminator();
    }
    return place;
  }

  bool always_runs(const Loop& loop, BasicBlock* block) {
    const auto [found, is_new] = always_runs_.try_emplace({&loop, block}, false);
    if (!is_new) return found->second;
    auto& ends = ends_[&loop];
    if (ends.empty()) {
      loop.getExitingBlocks(ends);
      loop.getLoopLatches(ends);
    }
    const bool runs = all_of(ends, [&](const BasicBlock* end) { return dominators_.dominates(block, end); });
    return always_runs_[{&loop, block}] = runs;
  }

  unsigned depth_of(const Note& note) const { return dominators_.getNode(note.at->getParent())->getLevel(); }

  bool is_covered(const Note& note) const {
    constexpr std::size_t kMostLookedAt = 64;
    const auto kept = kept_.find(note.remainder.value);
    if (kept == kept_.end()) return false;
    const ArrayRef<Note> others = kept->second;
    return any_of(others.take_front(kMostLookedAt), [&](const Note& other) {
      return other.covers(note) && (other.at == note.at || dominators_.dominates(other.at, note.at));
    });
  }

  void emit(const Note& note) const {
    IRBuilder<> builder(note.at);
    builder.SetCurrentDebugLocation(note.line);
    Type *i64 = builder.getInt64Ty(), *i32 = builder.getInt32Ty();
    Value* value = note.remainder.value;
    value =
        value->getType()->isPointerTy() ? builder.CreatePtrToInt(value, i64) : builder.CreateZExtOrTrunc(value, i64);
    if (note.remainder.addend != 0) value = builder.CreateAdd(value, builder.getInt64(note.remainder.addend));
    const auto symbol = abi::info(abi::Mark::address).symbol;
    const FunctionCallee mark = function_.getParent()->getOrInsertFunction(
        StringRef(symbol.data(), symbol.size()), builder.getVoidTy(), i64, i32, builder.getInt1Ty());
    builder
        .CreateCall(
            mark, {value, builder.getInt32(static_cast<std::uint32_t>(note.alignment)), builder.getInt1(note.at_once)})
        ->setDoesNotThrow();
  }

  Function& function_;
  const DataLayout& layout_;
  DominatorTree dominators_;
  LoopInfo loops_;
  DenseMap<unsigned, std::unique_ptr<RemainderFinder>> finders_;
  DenseMap<std::pair<const Loop*, BasicBlock*>, bool> always_runs_;
  DenseMap<const Loop*, SmallVector<BasicBlock*, 4>> ends_;
  std::vector<Note> notes_;
  DenseMap<const Value*, std::vector<Note>> kept_;
};

}  // namespace

void note_addresses(Function& thread) { Notes(thread).run(); }

}  // namespace softgpu::simt
