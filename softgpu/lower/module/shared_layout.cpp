#include "softgpu/lower/module/shared_layout.hpp"

#include <algorithm>

namespace softgpu::lower {
namespace {

bool is_dynamic(const ptx::Variable& variable) {
  return variable.size == 0 && variable.linkage == ptx::Linkage::external;
}

std::uint32_t round_up(std::uint32_t value, std::uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The module's variables that operands name, and whether one asks for what is reserved.
struct Named {
  std::vector<bool> variables;
  bool reserved = false;
};

void note(const ptx::Operand& operand, Named& named) {
  if (const auto* special = std::get_if<ptx::SpecialRegister>(&operand.value))
    named.reserved |= is_of_reserved_shared_memory(*special);
  else if (const auto* address = std::get_if<ptx::Address>(&operand.value)) {
    const auto* symbol = std::get_if<ptx::Symbol>(&address->base);
    if (symbol && symbol->kind == ptx::Symbol::Kind::module_variable) named.variables[symbol->index] = true;
  } else if (const auto* vector = std::get_if<ptx::VectorOperand>(&operand.value)) {
    for (const ptx::Operand& element : vector->elements) note(element, named);
  }
}

class Layout {
 public:
  void reserve() { result_.reserved_bytes = result_.static_bytes = ReservedShared::kBytes; }
  void add(const ptx::Variable& variable) {
    if (variable.space != ptx::Space::shared) return;
    const std::uint32_t alignment = std::max(variable.alignment, 1u);
    result_.alignment = std::max(result_.alignment, alignment);
    if (is_dynamic(variable)) {
      dynamic_.push_back(&variable);
      dynamic_alignment_ = std::max({dynamic_alignment_, alignment, 16u});
    } else {
      const std::uint32_t offset = round_up(result_.static_bytes, alignment);
      result_.entries.push_back({&variable, offset});
      result_.static_bytes = offset + static_cast<std::uint32_t>(variable.size);
    }
  }

  SharedLayout finish() {
    result_.static_bytes = round_up(result_.static_bytes, dynamic_alignment_);
    for (const ptx::Variable* variable : dynamic_) result_.entries.push_back({variable, result_.static_bytes});
    return std::move(result_);
  }

 private:
  SharedLayout result_;
  std::vector<const ptx::Variable*> dynamic_;
  std::uint32_t dynamic_alignment_ = 1;
};

}  // namespace

SharedLayout shared_layout(const CallGraph& graph, const ptx::Function& kernel) {
  const ptx::Module& module = graph.module();
  const std::vector<std::uint32_t> functions = graph.reachable(index_of(module, kernel));
  Named named{std::vector<bool>(module.variables.size())};
  for (std::uint32_t function : functions)
    for (const ptx::Instruction& instruction : module.functions[function].body)
      for (const ptx::Operand& operand : instruction.operands) note(operand, named);

  Layout layout;
  if (named.reserved) layout.reserve();
  for (std::size_t i = 0; i < named.variables.size(); ++i)
    if (named.variables[i]) layout.add(module.variables[i]);
  for (std::uint32_t function : functions)
    for (const ptx::Variable& variable : module.functions[function].variables) layout.add(variable);
  return layout.finish();
}

}  // namespace softgpu::lower
