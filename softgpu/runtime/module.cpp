#include "softgpu/runtime/module.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include "softgpu/runtime/context.hpp"
#include "softgpu/runtime/device.hpp"
#include "softgpu/runtime/driver.hpp"
#include "softgpu/runtime/library.hpp"

namespace softgpu::runtime {
namespace {

// What is declared only, nobody uses: that was checked when the program was made.
bool in_device_memory(const ptx::Variable& variable) {
  return (variable.space == ptx::Space::global || variable.space == ptx::Space::const_) &&
         variable.linkage != ptx::Linkage::external;
}

// The driver aligns every variable so that any vector access to it is.
constexpr std::size_t kVariableAlignment = 256;

}  // namespace

Module::Module(Context& context, std::shared_ptr<const jit::Program> program)
    : context_(context.shared_from_this()), program_(std::move(program)) {
  place_variables();
  image_ = std::make_unique<jit::Image>(program_, addresses_, Driver::get().object_cache());
  initialize_variables();
}

std::shared_ptr<Module> Module::load(Context& context, std::shared_ptr<const jit::Program> program,
                                     const Settings& settings) {
  const std::shared_ptr<Module> module(new Module(context, std::move(program)));
  module->make_functions(settings);
  return module;
}

CUmoduleLoadingMode loading_mode() {
  static const CUmoduleLoadingMode mode = [] {
    const char* const wanted = std::getenv("CUDA_MODULE_LOADING");
    return wanted != nullptr && std::string_view(wanted) == "EAGER" ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  }();
  return mode;
}

Module::~Module() {
  drop_handles();
  image_.reset();
  if (block_ == nullptr) return;
  for (void* address : addresses_)
    if (address != nullptr) Driver::get().allocations().erase(address);
  Driver::get().managed_pages().forget(block_, block_bytes_);
  context_->device().heap()->release(block_, block_bytes_);
}

void Module::place_variables() {
  const auto& variables = program_->module().variables;
  std::vector<std::size_t> offsets(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& variable = variables[i];
    if (!in_device_memory(variable)) continue;
    offsets[i] = memory::round_up(block_bytes_, std::max<std::size_t>(kVariableAlignment, variable.alignment));
    block_bytes_ = offsets[i] + std::max<std::size_t>(variable.size, 1);
  }
  addresses_.assign(variables.size(), nullptr);
  if (block_bytes_ == 0) return;

  block_ = context_->device().heap()->allocate(block_bytes_);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!in_device_memory(variables[i])) continue;
    addresses_[i] = block_ + offsets[i];
    Driver::get().allocations().insert({.base = block_ + offsets[i],
                                        .size = std::max<std::size_t>(variables[i].size, 1),
                                        .kind = variables[i].managed ? memory::Kind::managed : memory::Kind::device,
                                        .device = context_->device().ordinal(),
                                        .context = context_->id(),
                                        .freed_by = memory::FreedBy::module_unload});
  }
}

void Module::initialize_variables() {
  const ptx::Module& source = program_->module();
  for (std::size_t i = 0; i < source.variables.size(); ++i) {
    auto* base = static_cast<std::byte*>(addresses_[i]);
    if (base == nullptr) continue;
    const ptx::Variable& variable = source.variables[i];
    if (!variable.initial.empty()) std::memcpy(base, variable.initial.data(), variable.initial.size());
    for (const ptx::Relocation& relocation : variable.relocations) {
      const ptx::Symbol& target = relocation.target;
      const void* address = target.kind == ptx::Symbol::Kind::function ? jit::Image::function_address(target.index)
                                                                       : addresses_.at(target.index);
      const auto value = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uint64_t>(relocation.addend);
      std::memcpy(base + relocation.offset, &value, sizeof value);
    }
  }
}

void Module::make_functions(const Settings& settings) {
  for (std::size_t i = 0; i < program_->kernels().size(); ++i) {
    auto function = std::make_shared<Function>(weak_from_this(), i, program_->kernels()[i],
                                               settings.empty() ? nullptr : settings[i]);
    if (loading_mode() == CU_MODULE_EAGER_LOADING) function->load();
    function->set_handle(Driver::get().handles().functions.add(function));
    functions_.push_back(std::move(function));
  }
}

void Module::drop_handles() {
  for (const auto& function : functions_) Driver::get().handles().functions.remove(function->take_handle());
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

void unload_modules(Context& context) {
  Handles& handles = Driver::get().handles();
  for (const auto& library : handles.libraries.all()) library->forget(context);
  for (const auto& module : handles.modules.all()) {
    if (&module->context() != &context) continue;
    module->drop_handles();
    handles.modules.remove(module->handle());
  }
}

}  // namespace softgpu::runtime
