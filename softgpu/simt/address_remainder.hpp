// What decides whether an address is a multiple of its alignment.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace softgpu::simt {

// An address without multiples of the alignment: `value + addend` leaves the same remainder.
struct Remainder {
  llvm::Value* value;  // an integer, of which the low bits count, or a pointer
  std::uint64_t addend;

  bool operator==(const Remainder&) const = default;
};

class RemainderFinder {
 public:
  RemainderFinder(const llvm::DataLayout& layout, const llvm::LoopInfo& loops, std::uint64_t alignment);

  // Mostly a parameter of the kernel, which all lanes and all iterations share. Nothing if the address is a multiple
  // whatever happens. The value can be used where `user` is, and keeps loops closed.
  std::optional<Remainder> remainder(llvm::Value* address, const llvm::Instruction& user);

 private:
  std::optional<Remainder> step(llvm::Value*);
  std::optional<Remainder> compute_step(llvm::Value*);
  std::optional<Remainder> step_of_sum(llvm::Instruction&);
  std::optional<Remainder> step_of_address(llvm::GEPOperator&);
  std::optional<Remainder> step_of_phi(llvm::PHINode&);
  Remainder walk(Remainder from, const llvm::BasicBlock* user);
  bool is_multiple(llvm::Value*) const;
  bool is_usable(const llvm::Value*, const llvm::BasicBlock* user) const;

  const llvm::DataLayout& layout_;
  const llvm::LoopInfo& loops_;
  const std::uint64_t alignment_;
  const unsigned zeros_;
  llvm::DenseMap<const llvm::Value*, std::optional<Remainder>> steps_;
};

}  // namespace softgpu::simt
