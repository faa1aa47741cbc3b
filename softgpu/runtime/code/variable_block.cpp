#include "softgpu/runtime/code/variable_block.hpp"

#include <algorithm>
#include <cstring>

#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

using Holds = VariableBlock::Holds;

// The driver aligns every variable so that any vector access to it is.
constexpr std::size_t kAlignment = 256;

// What is declared only, nobody uses: that was checked when the program was made.
bool is_held(const ptx::Variable& variable, Holds holds) {
  const bool in_memory = variable.space == ptx::Space::global || variable.space == ptx::Space::const_;
  return in_memory && variable.linkage != ptx::Linkage::external &&
         variable.managed == (holds == Holds::managed_variables);
}

std::size_t bytes_of(const ptx::Variable& variable) { return std::max<std::size_t>(variable.size, 1); }

const std::shared_ptr<memory::Heap>& heap_for(const MemoryServices& services, Holds holds, const Context& context) {
  return holds == Holds::managed_variables ? services.host_heap : context.device().heap();
}

}  // namespace

VariableBlock::VariableBlock(MemoryServices& services, const ptx::Module& module, Holds holds, const Context& context)
    : services_(services), heap_(heap_for(services, holds, context)), addresses_(module.variables.size(), nullptr) {
  std::vector<std::size_t> offsets(module.variables.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    if (!is_held(variable, holds)) continue;
    offsets[i] = memory::round_up(bytes_, std::max<std::size_t>(kAlignment, variable.alignment));
    bytes_ = offsets[i] + bytes_of(variable);
  }
  if (bytes_ == 0) return;
  block_ = heap_->allocate(bytes_);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (!is_held(module.variables[i], holds)) continue;
    addresses_[i] = block_ + offsets[i];
    services_.allocations.insert(
        {.base = addresses_[i],
         .size = bytes_of(module.variables[i]),
         .kind = holds == Holds::managed_variables ? memory::Kind::managed : memory::Kind::device,
         .device = context.device().ordinal(),
         .context = context.id(),
         .freed_by = memory::FreedBy::module_unload});
  }
}

VariableBlock::~VariableBlock() {
  if (block_ == nullptr) return;
  for (std::byte* address : addresses_)
    if (address != nullptr) services_.allocations.erase(address);
  services_.managed_pages.forget(block_, bytes_);
  heap_->release(block_, bytes_);
}

void VariableBlock::initialize(const ptx::Module& module, const std::vector<void*>& all) {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (addresses_[i] == nullptr) continue;
    const ptx::Variable& variable = module.variables[i];
    if (!variable.initial.empty()) std::memcpy(addresses_[i], variable.initial.data(), variable.initial.size());
    for (const ptx::Relocation& relocation : variable.relocations) {
      const ptx::Symbol& target = relocation.target;
      const void* address = target.kind == ptx::Symbol::Kind::function ? jit::Image::function_address(target.index)
                                                                       : all.at(target.index);
      const auto value = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uint64_t>(relocation.addend);
      std::memcpy(addresses_[i] + relocation.offset, &value, sizeof value);
    }
  }
}

}  // namespace softgpu::runtime
