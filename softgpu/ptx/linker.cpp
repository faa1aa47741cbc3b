#include "softgpu/ptx/linker.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "softgpu/ptx/symbols.hpp"

namespace softgpu::ptx {
namespace {

// Which of two symbols of the same name is kept: the stronger one, of equals the first.
enum class Strength : std::uint8_t { none, weak, common, strong };

Strength strength(Linkage linkage) {
  switch (linkage) {
    case Linkage::external: return Strength::none;
    case Linkage::weak: return Strength::weak;
    case Linkage::common: return Strength::common;
    case Linkage::internal:
    case Linkage::visible: break;
  }
  return Strength::strong;
}

bool is_defined(const Function& function) { return function.is_definition || function.alias_of != kNoFunction; }

Strength strength(const Function& function) {
  return is_defined(function) ? strength(function.linkage) : Strength::none;
}
Strength strength(const Variable& variable) { return strength(variable.linkage); }

// A function that is declared and not defined is looked for elsewhere, whatever its directive says.
bool is_shared(const Function& function) { return function.linkage != Linkage::internal || !is_defined(function); }
bool is_shared(const Variable& variable) { return variable.linkage != Linkage::internal; }

bool same_parameters(const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Parameter& x, const Parameter& y) {
    return x.is_array == y.is_array && (x.size == y.size || x.size == 0 || y.size == 0);
  });
}

bool same_prototype(const Function& a, const Function& b) {
  return a.is_kernel == b.is_kernel && same_parameters(a.results, b.results) &&
         same_parameters(a.parameters, b.parameters);
}

// "Size doesn't match for 'x' in 'b.ptx', first specified in 'a.ptx'"
std::string clash(const char* what, const std::string& symbol, const std::string& here, const char* first,
                  const std::string& there) {
  return std::string(what) + " '" + symbol + "' in '" + here + "', first " + first + " in '" + there + "'";
}

}  // namespace

std::vector<std::string> Linker::add(Module module, std::string name) {
  Plan plan = this->plan(module, name);
  if (!plan.errors.empty()) return std::move(plan.errors);
  result_.parts.push_back(std::move(name));
  carry_out(plan, std::move(module));
  return {};
}

bool Linker::is_wanted(const Module& module) const {
  const auto defines_what_is_missing = [&](const auto& symbol) {
    if (!is_shared(symbol) || strength(symbol) == Strength::none) return false;
    const auto found = shared_.find(symbol.name);
    if (found == shared_.end()) return false;
    const Place& place = found->second;
    return (place.is_function ? strength(result_.functions[place.index]) : strength(result_.variables[place.index])) ==
           Strength::none;
  };
  return std::any_of(module.functions.begin(), module.functions.end(), defines_what_is_missing) ||
         std::any_of(module.variables.begin(), module.variables.end(), defines_what_is_missing);
}

Linker::Plan Linker::plan(const Module& module, const std::string& name) const {
  Plan plan;
  auto next_function = static_cast<std::uint32_t>(result_.functions.size());
  auto next_variable = static_cast<std::uint32_t>(result_.variables.size());
  for (const Function& function : module.functions)
    plan.functions.push_back(place(function, next_function, plan, name));
  for (const Variable& variable : module.variables)
    plan.variables.push_back(place(variable, next_variable, plan, name));
  return plan;
}

const std::string& Linker::part_of(const Place& place) const {
  return result_.parts[place.is_function ? result_.functions[place.index].part : result_.variables[place.index].part];
}

Linker::Plan::Target Linker::place(const Function& function, std::uint32_t& next, Plan& plan,
                                   const std::string& name) const {
  const auto found = shared_.find(function.name);
  if (!is_shared(function) || found == shared_.end()) return {next++, true};
  const std::string& there = part_of(found->second);
  if (!found->second.is_function) {
    plan.errors.push_back(clash("Memory space doesn't match for", function.name, name, "specified", there));
    return {};
  }
  const Function& earlier = result_.functions[found->second.index];
  if (!same_prototype(earlier, function))
    plan.errors.push_back(clash("Prototype doesn't match for", function.name, name, "specified", there));
  else if (strength(earlier) == Strength::strong && strength(function) == Strength::strong)
    plan.errors.push_back(clash("Multiple definition of", function.name, name, "defined", there));
  return {found->second.index, strength(function) > strength(earlier)};
}

