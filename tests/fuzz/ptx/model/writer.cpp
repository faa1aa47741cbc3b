#include "fuzz/ptx/model/writer.hpp"

#include <set>
#include <sstream>
#include <stdexcept>

namespace ptx_fuzz {
namespace {

const char* spelling(Op op) {
  constexpr const char* kSpellings[] = {
#define OPERATION(name, text) text,
#include "fuzz/ptx/model/operations.def"
  };
  return kSpellings[static_cast<std::size_t>(op)];
}

struct ClassText {
  const char* prefix;
  const char* type;
};
ClassText text_of(RegisterClass register_class) {
  constexpr ClassText kTexts[] = {{"%p", "pred"}, {"%h", "b16"}, {"%r", "b32"}, {"%d", "b64"}, {"%a", "b64"}};
  return kTexts[static_cast<std::size_t>(register_class)];
}

class FunctionWriter {
 public:
  FunctionWriter(const Program& program, const Function& function, std::ostream& out)
      : program_(program), function_(function), out_(out), is_kernel_(&function == &program.functions.front()) {}

  void write() {
    header();
    out_ << "{";
    declarations();
    std::set<int> used;
    for (const Instruction& instruction : function_.body)
      if (instruction.op == Op::branch)
        used.insert(instruction.target);
      else
        used.insert(instruction.targets.begin(), instruction.targets.end());
    for (const Instruction& instruction : function_.body) {
      if (instruction.op == Op::label) {
        if (used.contains(instruction.target)) out_ << label(instruction.target) << ":\n";
      } else {
        statement(instruction);
      }
    }
    if (function_.body.empty() || function_.body.back().op != Op::ret) statement({.op = Op::ret});
    out_ << "}\n";
  }

  void header() {
    if (is_kernel_) {
      out_ << ".visible .entry fuzz(.param .u64 memory, .param .u32 n0, .param .u32 n1, .param .u32 n2)\n";
      return;
    }
    out_ << ".func ";
    if (function_.result >= 0) out_ << "(.param ." << type_of(function_.result) << " result) ";
    out_ << function_.name << "(";
    for (std::size_t i = 0; i < function_.parameters.size(); ++i)
      out_ << (i == 0 ? "" : ", ") << ".param ." << type_of(function_.parameters[i]) << " q" << i;
    out_ << ")\n";
  }

 private:
  // Those that no instruction names any more are of no interest to a reader.
  std::set<int> used_registers() const {
    std::set<int> used(function_.parameters.begin(), function_.parameters.end());
    used.insert(function_.result);
    for (const Instruction& instruction : function_.body) {
      used.insert(instruction.guard);
      used.insert(instruction.results.begin(), instruction.results.end());
      for (const Operand& source : instruction.sources)
        if (source.kind == Operand::Kind::reg) used.insert(static_cast<int>(source.value));
    }
    used.erase(-1);
    return used;
  }

  void declarations() {
    int in_line = 0;
    for (const int number : used_registers())
      out_ << (in_line++ % 8 == 0 ? "\n  " : " ") << ".reg ." << type_of(number) << " " << reg(number) << ";";
    out_ << "\n";
    declare_for_canonical();
    if (function_.local_bytes != 0) out_ << "  .local .align 16 .b8 frame[" << function_.local_bytes << "];\n";
    for (std::size_t i = 0; i < function_.parameters.size(); ++i)
      out_ << "  ld.param." << type_of(function_.parameters[i]) << " " << reg(function_.parameters[i]) << ", [q" << i
           << "];\n";
  }

  void declare_for_canonical() {
    std::set<std::string> names;
    for (const Instruction& instruction : function_.body) {
      if (!may_give_nan(instruction)) continue;
      const Type type = is_packed(instruction.type) ? half_of(instruction.type) : instruction.type;
      names.insert(".reg .pred %nan_" + std::string(name_of(type)) + ";");
      if (is_packed(instruction.type)) names.insert({".reg .b16 %low_half;", ".reg .b16 %high_half;"});
    }
    for (const std::string& name : names) out_ << "  " << name << "\n";
  }

