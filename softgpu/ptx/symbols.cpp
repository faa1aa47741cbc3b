#include "softgpu/ptx/symbols.hpp"

namespace softgpu::ptx {

void resolve_aliases(Module& module) {
  std::vector<std::uint32_t> targets;
  bool has_aliases = false;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    // An alias may be of an alias. Going on for longer than there are functions would be going in a circle.
    std::uint32_t target = i;
    for (std::size_t steps = 0; steps < module.functions.size(); ++steps) {
      const std::uint32_t further = module.functions[target].alias_of;
      if (further == kNoFunction) break;
      target = further;
    }
    targets.push_back(target);
    has_aliases |= target != i;
  }
  if (!has_aliases) return;
  const auto resolve = [&](Symbol& symbol) {
    if (symbol.kind == Symbol::Kind::function) symbol.index = targets[symbol.index];
  };
  for (Variable& variable : module.variables) for_each_symbol_of_variable(variable, resolve);
  for (Function& function : module.functions) for_each_symbol_of_function(function, resolve);
}

}  // namespace softgpu::ptx
