#include "unit/softgpu_simt/harness.hpp"

#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "softgpu/abi/marks.hpp"
#include "softgpu/jit/kernel_compiler.hpp"
#include "softgpu/jit/pipeline.hpp"

namespace softgpu::simt::test {

namespace {

std::vector<void*> frames;
std::jmp_buf out_of_kernel;

void* allocate_frame(std::uint64_t bytes, std::uint64_t alignment) {
  frames.push_back(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
  return frames.back();
}
void* allocate_local(std::uint64_t bytes) { return allocate_frame(bytes, 64); }
void leave_local(std::uint64_t) {}  // freed with the frames
void divergent_barrier(std::uint32_t) { std::longjmp(out_of_kernel, 1); }
void misaligned_access(std::uint32_t) { std::longjmp(out_of_kernel, 1); }

const char* llvm_type(char letter) {
  switch (letter) {
    case 'v': return "void";
    case 'b': return "i1";
    case 'i': return "i32";
    case 'l': return "i64";
    default: return "ptr";
  }
}

std::string declarations() {
  std::string text;
  for (const abi::MarkInfo& mark : abi::kMarks) {
    text += std::string("declare ") + llvm_type(mark.result) + " @" + std::string(mark.symbol) + "(";
    for (std::size_t i = 0; i < mark.arguments.size(); ++i)
      text += std::string(i ? ", " : "") + llvm_type(mark.arguments[i]);
    const bool query = mark.kind == abi::MarkKind::query;
    text += query ? ") memory(none) nounwind\n" : ") convergent nounwind\n";
  }
  return text;
}

template <typename T>
T check(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

class Scheduler {
 public:
  Scheduler(abi::StartGang start, const abi::Block& block, unsigned width) {
    const std::uint32_t threads = block.size.x * block.size.y * block.size.z;
    for (std::uint32_t first = 0; first < threads; first += width)
      gangs_.push_back({.block = &block, .first_thread = first, .lanes = std::min(width, threads - first)});
    for (abi::Gang& gang : gangs_) handles_.push_back(start(&gang));
  }

  // Returns false when nobody can go on.
  bool run() {
    while (alive() > 0) {
      bool progress = false;
      if (yield_round()) progress = true;
      if (release_barrier()) progress = true;
      if (!progress) return false;
    }
    return true;
  }

 private:
  std::size_t alive() const {
    std::size_t count = 0;
    for (void* handle : handles_) count += handle != nullptr;
    return count;
  }
  void resume(std::size_t i) {
    gangs_[i].reason = abi::Suspend::none;
    abi::resume_gang(gangs_[i], handles_[i]);
    if (!*static_cast<void**>(handles_[i])) handles_[i] = nullptr;
  }
  bool yield_round() {
    bool any = false;
    for (std::size_t i = 0; i < gangs_.size(); ++i)
      if (handles_[i] && (gangs_[i].reason == abi::Suspend::yield || gangs_[i].reason == abi::Suspend::sleep))
        resume(i), any = true;
    return any;
  }
  bool release_barrier() {
    std::uint32_t with_true = 0, arrived = 0;
    for (std::size_t i = 0; i < gangs_.size(); ++i) {
      if (!handles_[i]) continue;
      if (gangs_[i].reason != abi::Suspend::barrier || gangs_[i].barrier_id != 0) return false;
      arrived += gangs_[i].arrived;
      with_true += gangs_[i].reduction_in;
    }
    for (std::size_t i = 0; i < gangs_.size(); ++i) {
      if (!handles_[i]) continue;
      abi::Gang& gang = gangs_[i];
      if (gang.reduction == abi::BarrierReduction::all) gang.result = with_true == arrived;
      if (gang.reduction == abi::BarrierReduction::any) gang.result = with_true > 0;
      if (gang.reduction == abi::BarrierReduction::count) gang.result = with_true;
      resume(i);
    }
    return true;
  }

  std::vector<abi::Gang> gangs_;
  std::vector<void*> handles_;
};

}  // namespace

std::unique_ptr<llvm::Module> parse(const std::string& ir, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(ir + declarations(), problem, context);
  if (module) return module;
  std::string text;
  llvm::raw_string_ostream stream(text);
  problem.print("kernel", stream);
  throw std::runtime_error(text);
}

Ran run(const std::string& ir, const Run& options) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();  // masks are moved by inline assembly
  auto builder = check(llvm::orc::JITTargetMachineBuilder::detectHost());
  auto target = check(builder.createTargetMachine());
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = parse(ir, *context);
  module->setDataLayout(target->createDataLayout());
  llvm::Function* kernel = module->getFunction("kernel");
  jit::Compilation compilation;
  compilation.settings.width = options.width;
  compilation.target = target.get();
  compilation.context = context.get();
  compilation.code = std::move(module);
  compilation.thread = kernel;
  jit::run(jit::thread_passes(), compilation, "set-target");
  compilation.shape = jit::shape_of(options.block, compilation.width);
  jit::run(jit::gang_passes().first(jit::gang_passes().size() - 1), compilation);
  const unsigned width = compilation.width;
  const bool suspends = compilation.suspends;
  module = std::move(compilation.code);
  Ran ran{width, suspends, false, false, {}};
  llvm::raw_string_ostream(ran.code) << *module;
  if (options.compile_only) return ran;

  auto jit = check(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create());
  llvm::orc::SymbolMap symbols;
  const auto bind = [&](const char* name, auto* function) {
    symbols[jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  };
  bind("softgpu_rt_allocate_frame", &allocate_frame);
  bind("softgpu_rt_allocate_local", &allocate_local);
  bind("softgpu_rt_enter_local", &allocate_local);
  bind("softgpu_rt_leave_local", &leave_local);
  bind("softgpu_rt_divergent_barrier", &divergent_barrier);
  bind("softgpu_rt_misaligned_access", &misaligned_access);
  llvm::cantFail(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)));
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  const auto entry = check(jit->lookup(jit::kEntryName));

  std::vector<std::byte> shared(options.shared_bytes + 2 * abi::kSharedAlignment);
  abi::Block block;
  block.params = reinterpret_cast<const std::byte*>(options.params.data());
  block.shared =
      shared.data() + abi::kSharedAlignment - reinterpret_cast<std::uintptr_t>(shared.data()) % abi::kSharedAlignment;
  block.grid = options.grid;
  block.size = options.block;
  if (setjmp(out_of_kernel) == 0) {
    for (block.index.z = 0; block.index.z < options.grid.z; ++block.index.z)
      for (block.index.y = 0; block.index.y < options.grid.y; ++block.index.y)
        for (block.index.x = 0; block.index.x < options.grid.x; ++block.index.x) {
          if (suspends)
            ran.deadlock |= !Scheduler(entry.toPtr<abi::StartGang>(), block, width).run();
          else
            entry.toPtr<abi::RunBlock>()(&block);
        }
  } else {
    ran.divergent_barrier = true;
  }
  for (void* frame : frames) std::free(frame);
  frames.clear();
  return ran;
}

}  // namespace softgpu::simt::test
