#include "softgpu/jit/kernel_facts.hpp"

#include <algorithm>
#include <variant>

namespace softgpu::jit {
namespace {

constexpr std::uint32_t kFewestRegisters = 8, kMostRegisters = 255;
constexpr std::uint32_t kReserved = 4;  // the stack pointer and what calls and special registers need

std::uint32_t product(const std::uint32_t (&extent)[3]) {
  return extent[0] * std::max(extent[1], 1u) * std::max(extent[2], 1u);
}

std::uint64_t local_bytes(const ptx::Function& kernel) {
  std::uint64_t bytes = 0;
  for (const ptx::Variable& variable : kernel.variables) {
    if (variable.space != ptx::Space::local) continue;
    const std::uint64_t alignment = std::max<std::uint64_t>(variable.alignment, 1);
    bytes = (bytes + alignment - 1) / alignment * alignment + variable.size;
  }
  return bytes;
}

// First and last mention of each register, as positions in the body.
class Mentions {
 public:
  explicit Mentions(const ptx::Function& function) : ranges_(function.registers.size()) {
    for (position_ = 0; position_ < function.body.size(); ++position_) {
      const ptx::Instruction& instruction = function.body[position_];
      if (instruction.guard) note(instruction.guard->predicate.index);
      for (const ptx::Operand& operand : instruction.operands) note(operand);
      if (!instruction.call) continue;
      for (const ptx::Operand& operand : instruction.call->results) note(operand);
      for (const ptx::Operand& operand : instruction.call->arguments) note(operand);
      if (const auto* callee = std::get_if<ptx::Register>(&instruction.call->callee)) note(callee->index);
    }
  }

  struct Range {
    std::size_t first = 1, last = 0;  // empty: never mentioned
  };
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  void note(std::uint32_t reg) {
    if (reg >= ranges_.size()) return;  // `_`
    Range& range = ranges_[reg];
    if (range.first > range.last) range.first = position_;
    range.last = position_;
  }
  void note(const ptx::Operand& operand) {
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) note(reg->index);
    if (const auto* address = std::get_if<ptx::Address>(&operand.value))
      if (const auto* base = std::get_if<ptx::Register>(&address->base)) note(base->index);
    if (const auto* vector = std::get_if<ptx::VectorOperand>(&operand.value))
      for (const ptx::Operand& element : vector->elements) note(element);
    if (const auto* pair = std::get_if<ptx::PredicatePair>(&operand.value)) {
      note(pair->first);
      note(pair->second);
    }
  }

  std::vector<Range> ranges_;
  std::size_t position_ = 0;
};

}  // namespace

std::uint32_t estimate_registers(const ptx::Function& function) {
  const Mentions mentions(function);
  std::vector<std::int64_t> change(function.body.size() + 2, 0);  // in live registers, at each position
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    const Mentions::Range& range = mentions.ranges()[i];
    const unsigned bits = ptx::bits(function.registers[i].type);
    if (range.first > range.last || bits <= 1) continue;  // predicates have a register file of their own
    const std::int64_t words = (bits + 31) / 32;
    change[range.first] += words;
    change[range.last + 1] -= words;
  }
  std::int64_t live = 0, most = 0;
  for (std::int64_t step : change) most = std::max(most, live += step);
  const auto wanted = static_cast<std::uint32_t>(std::min<std::int64_t>(most + kReserved, kMostRegisters));
  const std::uint32_t limit = function.max_registers ? function.max_registers : kMostRegisters;
  return std::clamp(wanted, kFewestRegisters, std::max(limit, kFewestRegisters));
}

KernelFacts facts_of(const lower::CallGraph& graph, const ptx::Function& kernel) {
  KernelFacts facts{.name = kernel.name, .param_bytes = kernel.parameter_bytes};
  for (const ptx::Parameter& parameter : kernel.parameters) facts.params.push_back({parameter.offset, parameter.size});
  const lower::SharedLayout shared = lower::shared_layout(graph, kernel);
  facts.reserved_shared_bytes = shared.reserved_bytes;
  facts.static_shared_bytes = shared.static_bytes - shared.reserved_bytes;
  facts.shared_alignment = shared.alignment;
  for (const lower::SharedLayout::Entry& entry : shared.entries) facts.has_dynamic_shared |= entry.variable->size == 0;
  facts.missing_functions = lower::missing_functions(graph, kernel);
  facts.uses_heap = lower::uses_heap(graph, kernel);
  facts.launches_graphs = lower::launches_graphs(graph, kernel);
  facts.local_bytes = local_bytes(kernel);
  facts.registers = estimate_registers(kernel);
  std::copy_n(kernel.required_threads, 3, facts.required_threads);
  std::copy_n(kernel.required_cluster, 3, facts.required_cluster);
  facts.max_cluster_rank = kernel.max_cluster_rank;
  facts.explicit_cluster = kernel.explicit_cluster;
  facts.blocks_are_clusters = kernel.blocks_are_clusters;
  for (const std::uint32_t threads : {product(kernel.max_threads), product(kernel.required_threads)})
    if (threads != 0) facts.max_threads_per_block = std::min(facts.max_threads_per_block, threads);
  return facts;
}

}  // namespace softgpu::jit
