// Device code in one context: CUmodule.
#pragma once

#include <cuda.h>

#include <memory>
#include <string_view>
#include <vector>

#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/code/variable_block.hpp"

namespace softgpu::runtime {

struct CodeServices;
class Context;

// Thread-safe. Kernels under way keep their module alive.
class Module : public std::enable_shared_from_this<Module> {
 public:
  // What the modules of a library have in common; nothing for a module of its own.
  struct Shared {
    std::vector<std::shared_ptr<const KernelSettings>> settings;  // of its kernels, on the context's device
    std::shared_ptr<VariableBlock> managed_variables;             // once the first module has made them
  };

  // Puts the program's variables into the context's device memory and makes handles for its kernels.
  static std::shared_ptr<Module> load(CodeServices& services, Context& context,
                                      std::shared_ptr<const jit::Program> program, const Shared& shared = {});
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Context& context() const { return *context_; }
  CodeServices& services() const { return services_; }
  const jit::Program& program() const { return *program_; }
  jit::Image& image() { return *image_; }
  const std::shared_ptr<VariableBlock>& managed_variables() const { return managed_variables_; }

  const std::vector<std::shared_ptr<Function>>& functions() const { return functions_; }
  // Null when there is none.
  std::shared_ptr<Function> find_function(std::string_view name) const;
  // Invalidates the functions' handles.
  void drop_handles();

  struct Symbol {
    std::byte* address;
    std::size_t bytes;
    bool managed;
  };
  // Throws CUDA_ERROR_NOT_FOUND.
  Symbol symbol(std::string_view name) const;

  CUmodule handle() const { return handle_; }
  void set_handle(CUmodule handle) { handle_ = handle; }

 private:
  Module(CodeServices& services, Context& context, std::shared_ptr<const jit::Program> program,
         std::shared_ptr<VariableBlock> managed);
  void make_functions(const Shared& shared);

  CodeServices& services_;
  const std::shared_ptr<Context> context_;
  const std::shared_ptr<const jit::Program> program_;
  VariableBlock variables_;
  const std::shared_ptr<VariableBlock> managed_variables_;
  std::vector<void*> addresses_;  // of both, as jit::Image takes them
  std::unique_ptr<jit::Image> image_;
  std::vector<std::shared_ptr<Function>> functions_;
  CUmodule handle_ = nullptr;
};

// By CUDA_MODULE_LOADING, as NVIDIA's driver: lazily unless it says EAGER.
CUmoduleLoadingMode loading_mode();

}  // namespace softgpu::runtime
