#include "softgpu/lower/function/register_types.hpp"

namespace softgpu::lower {
namespace {

using ptx::Type;

class Votes {
 public:
  explicit Votes(const ptx::Function& function) : function_(function), floats_(function.registers.size()) {
    for (const ptx::Instruction& instruction : function.body) count(instruction);
  }
  bool prefers_float(std::size_t index) const { return floats_[index] > 0; }

 private:
  // The first type is the destination's, the last one the sources'.
  void count(const ptx::Instruction& instruction) {
    if (instruction.types.empty()) return;
    bool is_destination = true;
    for (const ptx::Operand& operand : instruction.operands) {
      count(operand, is_destination ? instruction.types.front() : instruction.types.back());
      is_destination = false;
    }
  }

  void count(const ptx::Operand& operand, Type used_as) {
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) {
      if (ptx::bits(function_.registers[reg->index].type) != ptx::bits(used_as)) return;
      if (used_as == Type::f32 || used_as == Type::f64) ++floats_[reg->index];
      if (used_as == Type::u32 || used_as == Type::s32 || used_as == Type::u64 || used_as == Type::s64)
        --floats_[reg->index];
    } else if (const auto* vector = std::get_if<ptx::VectorOperand>(&operand.value)) {
      for (const ptx::Operand& element : vector->elements) count(element, used_as);
    }
  }

  const ptx::Function& function_;
  std::vector<int> floats_;
};

Type storage_type(Type declared, bool prefers_float) {
  switch (declared) {
    case Type::f32:
    case Type::f64: return declared;
    case Type::b32: return prefers_float ? Type::f32 : Type::b32;
    case Type::b64: return prefers_float ? Type::f64 : Type::b64;
    default: return integer_of_width(ptx::bits(declared));
  }
}

}  // namespace

std::vector<llvm::Type*> choose_register_types(llvm::LLVMContext& context, const ptx::Function& function) {
  const Votes votes(function);
  std::vector<llvm::Type*> types;
  for (std::size_t i = 0; i < function.registers.size(); ++i)
    types.push_back(llvm_type(context, storage_type(function.registers[i].type, votes.prefers_float(i))));
  return types;
}

}  // namespace softgpu::lower
