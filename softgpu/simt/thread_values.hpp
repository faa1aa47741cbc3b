// Where a gang finds what the marked query functions ask for.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "softgpu/abi/kernel.hpp"
#include "softgpu/abi/marks.hpp"

namespace softgpu::simt {

// The parameters of every gang function this compiler makes.
struct GangArguments {
  llvm::Value *block, *gang;  // abi::Block*, abi::Gang* (null where no gang can suspend)
  llvm::Value* first;         // linear index of lane 0
  llvm::Value *x, *y, *z;     // %tid of lane 0
  llvm::Value* lanes;         // threads in the gang

  static llvm::FunctionType* type(llvm::LLVMContext&);
  static GangArguments of(llvm::Function& gang);
};

// Emits at `builder`'s position, which must dominate all uses; each value is made once.
class ThreadValues {
 public:
  ThreadValues(llvm::IRBuilder<>& builder, const GangArguments& arguments, abi::BlockShape shape, unsigned width)
      : builder_(builder), arguments_(arguments), shape_(shape), width_(width) {}

  // The value in lane 0, which is the value in all lanes for what is uniform.
  llvm::Value* base(abi::Mark);
  // The values of all lanes: of tid when the block has the general shape.
  llvm::Value* vector(abi::Mark);

 private:
  llvm::Value* make_base(abi::Mark);
  llvm::Value* make_threads();
  llvm::Value* block_field(std::size_t offset, llvm::Type* type);

  llvm::IRBuilder<>& builder_;
  GangArguments arguments_;
  abi::BlockShape shape_;
  unsigned width_;
  llvm::DenseMap<unsigned, llvm::Value*> bases_, vectors_;
};

// What a called function knows of its thread: the memory behind the marked function `thread`.
struct ThreadRecord {
  static llvm::StructType* type(llvm::LLVMContext&);
  enum Field : unsigned { block, x, y, z, linear, exited, gang };
};

// The thread's abi::Gang, in a function that is called with a pointer to its ThreadRecord.
llvm::Value* gang_in_called_function(llvm::IRBuilder<>&, llvm::Value* thread);

// The value of a query inside a function that is called with a pointer to its ThreadRecord.
llvm::Value* query_in_called_function(llvm::IRBuilder<>&, llvm::Value* thread, abi::Mark);

// A field of an abi::Block; these stay the same while the block runs.
llvm::Value* load_block_field(llvm::IRBuilder<>&, llvm::Value* block, std::size_t offset, llvm::Type*);

// A read of one of the clocks (abi::MarkKind::clock), now.
llvm::Value* read_clock(llvm::IRBuilder<>&, abi::Mark);

}  // namespace softgpu::simt
