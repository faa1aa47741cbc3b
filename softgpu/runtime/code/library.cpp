#include "softgpu/runtime/code/library.hpp"

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/code/code_services.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

std::vector<std::shared_ptr<KernelSettings>> settings_for(int devices) {
  std::vector<std::shared_ptr<KernelSettings>> settings;
  for (int i = 0; i < devices; ++i) settings.push_back(std::make_shared<KernelSettings>());
  return settings;
}

}  // namespace

Kernel::Kernel(const std::weak_ptr<Library>& library, std::shared_ptr<const jit::Program> program, std::size_t index,
               int devices)
    : library_(library), program_(std::move(program)), index_(index), settings_(settings_for(devices)) {}

const std::shared_ptr<KernelSettings>& Kernel::settings(const Device& device) const {
  return settings_[static_cast<std::size_t>(device.ordinal())];
}

KernelOnDevice Kernel::on(const Device& device) const { return {facts(), program_->module(), device.profile()}; }

std::shared_ptr<Function> Kernel::function(Context& context) {
  const std::shared_ptr<Library> owner = library();
  require(owner != nullptr, CUDA_ERROR_INVALID_HANDLE, "the kernel's library is unloaded");
  std::shared_ptr<Function> function = owner->module(context)->functions()[index_];
  function->load();
  return function;
}

int Kernel::attribute(CUfunction_attribute attribute, const Device& device) const {
  return kernel_attribute(attribute, on(device), *settings(device));
}

void Kernel::set_attribute(CUfunction_attribute attribute, int value, const Device& device) {
  set_kernel_attribute(attribute, value, on(device), *settings(device));
}

std::shared_ptr<Library> Library::load(CodeServices& services, std::shared_ptr<const jit::Program> program) {
  const std::shared_ptr<Library> library(new Library(services, std::move(program)));
  for (std::size_t i = 0; i < library->program_->kernels().size(); ++i) {
    auto kernel = std::make_shared<Kernel>(library, library->program_, i, services.memory.devices.count());
    kernel->set_handle(services.kernels.add(kernel));
    library->kernels_.push_back(std::move(kernel));
  }
  return library;
}

Library::~Library() { unload(); }

std::shared_ptr<Kernel> Library::find_kernel(std::string_view name) const {
  for (const auto& kernel : kernels_)
    if (kernel->facts().name == name) return kernel;
  return nullptr;
}

std::shared_ptr<Module> Library::module(Context& context) {
  const std::scoped_lock lock(mutex_);
  if (const auto it = modules_.find(context.id()); it != modules_.end()) return it->second;
  Module::Shared shared{.settings = {}, .managed_variables = managed_variables_};
  for (const auto& kernel : kernels_) shared.settings.push_back(kernel->settings(context.device()));
  std::shared_ptr<Module> module = Module::load(services_, context, program_, shared);
  managed_variables_ = module->managed_variables();
  module->set_handle(services_.modules.add(module));
  return modules_.emplace(context.id(), std::move(module)).first->second;
}

void Library::forget(Context& context) {
  std::shared_ptr<Module> module;
  const std::scoped_lock lock(mutex_);
  if (const auto it = modules_.find(context.id()); it != modules_.end()) {
    module = std::move(it->second);
    modules_.erase(it);
  }
  if (module != nullptr) services_.modules.remove(module->handle());
}

void Library::unload() {
  std::map<std::uint64_t, std::shared_ptr<Module>> modules;
  {
    const std::scoped_lock lock(mutex_);
    modules.swap(modules_);
    managed_variables_.reset();
  }
  for (const auto& [id, module] : modules) {
    module->drop_handles();
    services_.modules.remove(module->handle());
  }
  for (const auto& kernel : kernels_) services_.kernels.remove(kernel->take_handle());
}

void unload_modules(CodeServices& services, Context& context) {
  for (const auto& library : services.libraries.all()) library->forget(context);
  for (const auto& module : services.modules.all()) {
    if (&module->context() != &context) continue;
    module->drop_handles();
    services.modules.remove(module->handle());
  }
}

}  // namespace softgpu::runtime