  std::string reg(int number) const {
    if (number < 0) return "_";
    return text_of(function_.registers[static_cast<std::size_t>(number)]).prefix + std::to_string(number);
  }
  const char* type_of(int number) const { return text_of(function_.registers[static_cast<std::size_t>(number)]).type; }
  std::string label(int number) const { return "L" + std::to_string(number); }

  std::string operand(const Operand& operand, Type type) const {
    constexpr const char* kSpecials[] = {"%tid.x",   "%tid.y",    "%tid.z",  "%ntid.x", "%ntid.y", "%ntid.z",
                                         "%ctaid.x", "%nctaid.x", "%laneid", "[n0]",    "[n1]",    "[n2]"};
    switch (operand.kind) {
      case Operand::Kind::none: return "";
      case Operand::Kind::reg: return reg(static_cast<int>(operand.value));
      case Operand::Kind::special: return kSpecials[operand.value];
      case Operand::Kind::constant: break;
    }
    const unsigned bits = bits_of(type);
    if (bits == 1) return std::to_string(operand.value);
    return is_signed(type) ? std::to_string(sign_extend(operand.value, bits))
                           : std::to_string(truncate(operand.value, bits));
  }

  // The operands from `first` on, each behind a comma.
  std::string sources(const Instruction& instruction, std::size_t first = 0) const {
    std::string text;
    for (std::size_t i = first; i < instruction.sources.size(); ++i)
      text += ", " + operand(instruction.sources[i], source_type(instruction, i));
    return text;
  }

  static Type source_type(const Instruction& instruction, std::size_t number) {
    switch (instruction.op) {
      case Op::cvt: return instruction.from;
      case Op::shl:
      case Op::shr: return number == 1 ? Type::u32 : instruction.type;
      case Op::szext_clamp:
      case Op::szext_wrap:
      case Op::bmsk_clamp:
      case Op::bmsk_wrap: return number >= 1 ? Type::u32 : instruction.type;
      case Op::bfe: return number >= 1 ? Type::u32 : instruction.type;
      case Op::bfi: return number >= 2 ? Type::u32 : instruction.type;
      case Op::shuffle:
      case Op::redux: return number >= 1 ? Type::u32 : instruction.type;
      case Op::vote:
      case Op::match:
      case Op::warp_sync:
      case Op::barrier_sync:
      case Op::barrier_arrive:
      case Op::barrier_reduce: return Type::u32;
      default: return instruction.type;
    }
  }

  void statement(const Instruction& instruction) {
    std::string guard;
    if (instruction.guard >= 0)
      guard = std::string("@") + (instruction.guard_negated ? "!" : "") + reg(instruction.guard) + " ";
    if (instruction.op == Op::call) return call(instruction, guard);
    if (instruction.op == Op::branch_table) return branch_table(instruction);
    if (instruction.op == Op::ret && function_.result >= 0)
      out_ << "  " << guard << "st.param." << type_of(function_.result) << " [result], " << reg(function_.result)
           << ";\n";
    out_ << "  " << guard << text(instruction) << ";\n";
    if (may_give_nan(instruction)) canonical(instruction, guard);
  }

  // The names of registers that only this uses start with another letter.
  void canonical(const Instruction& instruction, const std::string& guard) {
    const auto settle = [&](Type type, const std::string& number) {
      const std::string name = name_of(type), bits = std::to_string(bits_of(type)), nan = "%nan_" + name;
      out_ << "  setp.nan." << name << " " << nan << ", " << number << ", " << number << ";\n  @" << nan << " mov.b"
           << bits << " " << number << ", " << canonical_nan(type) << ";\n";
    };
    const std::string number = reg(instruction.results[0]);
    if (!is_packed(instruction.type)) {
      if (guard.empty()) return settle(instruction.type, number);
      throw std::logic_error("instructions that may give a NaN have no guard");
    }
    out_ << "  mov.b32 {%low_half, %high_half}, " << number << ";\n";
    settle(half_of(instruction.type), "%low_half");
    settle(half_of(instruction.type), "%high_half");
    out_ << "  mov.b32 " << number << ", {%low_half, %high_half};\n";
  }

