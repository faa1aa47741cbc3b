// Device code for all contexts, loaded into each when first used there: CUlibrary and CUkernel.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/code/module.hpp"

namespace softgpu::runtime {

struct CodeServices;
class Device;
class Library;

// Thread-safe.
class Kernel {
 public:
  Kernel(const std::weak_ptr<Library>& library, std::shared_ptr<const jit::Program> program, std::size_t index,
         int devices);

  std::shared_ptr<Library> library() const { return library_.lock(); }  // null once it is unloaded
  const jit::KernelFacts& facts() const { return program_->kernels()[index_]; }
  CUkernel handle() const { return handle_; }
  void set_handle(CUkernel handle) { handle_ = handle; }
  CUkernel take_handle() { return handle_.exchange(nullptr); }

  // The kernel in a context. Throws CUDA_ERROR_INVALID_HANDLE when the library is unloaded.
  std::shared_ptr<Function> function(Context& context);

  int attribute(CUfunction_attribute attribute, const Device& device) const;
  // For all contexts of the device, present and future.
  void set_attribute(CUfunction_attribute attribute, int value, const Device& device);

 private:
  friend class Library;
  const std::shared_ptr<KernelSettings>& settings(const Device& device) const;
  KernelOnDevice on(const Device& device) const;

  const std::weak_ptr<Library> library_;
  const std::shared_ptr<const jit::Program> program_;
  const std::size_t index_;
  const std::vector<std::shared_ptr<KernelSettings>> settings_;  // one for each device
  std::atomic<CUkernel> handle_{nullptr};
};

// Thread-safe.
class Library : public std::enable_shared_from_this<Library> {
 public:
  static std::shared_ptr<Library> load(CodeServices& services, std::shared_ptr<const jit::Program> program);
  ~Library();

  const std::vector<std::shared_ptr<Kernel>>& kernels() const { return kernels_; }
  std::shared_ptr<Kernel> find_kernel(std::string_view name) const;  // null when there is none
  const jit::Program& program() const { return *program_; }

  // The library's module in a context, loaded now if need be.
  std::shared_ptr<Module> module(Context& context);
  void forget(Context& context);
  // All handles become invalid.
  void unload();

  CUlibrary handle() const { return handle_; }
  void set_handle(CUlibrary handle) { handle_ = handle; }

 private:
  Library(CodeServices& services, std::shared_ptr<const jit::Program> program)
      : services_(services), program_(std::move(program)) {}

  CodeServices& services_;
  const std::shared_ptr<const jit::Program> program_;
  std::vector<std::shared_ptr<Kernel>> kernels_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Module>> modules_;  // by id of the context
  std::shared_ptr<VariableBlock> managed_variables_;          // which all of them share
  CUlibrary handle_ = nullptr;
};

// When a context goes: its modules lose their handles, and libraries forget their modules in it.
void unload_modules(CodeServices& services, Context& context);

}  // namespace softgpu::runtime
