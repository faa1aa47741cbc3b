#include "softgpu/lower/lower.hpp"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "softgpu/lower/function/function_lowering.hpp"
#include "softgpu/lower/instructions.hpp"
#include "softgpu/lower/module/module_lowering.hpp"
#include "softgpu/lower/module/provided_functions.hpp"

namespace softgpu::lower {

std::vector<std::string> missing_functions(const CallGraph& graph, const ptx::Function& kernel) {
  const ptx::Module& module = graph.module();
  std::vector<std::string> missing;
  for (std::uint32_t index : graph.reachable(index_of(module, kernel))) {
    const ptx::Function& function = module.functions[index];
    if (!function.is_definition && !is_provided(function)) missing.push_back(function.name);
  }
  return missing;
}

namespace {

bool calls_provided(const CallGraph& graph, const ptx::Function& kernel,
                    std::initializer_list<std::string_view> names) {
  const ptx::Module& module = graph.module();
  const std::vector<std::uint32_t> reachable = graph.reachable(index_of(module, kernel));
  return std::any_of(reachable.begin(), reachable.end(), [&](std::uint32_t index) {
    const ptx::Function& function = module.functions[index];
    return !function.is_definition && std::find(names.begin(), names.end(), function.name) != names.end();
  });
}

}  // namespace

bool uses_heap(const CallGraph& graph, const ptx::Function& kernel) {
  return calls_provided(graph, kernel, {"malloc", "free"});
}

bool launches_graphs(const CallGraph& graph, const ptx::Function& kernel) {
  return calls_provided(graph, kernel, {"cudaGraphLaunch"});
}

std::unique_ptr<llvm::Module> lower_kernel(llvm::LLVMContext& context, const ptx::Module& module,
                                           const ptx::Function& kernel) {
  const auto fill = [](ModuleLowering& in, const ptx::Function& source, llvm::Function& target) {
    if (source.is_definition)
      FunctionLowering(in, row_of, source, target).run();
    else
      define_provided(in, source, target);
  };
  std::unique_ptr<llvm::Module> result = ModuleLowering(context, module, kernel).run(fill);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*result, &stream))
    throw std::runtime_error("lowering of '" + kernel.name + "' made invalid code: " + problem);
  return result;
}

}  // namespace softgpu::lower
