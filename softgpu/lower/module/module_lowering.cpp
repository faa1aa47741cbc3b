#include "softgpu/lower/module/module_lowering.hpp"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>

#include <algorithm>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/lower/module/shared_layout.hpp"

namespace softgpu::lower {
namespace {

struct RuntimeCallInfo {
  const char* symbol;
  char result;
  std::string_view arguments;
};

constexpr RuntimeCallInfo kRuntimeCalls[] = {
#define RUNTIME_CALL(name, result, arguments, kind) {"softgpu_rt_" #name, #result[0], arguments},
#include "softgpu/abi/runtime_calls.def"
#undef RUNTIME_CALL
};

llvm::Type* type_of_letter(llvm::LLVMContext& context, char letter) {
  switch (letter) {
    case 'v': return llvm::Type::getVoidTy(context);
    case 'b': return llvm::Type::getInt1Ty(context);
    case 'h': return llvm::Type::getInt16Ty(context);
    case 'i': return llvm::Type::getInt32Ty(context);
    case 'l': return llvm::Type::getInt64Ty(context);
    case 'f': return llvm::Type::getFloatTy(context);
    case 'd': return llvm::Type::getDoubleTy(context);
    default: return llvm::PointerType::getUnqual(context);
  }
}

llvm::Function* declared(llvm::Module& module, llvm::StringRef symbol, char result, std::string_view arguments) {
  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::Type*, 10> types;
  for (char letter : arguments) types.push_back(type_of_letter(context, letter));
  auto* type = llvm::FunctionType::get(type_of_letter(context, result), types, false);
  return llvm::cast<llvm::Function>(module.getOrInsertFunction(symbol, type).getCallee());
}

// Of what exec/ provides.
llvm::MaybeAlign alignment_of(abi::Mark mark) {
  if (mark == abi::Mark::shared) return llvm::Align(abi::kSharedAlignment);
  if (mark == abi::Mark::params) return llvm::Align(abi::kParamsAlignment);
  return std::nullopt;
}

void set_attributes(llvm::Function& function, abi::Mark mark) {
  function.setDoesNotThrow();
  switch (abi::info(mark).kind) {
    case abi::MarkKind::query:
      function.setDoesNotAccessMemory();
      function.addFnAttr(llvm::Attribute::WillReturn);
      function.addFnAttr(llvm::Attribute::Speculatable);
      function.addRetAttr(llvm::Attribute::NoUndef);
      if (const auto alignment = alignment_of(mark))
        function.addRetAttr(llvm::Attribute::getWithAlignment(function.getContext(), *alignment));
      break;
    case abi::MarkKind::note:
    case abi::MarkKind::clock: function.addFnAttr(llvm::Attribute::WillReturn); break;
    case abi::MarkKind::warp:
    case abi::MarkKind::block: function.setConvergent(); break;
    case abi::MarkKind::control:
      if (mark == abi::Mark::exit) function.setDoesNotReturn();
      break;
  }
}

}  // namespace

namespace {

// One scope for the lines of all functions, which are lines of one text: so code can be inlined, cloned and made into
// gangs without a word about scopes. No function has it; they get theirs when code is generated.
llvm::DISubprogram* scope_of_lines(llvm::Module& module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile("ptx", "");
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "softgpu", /*isOptimized=*/true, "", 0, "",
                            llvm::DICompileUnit::LineTablesOnly);
  llvm::DISubprogram* scope =
      builder.createFunction(file, "ptx", "", file, 0, builder.createSubroutineType(builder.getOrCreateTypeArray({})),
                             0, llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  builder.finalize();
  return scope;
}

}  // namespace

llvm::FunctionType* Signature::type(llvm::LLVMContext& context) const {
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  const auto scalar = [&](const ptx::Parameter& p) { return llvm::Type::getIntNTy(context, ptx::bits(p.type)); };
  llvm::SmallVector<llvm::Type*, 8> arguments;
  if (!returns_value()) arguments.append(results.size(), pointer);
  for (const ptx::Parameter& parameter : parameters)
    arguments.push_back(parameter.is_array ? pointer : scalar(parameter));
  llvm::Type* result = returns_value() ? scalar(results[0]) : llvm::Type::getVoidTy(context);
  return llvm::FunctionType::get(result, arguments, false);
}

ModuleLowering::ModuleLowering(llvm::LLVMContext& context, const ptx::Module& source, const ptx::Function& kernel)
    : source_(source),
      kernel_(kernel),
      call_graph_(source),
      module_(std::make_unique<llvm::Module>(kernel.name, context)) {
  lines_ = scope_of_lines(*module_);
  const SharedLayout shared = shared_layout(call_graph_, kernel);
  reserved_shared_bytes_ = shared.reserved_bytes;
  for (const SharedLayout::Entry& entry : shared.entries) shared_offsets_[entry.variable] = entry.offset;
}

std::unique_ptr<llvm::Module> ModuleLowering::run(const Fill& fill) {
  const std::vector<std::uint32_t> reachable = call_graph_.reachable(index_of(source_, kernel_));
  for (std::uint32_t index : reachable) declare(index);
  for (std::uint32_t index : reachable) fill(*this, source_.functions[index], *functions_[index]);
  return std::move(module_);
}

void ModuleLowering::declare(std::uint32_t index) {
  const ptx::Function& function = source_.functions[index];
  const bool is_root = &function == &kernel_;
  auto* type = is_root ? llvm::FunctionType::get(llvm::Type::getVoidTy(context()), false)
                       : Signature{function.results, function.parameters}.type(context());
  auto* declared = llvm::Function::Create(
      type, is_root ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage,
      is_root ? function.name : "device." + function.name, *module_);  // not to be taken for a C function of that name
  declared->setDoesNotThrow();
  declared->addFnAttr(llvm::Attribute::NullPointerIsValid);  // an access to address 0 is one that faults
  if (!is_root && !call_graph_.is_recursive(index)) declared->addFnAttr(llvm::Attribute::AlwaysInline);
  functions_[index] = declared;
}

llvm::Function* ModuleLowering::mark(abi::Mark mark) {
  const abi::MarkInfo& info = abi::info(mark);
  if (llvm::Function* known = module_->getFunction(info.symbol)) return known;
  llvm::Function* function = declared(*module_, info.symbol, info.result, info.arguments);
  set_attributes(*function, mark);
  return function;
}

llvm::Function* ModuleLowering::runtime_call(RuntimeCall call) {
  const RuntimeCallInfo& info = kRuntimeCalls[static_cast<std::size_t>(call)];
  llvm::Function* function = declared(*module_, info.symbol, info.result, info.arguments);
  function->setDoesNotThrow();
  if (call == RuntimeCall::trap || call == RuntimeCall::assert_fail) function->setDoesNotReturn();
  return function;
}

llvm::Function* ModuleLowering::function(std::uint32_t index) { return functions_.at(index); }

llvm::GlobalVariable* ModuleLowering::variable(std::uint32_t index) {
  const ptx::Variable& variable = source_.variables[index];
  if (auto* known = module_->getGlobalVariable(variable.name)) return known;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context()), variable.size);
  auto* global = new llvm::GlobalVariable(*module_, type, variable.space == ptx::Space::const_,
                                          llvm::GlobalValue::ExternalLinkage, nullptr, variable.name);
  global->setAlignment(llvm::Align(std::max(variable.alignment, 1u)));
  return global;
}

llvm::DebugLoc ModuleLowering::line(std::uint32_t number) {
  return llvm::DILocation::get(context(), number, 0, lines_);
}

std::uint32_t ModuleLowering::shared_offset(const ptx::Variable& variable) const {
  return shared_offsets_.at(&variable);
}

}  // namespace softgpu::lower
