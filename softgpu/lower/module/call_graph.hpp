// What a kernel can call.
//
// The address of a function, as PTX code sees it, is a number made from the function's place in the module, the same
// in every kernel. An indirect call is a switch over the functions it can mean: those whose address is taken
// somewhere in the module and whose parameters have the shape of the call's prototype. So every call is a direct
// one, and can be inlined and widened as such.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::lower {

class CallGraph {
 public:
  explicit CallGraph(const ptx::Module&);  // which it refers to

  const ptx::Module& module() const { return module_; }

  // Functions whose address is taken and that fit the prototype, in module order.
  std::vector<std::uint32_t> candidates(const ptx::Prototype&) const;
  // All that can be reached from a function, in module order, itself included.
  std::vector<std::uint32_t> reachable(std::uint32_t function) const;
  bool is_recursive(std::uint32_t function) const;

 private:
  std::vector<std::uint32_t> callees(const ptx::Function&) const;
  // All that the function calls, and what those call; the function itself only if it can come back to itself.
  std::vector<std::uint32_t> called_from(std::uint32_t function) const;

  const ptx::Module& module_;
  std::vector<bool> address_taken_;
  std::vector<std::vector<std::uint32_t>> callees_;
};

// The index of a function of the module; the function must be one of its elements.
std::uint32_t index_of(const ptx::Module&, const ptx::Function&);

// The address of a device function as PTX code sees it: a number made from its place in the module, the same in
// every kernel. Indirect calls are a choice between the functions that fit, so this is nothing to jump to.
constexpr std::uint64_t function_address(std::size_t index_in_module) { return (index_in_module + 1) * 16; }

}  // namespace softgpu::lower
