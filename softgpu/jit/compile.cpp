#include "softgpu/jit/compile.hpp"

#include <stdexcept>

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "softgpu/jit/host_target.hpp"
#include "softgpu/lower/lower.hpp"
#include "softgpu/simt/simt.hpp"

namespace softgpu::jit {
namespace {

// LLVM's own handler would end the process.
struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string& text) : errors(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream out(errors);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    out << '\n';
    return true;
  }
  std::string& errors;
};

void mark_variables(llvm::Module& code, const ptx::Module& module) {
  for (const ptx::Variable& variable : module.variables)
    if (llvm::GlobalVariable* global = code.getNamedGlobal(variable.name))
      global->setName(llvm::StringRef(kVariablePrefix) + variable.name);
}

// Atomic operations on shared memory: all threads of a block run on one thread of the host.
void drop_locks(llvm::Module& code) {
  constexpr auto kOneThread = llvm::SyncScope::SingleThread;
  for (llvm::Function& function : code)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction);
      if (update && update->getSyncScopeID() == kOneThread) llvm::lowerAtomicRMWInst(update);
      if (exchange && exchange->getSyncScopeID() == kOneThread) llvm::lowerAtomicCmpXchgInst(exchange);
    }
}

// Large frames touch each of their pages in order, so that none steps over the guard page below the stack.
void probe_stacks(llvm::Module& code) {
  for (llvm::Function& function : code)
    if (!function.isDeclaration()) function.addFnAttr("probe-stack", "inline-asm");
}

std::string generate(llvm::Module& code, llvm::TargetMachine& target) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw std::runtime_error("this CPU's code generator can't make object code");
  passes.run(code);
  return {object.data(), object.size()};
}

}  // namespace

struct KernelCompiler::Impl {
  explicit Impl(const ptx::Module& module) : source(module) {}

  const ptx::Module& source;
  std::string errors;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> target = make_host_target();
  std::unique_ptr<llvm::Module> code;
  llvm::Function* kernel = nullptr;
  unsigned width = 0;

  void check() const {
    if (!errors.empty()) throw std::runtime_error("LLVM reports: " + errors);
  }
};

abi::Shape shape_of(abi::Dim3 block, unsigned width) {
  if (block.x % width == 0) return abi::Shape::rows;
  return block.y == 1 && block.z == 1 ? abi::Shape::line : abi::Shape::general;
}

KernelCompiler::KernelCompiler(const ptx::Module& module, const ptx::Function& kernel)
    : impl_(std::make_unique<Impl>(module)) {
  impl_->context.setDiagnosticHandler(std::make_unique<Diagnostics>(impl_->errors));
  impl_->code = lower::lower_kernel(impl_->context, module, kernel);
  impl_->code->setTargetTriple(impl_->target->getTargetTriple().str());
  impl_->code->setDataLayout(impl_->target->createDataLayout());
  impl_->kernel = impl_->code->getFunction(kernel.name);
  if (!impl_->kernel) throw std::runtime_error("lowering made no function " + kernel.name);
  impl_->width = simt::choose_width(*impl_->kernel, *impl_->target);
  impl_->check();
}

KernelCompiler::~KernelCompiler() = default;

unsigned KernelCompiler::width() const { return impl_->width; }

CompiledKernel KernelCompiler::compile(abi::Shape shape) {
  const simt::Options options{.shape = shape, .width = impl_->width, .target = impl_->target.get()};
  const simt::Result result = simt::compile(*impl_->code, *impl_->kernel, kEntryName, options);
  impl_->check();
  mark_variables(*impl_->code, impl_->source);
  drop_locks(*impl_->code);
  probe_stacks(*impl_->code);
  std::string object = generate(*impl_->code, *impl_->target);
  impl_->check();
  return {result.width, result.suspends, result.stack_bytes, std::move(object)};
}

}  // namespace softgpu::jit
