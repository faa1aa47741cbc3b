#include "softgpu/jit/kernel_compiler.hpp"

#include <stdexcept>

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/jit/host_target.hpp"
#include "softgpu/jit/pipeline.hpp"

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

}  // namespace

struct KernelCompiler::Impl {
  std::string errors;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> target = make_host_target();
  Compilation compilation;  // its code goes before its context

  void run(std::span<const Pass> passes) {
    jit::run(passes, compilation);
    if (!errors.empty()) throw std::runtime_error("LLVM reports: " + errors);
  }
};

abi::BlockShape shape_of(abi::Dim3 block, unsigned width) {
  if (block.x % width == 0) return abi::BlockShape::rows;
  return block.y == 1 && block.z == 1 ? abi::BlockShape::line : abi::BlockShape::general;
}

KernelCompiler::KernelCompiler(const ptx::Module& module, const ptx::Function& kernel, const CompilerSettings& settings)
    : impl_(std::make_unique<Impl>()) {
  impl_->context.setDiagnosticHandler(std::make_unique<Diagnostics>(impl_->errors));
  impl_->compilation.source = &module;
  impl_->compilation.kernel = &kernel;
  impl_->compilation.settings = settings;
  impl_->compilation.target = impl_->target.get();
  impl_->compilation.context = &impl_->context;
  impl_->run(thread_passes());
}

KernelCompiler::~KernelCompiler() = default;

unsigned KernelCompiler::width() const { return impl_->compilation.width; }

CompiledKernel KernelCompiler::compile(const CodeVersion& version) {
  Compilation& compilation = impl_->compilation;
  compilation.shape = version.shape;
  compilation.checks_access = version.checks_access;
  impl_->run(gang_passes());
  return {compilation.width, compilation.suspends, compilation.finds_addresses, compilation.stack_bytes,
          std::move(compilation.object)};
}

}  // namespace softgpu::jit
