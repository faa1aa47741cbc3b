// The memory of a program's variables.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "softgpu/memory/heap.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::runtime {

class Context;
struct MemoryServices;

// All device variables (.global and .const), which each context has for itself, or all managed ones, which contexts can
// share.
class VariableBlock {
 public:
  enum class Holds { device_variables, managed_variables };

  // In the memory of the context's device, or of the host. The contents are undefined.
  VariableBlock(MemoryServices& services, const ptx::Module& module, Holds holds, const Context& context);
  ~VariableBlock();
  VariableBlock(const VariableBlock&) = delete;
  VariableBlock& operator=(const VariableBlock&) = delete;

  // By the variable's place in the module; null for those that are not in here.
  const std::vector<std::byte*>& addresses() const { return addresses_; }

  // Writes the initial values. `all` has the addresses of all variables, which the values may hold.
  void initialize(const ptx::Module& module, const std::vector<void*>& all);

 private:
  MemoryServices& services_;
  const std::shared_ptr<memory::Heap> heap_;
  std::byte* block_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<std::byte*> addresses_;
};

}  // namespace softgpu::runtime