  void branch_table(const Instruction& instruction) {
    std::string labels;
    for (const int target : instruction.targets) labels += (labels.empty() ? "" : ", ") + label(target);
    const std::string name = "T" + std::to_string(tables_++);
    out_ << "  " << name << ": .branchtargets " << labels << ";\n  brx.idx "
         << operand(instruction.sources[0], Type::u32) << ", " << name << ";\n";
  }

  void call(const Instruction& instruction, const std::string& guard) {
    const Function& callee = program_.functions[static_cast<std::size_t>(instruction.target)];
    const auto type = [&](int number) { return text_of(callee.registers[static_cast<std::size_t>(number)]).type; };
    out_ << "  {";
    std::string arguments;
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
      const char* name = type(callee.parameters[i]);
      out_ << " .param ." << name << " x" << i << "; st.param." << name << " [x" << i << "], "
           << operand(instruction.sources[i], make_type('b', bits_of_class(callee, callee.parameters[i]))) << ";";
      arguments += (i == 0 ? "x" : ", x") + std::to_string(i);
    }
    if (callee.result >= 0) out_ << " .param ." << type(callee.result) << " y;";
    out_ << "\n    " << guard << "call " << (callee.result >= 0 ? "(y), " : "") << callee.name;
    if (!arguments.empty()) out_ << ", (" << arguments << ")";
    out_ << ";\n   ";
    if (callee.result >= 0)
      out_ << guard << " ld.param." << type(callee.result) << " " << reg(instruction.results[0]) << ", [y];";
    out_ << " }\n";
  }

  static unsigned bits_of_class(const Function& function, int number) {
    constexpr unsigned kBits[] = {1, 16, 32, 64, 64};
    return kBits[static_cast<std::size_t>(function.registers[static_cast<std::size_t>(number)])];
  }

  std::string text(const Instruction& i) const {
    // Without .rn, ptxas may make one instruction of a multiplication and an addition.
    const bool rounds =
        is_float(i.type) && (i.op == Op::add || i.op == Op::sub || i.op == Op::mul_lo || i.op == Op::div);
    const std::string name = spelling(i.op), type = std::string(rounds ? ".rn." : ".") + name_of(i.type);
    const std::string variant = i.variant == Variant::none ? "" : std::string(".") + name_of(i.variant);
    const std::string space = i.space == Space::generic ? "" : std::string(".") + name_of(i.space);
    const std::string result = i.results.empty() ? "" : reg(i.results[0]);
    switch (i.op) {
      case Op::branch: return "bra " + label(i.target);
      case Op::fence:
      case Op::exit:
      case Op::ret: return name;
      case Op::mov:
        if (i.sources[0].kind == Operand::Kind::special &&
            i.sources[0].value >= static_cast<std::uint64_t>(Special::parameter0))
          return "ld.param" + type + " " + result + sources(i);
        return name + type + " " + result + sources(i);
      case Op::setp: {
        const std::string combine = i.combine == Variant::none ? "" : std::string(".") + name_of(i.combine);
        return name + variant + combine + type + " " + result + sources(i);
      }
      case Op::cvt:
        return name + variant + (i.saturate ? ".sat" : "") + type + "." + name_of(i.from) + " " + result + sources(i);
      case Op::prmt: return name + type + variant + " " + result + sources(i);
      case Op::dp4a:
      case Op::dp2a_lo:
      case Op::dp2a_hi: return name + type + "." + name_of(i.from) + " " + result + sources(i);
      case Op::pack: return name + type + " " + result + ", {" + sources(i).substr(2) + "}";
      case Op::unpack: return name + type + " " + vector(i) + sources(i);
      case Op::activemask: return name + type + " " + result;
      case Op::slct: return name + type + ".s32 " + result + sources(i);
      case Op::mul_lo: return (is_float(i.type) ? "mul" : name) + type + " " + result + sources(i);
      case Op::address_of:
        if (i.space == Space::global) return "ld.param.u64 " + result + ", [memory]";
        return "mov.u64 " + result + (i.space == Space::shared ? ", block_memory" : ", frame");
      case Op::to_generic: return name + space + ".u64 " + result + sources(i);
      case Op::load:
        if (i.results.size() == 1) return name + variant + space + type + " " + result + ", " + address(i);
        return name + space + ".v" + std::to_string(i.results.size()) + type + " " + vector(i) + ", " + address(i);
      case Op::store:
        if (i.sources.size() == 2) return name + variant + space + type + " " + address(i) + sources(i, 1);
        return name + space + ".v" + std::to_string(i.sources.size() - 1) + type + " " + address(i) + ", {" +
               sources(i, 1).substr(2) + "}";
      case Op::atomic:
        return name + space + variant + atomic_type(i) + " " + result + ", " + address(i) + sources(i, 1);
      case Op::reduction: return name + space + variant + atomic_type(i) + " " + address(i) + sources(i, 1);
      case Op::barrier_sync:
      case Op::barrier_arrive:
      case Op::barrier_reduce: return barrier(i);
      case Op::warp_sync: return name + sources(i).substr(1);
      case Op::shuffle:
        return name + variant + ".b32 " + result + (i.results.size() > 1 ? "|" + reg(i.results[1]) : "") + sources(i);
      case Op::vote: return name + variant + (i.variant == Variant::ballot ? ".b32 " : ".pred ") + result + sources(i);
      case Op::match:
        return name + variant + ".sync" + type + " " + result + (i.results.size() > 1 ? "|" + reg(i.results[1]) : "") +
               sources(i);
      default: return name + variant + type + " " + result + sources(i);
    }
  }

