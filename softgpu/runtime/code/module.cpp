#include "softgpu/runtime/code/module.hpp"

#include <cstdlib>
#include <string>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/code_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

std::shared_ptr<VariableBlock> make_managed(MemoryServices& services, const ptx::Module& module,
                                            const Context& context) {
  return std::make_shared<VariableBlock>(services, module, VariableBlock::Holds::managed_variables, context);
}

}  // namespace

Module::Module(CodeServices& services, Context& context, std::shared_ptr<const jit::Program> program,
               std::shared_ptr<VariableBlock> managed)
    : services_(services),
      context_(context.shared_from_this()),
      program_(std::move(program)),
      variables_(services.memory, program_->module(), VariableBlock::Holds::device_variables, context),
      managed_variables_(managed != nullptr ? managed : make_managed(services.memory, program_->module(), context)) {
  for (std::size_t i = 0; i < variables_.addresses().size(); ++i) {
    std::byte* const own = variables_.addresses()[i];
    addresses_.push_back(own != nullptr ? own : managed_variables_->addresses()[i]);
  }
  variables_.initialize(program_->module(), addresses_);
  if (managed == nullptr) managed_variables_->initialize(program_->module(), addresses_);
  image_ = std::make_unique<jit::Image>(program_, addresses_, services.object_cache);
}

std::shared_ptr<Module> Module::load(CodeServices& services, Context& context,
                                     std::shared_ptr<const jit::Program> program, const Shared& shared) {
  const std::shared_ptr<Module> module(new Module(services, context, std::move(program), shared.managed_variables));
  module->make_functions(shared);
  return module;
}

Module::~Module() { drop_handles(); }

CUmoduleLoadingMode loading_mode() {
  static const CUmoduleLoadingMode mode = [] {
    const char* const wanted = std::getenv("CUDA_MODULE_LOADING");
    return wanted != nullptr && std::string_view(wanted) == "EAGER" ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  }();
  return mode;
}

void Module::make_functions(const Shared& shared) {
  for (std::size_t i = 0; i < program_->kernels().size(); ++i) {
    auto function = std::make_shared<Function>(weak_from_this(), i, program_->kernels()[i],
                                               shared.settings.empty() ? nullptr : shared.settings[i]);
    if (loading_mode() == CU_MODULE_EAGER_LOADING) function->load();
    function->set_handle(services_.functions.add(function));
    functions_.push_back(std::move(function));
  }
}

void Module::drop_handles() {
  for (const auto& function : functions_) services_.functions.remove(function->take_handle());
}

std::shared_ptr<Function> Module::find_function(std::string_view name) const {
  for (const auto& function : functions_)
    if (function->facts().name == name) return function;
  return nullptr;
}

Module::Symbol Module::symbol(std::string_view name) const {
  const auto& variables = program_->module().variables;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (addresses_[i] != nullptr && variables[i].name == name)
      return {static_cast<std::byte*>(addresses_[i]), variables[i].size, variables[i].managed};
  throw Failure(CUDA_ERROR_NOT_FOUND, "the module has no variable named '" + std::string(name) + "'");
}

}  // namespace softgpu::runtime
