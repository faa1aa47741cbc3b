#include "softgpu/lower/module/call_graph.hpp"

#include <algorithm>
#include <unordered_set>

namespace softgpu::lower {
namespace {

using ptx::Symbol;

// Calls `visit` with the index of each function that the operand names.
template <typename Visit>
void for_each_function(const ptx::Operand& operand, Visit visit) {
  if (const auto* address = std::get_if<ptx::Address>(&operand.value)) {
    const auto* symbol = std::get_if<Symbol>(&address->base);
    if (symbol && symbol->kind == Symbol::Kind::function) visit(symbol->index);
  } else if (const auto* vector = std::get_if<ptx::VectorOperand>(&operand.value)) {
    for (const ptx::Operand& element : vector->elements) for_each_function(element, visit);
  }
}

bool same_shape(const std::vector<ptx::Parameter>& a, const std::vector<ptx::Parameter>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ptx::Parameter& x, const ptx::Parameter& y) {
    return x.size == y.size && x.is_array == y.is_array;
  });
}

}  // namespace

std::uint32_t index_of(const ptx::Module& module, const ptx::Function& function) {
  return static_cast<std::uint32_t>(&function - module.functions.data());
}

CallGraph::CallGraph(const ptx::Module& module) : module_(module), address_taken_(module.functions.size()) {
  const auto take = [&](std::uint32_t index) { address_taken_[index] = true; };
  for (const ptx::Function& function : module.functions)
    for (const ptx::Instruction& instruction : function.body)
      for (const ptx::Operand& operand : instruction.operands) for_each_function(operand, take);
  for (const ptx::Variable& variable : module.variables)
    for (const ptx::Relocation& relocation : variable.relocations)
      if (relocation.target.kind == Symbol::Kind::function) take(relocation.target.index);
  for (const ptx::Function& function : module.functions) callees_.push_back(callees(function));
}

std::vector<std::uint32_t> CallGraph::candidates(const ptx::Prototype& prototype) const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < module_.functions.size(); ++i) {
    const ptx::Function& function = module_.functions[i];
    if (address_taken_[i] && !function.is_kernel && same_shape(function.results, prototype.results) &&
        same_shape(function.parameters, prototype.parameters))
      result.push_back(i);
  }
  return result;
}

std::vector<std::uint32_t> CallGraph::callees(const ptx::Function& function) const {
  std::vector<std::uint32_t> result;
  for (const ptx::Instruction& instruction : function.body) {
    if (!instruction.call) continue;
    if (const auto* symbol = std::get_if<Symbol>(&instruction.call->callee)) {
      result.push_back(symbol->index);
    } else if (instruction.call->prototype < function.prototypes.size()) {
      for (std::uint32_t candidate : candidates(function.prototypes[instruction.call->prototype]))
        result.push_back(candidate);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// A set and not a mark for each function of the module: modules have thousands of kernels that call a few.
std::vector<std::uint32_t> CallGraph::called_from(std::uint32_t function) const {
  std::vector<std::uint32_t> found;
  std::unordered_set<std::uint32_t> seen;
  const auto visit_callees = [&](std::uint32_t caller) {
    for (std::uint32_t callee : callees_[caller])
      if (seen.insert(callee).second) found.push_back(callee);
  };
  visit_callees(function);
  for (std::size_t i = 0; i < found.size(); ++i) visit_callees(found[i]);
  return found;
}

std::vector<std::uint32_t> CallGraph::reachable(std::uint32_t function) const {
  std::vector<std::uint32_t> result = called_from(function);
  if (std::find(result.begin(), result.end(), function) == result.end()) result.push_back(function);
  std::sort(result.begin(), result.end());
  return result;
}

bool CallGraph::is_recursive(std::uint32_t function) const {
  const std::vector<std::uint32_t> called = called_from(function);
  return std::find(called.begin(), called.end(), function) != called.end();
}

}  // namespace softgpu::lower