  static std::string atomic_type(const Instruction& instruction) {
    return (is_packed(instruction.type) ? ".noftz." : ".") + std::string(name_of(instruction.type));
  }

  std::string address(const Instruction& instruction) const {
    std::string text = "[" + operand(instruction.sources[0], Type::u64);
    if (instruction.offset != 0) text += "+" + std::to_string(instruction.offset);
    return text + "]";
  }

  std::string vector(const Instruction& instruction) const {
    std::string text;
    for (const int number : instruction.results) text += (text.empty() ? "{" : ", ") + reg(number);
    return text + "}";
  }

  // Sources: barrier, count (0: all threads), predicate.
  std::string barrier(const Instruction& i) const {
    std::string text = (i.aligned ? "bar." : "barrier.") + std::string(spelling(i.op));
    if (i.op == Op::barrier_reduce)
      text += std::string(".") + name_of(i.variant) + (i.variant == Variant::popc ? ".u32" : ".pred");
    text += " ";
    if (!i.results.empty()) text += reg(i.results[0]) + ", ";
    text += operand(i.sources[0], Type::u32);
    const bool has_count =
        i.sources.size() > 1 && !(i.sources[1].kind == Operand::Kind::constant && i.sources[1].value == 0);
    if (has_count) text += ", " + operand(i.sources[1], Type::u32);
    if (i.sources.size() > 2) text += ", " + operand(i.sources[2], Type::pred);
    return text;
  }

  const Program& program_;
  const Function& function_;
  std::ostream& out_;
  bool is_kernel_;
  int tables_ = 0;
};

}  // namespace

std::string write_ptx(const Program& program) {
  std::ostringstream out;
  out << "// seed " << program.seed << ": " << program.blocks << " blocks of " << program.block.x << "x"
      << program.block.y << "x" << program.block.z << " threads, " << program.memory.size()
      << " bytes of memory, n0 = " << program.parameters[0] << ", n1 = " << program.parameters[1]
      << ", n2 = " << program.parameters[2] << "\n"
      << ".version 7.8\n.target sm_90\n.address_size 64\n";
  if (program.shared_bytes != 0) out << ".shared .align 16 .b8 block_memory[" << program.shared_bytes << "];\n";
  for (std::size_t i = 1; i < program.functions.size(); ++i) {
    FunctionWriter(program, program.functions[i], out).header();
    out << ";\n";
  }
  for (std::size_t i = program.functions.size(); i-- > 0;) FunctionWriter(program, program.functions[i], out).write();
  return out.str();
}

}  // namespace ptx_fuzz
