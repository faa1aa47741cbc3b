#include "fuzz/ptx/generator/draft.hpp"

namespace ptx_fuzz {

Instruction& Draft::emit(Instruction instruction) {
  --budget;
  std::vector<Instruction>& body = function().body;
  body.push_back(std::move(instruction));
  return body.back();
}

int Draft::make(Op op, Type type, std::vector<Operand> sources, int into) {
  if (into < 0) into = fresh(class_for(bits_of(type)));
  emit({.op = op, .type = type, .results = {into}, .sources = std::move(sources)});
  return into;
}

int Draft::compare(Variant comparison, Type type, Operand a, Operand b) {
  const int result = fresh(RegisterClass::predicate);
  emit({.op = Op::setp, .type = type, .variant = comparison, .results = {result}, .sources = {a, b}});
  return result;
}

int Draft::address(int base, int offset_word, unsigned scale) {
  const int offset = fresh(RegisterClass::wide), result = fresh(RegisterClass::address);
  emit({.op = Op::mul_wide,
        .type = Type::u32,
        .results = {offset},
        .sources = {Operand::reg(offset_word), Operand::constant(scale)}});
  emit({.op = Op::add, .type = Type::u64, .results = {result}, .sources = {Operand::reg(base), Operand::reg(offset)}});
  return result;
}

void Draft::branch(int label, int guard, bool negated) {
  emit({.op = Op::branch, .target = label, .guard = guard, .guard_negated = negated});
}

const std::vector<int>& Draft::pool(unsigned bits) const {
  if (bits == 1) return predicates;
  if (bits <= 16) return halves;
  return bits == 32 ? words : wides;
}

std::uint64_t Draft::constant(unsigned bits) {
  const std::uint64_t one = 1;
  switch (random.below(8)) {
    case 0: return 0;
    case 1: return ~std::uint64_t{0};
    case 2: return one << random.below(bits);
    case 3: return (one << random.below(bits)) - 1;
    case 4: return one << (bits - 1);
    case 5: return 2654435761u;
    case 6: return random.bits();
    default: return random.below(40);
  }
}

Operand Draft::value(Type type) {
  const unsigned bits = bits_of(type);
  if (!is_float(type) && bits != 1 && random.chance(20)) return Operand::constant(truncate(constant(bits), bits));
  if (bits == 32 && random.chance(20)) return Operand::reg(random.pick(read_only));
  return Operand::reg(register_of(bits));
}

int Draft::condition(bool uniform) {
  const Operand subject = Operand::reg(uniform             ? random.pick(uniforms)
                                       : random.chance(40) ? random.pick(read_only)
                                                           : register_of(32));
  switch (random.below(uniform ? 3 : 6)) {
    case 0: {  // some bit of it
      const unsigned bit = random.below(random.chance(70) ? 5 : 32);
      const int masked = make(Op::bit_and, Type::b32, {subject, Operand::constant(std::uint64_t{1} << bit)});
      return compare(random.chance(50) ? Variant::eq : Variant::ne, Type::u32, Operand::reg(masked),
                     Operand::constant(0));
    }
    case 1: {  // its remainder
      const int rest = make(Op::rem, Type::u32, {subject, Operand::constant(2 + random.below(6))});
      return compare(random.chance(60) ? Variant::eq : Variant::gt, Type::u32, Operand::reg(rest),
                     Operand::constant(random.below(4)));
    }
    case 2:
      return compare(random.chance(50) ? Variant::lt : Variant::ge, random.chance(50) ? Type::s32 : Type::u32, subject,
                     Operand::constant(random.below(40)));
    case 3: {
      const Type type = make_type(random.chance(50) ? 'u' : 's', random.pick({16u, 32u, 64u}));
      return compare(random.pick({Variant::lt, Variant::le, Variant::gt, Variant::ge}), type,
                     Operand::reg(register_of(bits_of(type))), value(type));
    }
    case 4: {  // the low bit of a sum with the thread's place
      const int sum = make(Op::add, Type::u32, {subject, Operand::reg(thread)});
      const int bit = make(Op::bit_and, Type::b32, {Operand::reg(sum), Operand::constant(1)});
      return compare(Variant::ne, Type::u32, Operand::reg(bit), Operand::constant(0));
    }
    default: return register_of(1);
  }
}

}  // namespace ptx_fuzz
