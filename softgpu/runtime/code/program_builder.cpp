#include "softgpu/runtime/code/program_builder.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "softgpu/ptx/parameter_layout.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/symbols.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

CUresult code_of(ptx::Diagnostic::Cause cause) {
  switch (cause) {
    case ptx::Diagnostic::Cause::invalid: return CUDA_ERROR_INVALID_PTX;
    case ptx::Diagnostic::Cause::unsupported: return CUDA_ERROR_NOT_SUPPORTED;
    case ptx::Diagnostic::Cause::version: return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  return CUDA_ERROR_INVALID_PTX;
}

// With the code of the first error.
[[noreturn]] void refuse(const std::vector<ptx::Diagnostic>& diagnostics, const std::string& name) {
  const auto first = std::find_if(diagnostics.begin(), diagnostics.end(), [](const ptx::Diagnostic& diagnostic) {
    return diagnostic.severity == ptx::Diagnostic::Severity::error;
  });
  std::string log;
  for (const ptx::Diagnostic& diagnostic : diagnostics)
    log += (name.empty() ? "" : name + ", ") + ptx::to_string(diagnostic) + "\n";
  throw Failure(first != diagnostics.end() ? code_of(first->cause) : CUDA_ERROR_INVALID_PTX, log);
}

// PTX for a newer GPU than the device is refused. That for one architecture alone (sm_90a) or for a family (sm_100f)
// runs on no other; softgpu checks the number and leaves it to the parser to refuse what only such a GPU can do.
void check_target(const ptx::Module& module, unsigned compute_capability) {
  if (module.compute_capability <= compute_capability) return;
  throw Failure(CUDA_ERROR_INVALID_PTX, "the PTX is for " + module.target + " but the device has compute capability " +
                                            std::to_string(compute_capability / 10) + "." +
                                            std::to_string(compute_capability % 10) +
                                            "; compile for an older architecture or set SOFTGPU_COMPUTE_CAPABILITY");
}

// In the linker's words: one line for each.
std::string log_of(const std::vector<std::string>& errors) {
  std::string log;
  for (const std::string& error : errors) log += "error   : " + error + "\n";
  return log;
}

// Unsized .extern .shared arrays are the dynamic shared memory, which nobody defines.
bool is_undefined(const ptx::Variable& variable) {
  return variable.linkage == ptx::Linkage::external && variable.space != ptx::Space::shared;
}

// Variables that are used and defined nowhere.
std::set<std::uint32_t> undefined_variables(const ptx::Module& module) {
  std::set<std::uint32_t> undefined;
  const auto note = [&](const ptx::Symbol& symbol) {
    if (symbol.kind == ptx::Symbol::Kind::module_variable && is_undefined(module.variables[symbol.index]))
      undefined.insert(symbol.index);
  };
  for (const ptx::Function& function : module.functions) for_each_symbol_of_function(function, note);
  for (const ptx::Variable& variable : module.variables) for_each_symbol_of_variable(variable, note);
  return undefined;
}

// Links insist on a definition of variables that nobody uses, too.
std::set<std::uint32_t> declared_variables(const ptx::Module& module) {
  std::set<std::uint32_t> declared;
  for (std::uint32_t i = 0; i < module.variables.size(); ++i)
    if (is_undefined(module.variables[i])) declared.insert(i);
  return declared;
}

std::set<std::string_view> undefined_functions(const jit::Program& program) {
  std::set<std::string_view> undefined;
  for (const jit::KernelFacts& kernel : program.kernels())
    undefined.insert(kernel.missing_functions.begin(), kernel.missing_functions.end());
  return undefined;
}

void check_symbols(const jit::Program& program, ProgramUse use) {
  const ptx::Module& module = program.module();
  std::vector<std::string> errors;
  const auto note = [&](const auto& symbol) {
    const std::string& part = module.parts[symbol.part];
    errors.push_back("Undefined reference to '" + symbol.name + "'" +
                     (part.empty() ? "; link the module that defines it" : " in '" + part + "'"));
  };
  const std::set<std::string_view> functions = undefined_functions(program);
  for (const ptx::Function& function : module.functions)
    if (!function.is_definition && functions.contains(function.name)) note(function);
  const bool is_link = use == ProgramUse::link;
  for (const std::uint32_t index : is_link ? declared_variables(module) : undefined_variables(module))
    note(module.variables[index]);
  if (!errors.empty()) throw Failure(is_link ? CUDA_ERROR_INVALID_SOURCE : CUDA_ERROR_INVALID_PTX, log_of(errors));
}

// What the cached machine code depends on.
std::string text_of(const std::vector<PtxPart>& parts) {
  std::string all = parts.front().text;
  for (std::size_t i = 1; i < parts.size(); ++i) all.append(1, '\0').append(parts[i].text);
  return all;
}

// Whether the parameters are where every device has them.
bool lay_out_parameters(ptx::Module& module, std::uint64_t base) {
  bool is_same = true;
  for (ptx::Function& function : module.functions)
    if (function.is_kernel) is_same = ptx::lay_out_parameters(function, base) && is_same;
  return is_same;
}

}  // namespace

ptx::Module ProgramBuilder::parse(const PtxPart& part) const {
  ptx::ParseResult result = ptx::parse(part.text);
  if (!result.module) refuse(result.diagnostics, part.name);
  check_target(*result.module, compute_capability_);
  return *std::move(result.module);
}

void ProgramBuilder::add(ptx::Module module, PtxPart part) {
  const std::vector<std::string> errors = linker_.add(std::move(module), part.name);
  if (!errors.empty()) throw Failure(CUDA_ERROR_INVALID_SOURCE, log_of(errors));
  parts_.push_back(std::move(part));
}

void ProgramBuilder::add(PtxPart part) {
  ptx::Module module = parse(part);
  add(std::move(module), std::move(part));
}

std::shared_ptr<const jit::Program> ProgramBuilder::finish(ProgramUse use, const jit::CompilerSettings& settings) && {
  ptx::Module module = std::move(linker_).finish();
  limits_.apply(module);
  std::string text = text_of(parts_);
  const std::uint64_t base = ptx::parameter_base(compute_capability_);
  if (!lay_out_parameters(module, base)) text.append(1, '\0').append("parameters from " + std::to_string(base));
  auto program = std::make_shared<const jit::Program>(std::move(module), std::move(text), settings);
  check_symbols(*program, use);
  return program;
}

std::string resource_usage(const jit::Program& program) {
  std::string log;
  for (const jit::KernelFacts& kernel : program.kernels())
    log += "info    : Function properties for '" + kernel.name + "':\ninfo    : used " +
           std::to_string(kernel.registers) + " registers, " + std::to_string(kernel.static_shared_bytes) +
           " bytes smem, " + std::to_string(kernel.local_bytes) + " bytes lmem, " + std::to_string(kernel.param_bytes) +
           " bytes of parameters\n";
  return log;
}

}  // namespace softgpu::runtime
