// Walking over what a function or variable refers to by name.
#pragma once

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

// Function, Variable and Operand may be const; `visit` gets each Symbol, labels and parameters among them.
template <typename Operand, typename Visit>
void for_each_symbol_of_operand(Operand& operand, Visit& visit) {
  if (auto* address = std::get_if<Address>(&operand.value)) {
    if (auto* symbol = std::get_if<Symbol>(&address->base)) visit(*symbol);
  } else if (auto* vector = std::get_if<VectorOperand>(&operand.value)) {
    for (auto& element : vector->elements) for_each_symbol_of_operand(element, visit);
  }
}

template <typename Variable, typename Visit>
void for_each_symbol_of_variable(Variable& variable, Visit visit) {
  for (auto& relocation : variable.relocations) visit(relocation.target);
}

template <typename Function, typename Visit>
void for_each_symbol_of_function(Function& function, Visit visit) {
  for (auto& variable : function.variables) for_each_symbol_of_variable(variable, visit);
  for (auto& instruction : function.body) {
    for (auto& operand : instruction.operands) for_each_symbol_of_operand(operand, visit);
    if (!instruction.call) continue;
    if (auto* callee = std::get_if<Symbol>(&instruction.call->callee)) visit(*callee);
    for (auto& operand : instruction.call->results) for_each_symbol_of_operand(operand, visit);
    for (auto& operand : instruction.call->arguments) for_each_symbol_of_operand(operand, visit);
  }
}

// Whatever names an alias names its function afterwards.
void resolve_aliases(Module& module);

}  // namespace softgpu::ptx