Linker::Plan::Target Linker::place(const Variable& variable, std::uint32_t& next, Plan& plan,
                                   const std::string& name) const {
  const auto found = shared_.find(variable.name);
  if (!is_shared(variable) || found == shared_.end()) return {next++, true};
  const std::string& there = part_of(found->second);
  if (found->second.is_function || result_.variables[found->second.index].space != variable.space) {
    plan.errors.push_back(clash("Memory space doesn't match for", variable.name, name, "specified", there));
    return {};
  }
  const Variable& earlier = result_.variables[found->second.index];
  const bool both_common = earlier.linkage == Linkage::common && variable.linkage == Linkage::common;
  if (earlier.size != variable.size && earlier.size != 0 && variable.size != 0 && !both_common)
    plan.errors.push_back(clash("Size doesn't match for", variable.name, name, "specified", there));
  else if (strength(earlier) == Strength::strong && strength(variable) == Strength::strong)
    plan.errors.push_back(clash("Multiple definition of", variable.name, name, "defined", there));
  const bool larger = strength(earlier) == strength(variable) && variable.size > earlier.size;
  return {found->second.index, larger || strength(variable) > strength(earlier)};
}

void Linker::carry_out(const Plan& plan, Module module) {
  const auto part = static_cast<std::uint32_t>(result_.parts.size() - 1);
  const auto redirect = [&](Symbol& symbol) {
    if (symbol.kind == Symbol::Kind::function) symbol.index = plan.functions[symbol.index].index;
    if (symbol.kind == Symbol::Kind::module_variable) symbol.index = plan.variables[symbol.index].index;
  };
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const auto [index, moves] = plan.functions[i];
    if (!moves) continue;
    Function& function = module.functions[i];
    for_each_symbol_of_function(function, redirect);
    if (function.alias_of != kNoFunction) function.alias_of = plan.functions[function.alias_of].index;
    function.part = part;
    if (is_shared(function)) shared_[function.name] = {true, index};
    if (index == result_.functions.size()) result_.functions.emplace_back();
    result_.functions[index] = std::move(function);
  }
  for (std::size_t i = 0; i < module.variables.size(); ++i) {
    const auto [index, moves] = plan.variables[i];
    Variable& variable = module.variables[i];
    if (index == result_.variables.size()) result_.variables.emplace_back();
    const std::uint32_t alignment = std::max(variable.alignment, result_.variables[index].alignment);
    if (moves) {
      for_each_symbol_of_variable(variable, redirect);
      variable.part = part;
      if (is_shared(variable)) shared_[variable.name] = {false, index};
      result_.variables[index] = std::move(variable);
    }
    result_.variables[index].alignment = alignment;
  }
  if (module.compute_capability > result_.compute_capability) {
    result_.compute_capability = module.compute_capability;
    result_.target = std::move(module.target);
  }
  std::tie(result_.version_major, result_.version_minor) = std::max(
      std::pair(result_.version_major, result_.version_minor), std::pair(module.version_major, module.version_minor));
}

// Later stages tell variables and kernels apart by name. A dot is in no name that PTX can have.
void Linker::make_names_unique() {
  std::unordered_set<std::string> taken;
  for (const auto& [name, place] : shared_) taken.insert(name);
  const auto settle = [&](auto& symbol) {
    if (is_shared(symbol) || taken.insert(symbol.name).second) return;
    for (std::size_t number = symbol.part + 1;; ++number) {
      std::string candidate = symbol.name + "." + std::to_string(number);
      if (!taken.insert(candidate).second) continue;
      symbol.name = std::move(candidate);
      return;
    }
  };
  for (Function& function : result_.functions) settle(function);
  for (Variable& variable : result_.variables) settle(variable);
}

Module Linker::finish() && {
  resolve_aliases(result_);
  make_names_unique();
  return std::move(result_);
}

}  // namespace softgpu::ptx
