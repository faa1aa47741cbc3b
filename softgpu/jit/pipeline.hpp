// The way from PTX to object code: one list of passes. docs/design/jit.md says how to look at what they do.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/jit/compiler_settings.hpp"
#include "softgpu/ptx/ast.hpp"
#include "softgpu/simt/entry.hpp"
#include "softgpu/simt/layout.hpp"
#include "softgpu/simt/lockstep.hpp"

namespace llvm {
class TargetMachine;
}  // namespace llvm

namespace softgpu::jit {

// The object's imports of module variables carry this before their names, so that a variable called `floor` is not
// taken for a function.
inline constexpr std::string_view kVariablePrefix = "softgpu.variable.";

// One kernel on its way. Passes fill it in from top to bottom.
struct Compilation {
  // What is compiled, and how.
  const ptx::Module* source = nullptr;
  const ptx::Function* kernel = nullptr;
  CompilerSettings settings;
  llvm::TargetMachine* target = nullptr;
  llvm::LLVMContext* context = nullptr;

  std::unique_ptr<llvm::Module> code;
  llvm::Function* thread = nullptr;  // one thread's code; null once gangs are made of it
  unsigned width = 0;                // lanes of a gang

  abi::BlockShape shape = abi::BlockShape::general;  // of the blocks that the code is for: given before the second half
  bool checks_access = false;    // given as well: for launches that may meet memory of another device
  bool finds_addresses = false;  // in memory
  std::unique_ptr<simt::Divergence> divergence;
  std::unique_ptr<simt::Layout> layout;
  bool suspends = false;  // the entry point is an abi::StartGang, else an abi::RunBlock
  simt::GangFunctions gangs;
  std::uint64_t stack_bytes = 0;
  std::string object;
};

struct Pass {
  std::string_view name;    // as in SOFTGPU_DUMP
  std::string_view leaves;  // what holds behind it
  void (*run)(Compilation&);
};

// In two halves, because the shape of a block depends on the width of its gangs, and the width on the code. The passes
// of the first take a kernel to the width, those of the second, for one shape, to object code.
std::span<const Pass> thread_passes();
std::span<const Pass> gang_passes();

// Runs passes, from the one called `from` on if there is a name. Writes and measures as the settings say. Throws
// std::runtime_error.
void run(std::span<const Pass>, Compilation&, std::string_view from = {});

}  // namespace softgpu::jit
