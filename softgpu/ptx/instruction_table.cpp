#include "softgpu/ptx/instruction_table.hpp"

#include <map>
#include <stdexcept>

namespace softgpu::ptx {
namespace {

// A mistake in instructions.def; the table is read when the first module is parsed, and by the tests.
[[noreturn]] void broken(std::string_view where, std::string_view what) {
  throw std::logic_error("instructions.def: " + std::string(what) + " in \"" + std::string(where) + "\"");
}

// Reads one ROW.
class RowReader {
 public:
  using Classes = std::map<std::string_view, std::string_view>;
  RowReader(const Classes& classes, InstructionRow& row) : classes_(classes), row_(row), text_(row.suffixes) {}

  void read() {
    read_suffixes();
    text_ = row_.operands;
    read_operands();
  }

 private:
  struct Choice {
    SuffixSet suffixes;
    std::uint16_t spaces = 0;
  };

  bool accept(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken(row_.suffixes, std::string("'") + c + "' expected");
  }
  std::string_view take_until(std::string_view stops) {
    const std::size_t end = std::min(text_.find_first_of(stops), text_.size());
    const std::string_view taken = text_.substr(0, end);
    text_.remove_prefix(end);
    return taken;
  }

  void read_suffixes() {
    const std::string_view opcode = take_until(".{");
    const auto known = opcode_named(opcode);
    if (!known) broken(row_.suffixes, "unknown opcode");
    row_.opcode = *known;
    while (!text_.empty()) {
      if (accept('{')) {
        const std::size_t first = row_.places.size();
        while (!accept('}')) read_place(true);
        for (std::size_t i = first; i < row_.places.size(); ++i)
          row_.places[i].skip = i == first ? static_cast<std::uint8_t>(row_.places.size() - first) : 0;
      } else {
        read_place(false);
      }
    }
  }

  void read_place(bool optional) {
    Choice choice;
    if (text_.starts_with(".(")) {
      text_.remove_prefix(2);
      add_members(take_until(")"), choice);
      expect(')');
    } else {
      expect('.');
      const std::string_view rest = take_until(".{}");
      add_member(std::string_view(rest.data() - 1, rest.size() + 1), choice);
    }
    if (choice.spaces != 0) {
      row_.spaces = choice.spaces;
      row_.space_optional = optional;
    } else {
      row_.places.push_back({choice.suffixes, 0});
    }
  }

  void add_members(std::string_view members, Choice& choice) {
    while (!members.empty()) {
      const std::size_t end = std::min(members.find(' '), members.size());
      add_member(members.substr(0, end), choice);
      members.remove_prefix(std::min(end + 1, members.size()));
    }
  }

  void add_member(std::string_view name, Choice& choice) {
    if (const auto found = classes_.find(name); found != classes_.end()) return add_members(found->second, choice);
    // Of two state spaces, the first is the instruction's, the second one of its suffixes.
    if (const auto space = space_named(name); space && row_.spaces == 0) {
      choice.spaces |= static_cast<std::uint16_t>(1u << static_cast<unsigned>(*space));
    } else if (const auto suffix = suffix_named(name)) {
      choice.suffixes.set(*suffix);
    } else {
      broken(row_.suffixes, "unknown suffix " + std::string(name));
    }
  }

  void read_operands() {
    while (!text_.empty()) {
      OperandRule rule;
      if (text_.starts_with("{, ")) {
        text_.remove_prefix(3);
        rule.optional = true;
      } else if (!row_.rules.empty()) {
        expect(',');
        expect(' ');
      }
      read_operand(rule);
      if (rule.optional) expect('}');
      row_.rules.push_back(rule);
      if (rule.in_brackets) read_coordinates();
      if (rule.is_vector && rule.pair == OperandRule::Pair::optional) add_residence();
    }
  }

  // What follows the handle in [a, c].
  void read_coordinates() {
    if (accept(',')) {
      expect(' ');
      OperandRule& coordinates = row_.rules.emplace_back();
      coordinates.name = take_until(":");
      expect(':');
      read_type(coordinates);
      coordinates.kind = OperandRule::Kind::coordinates;
    }
    expect(']');
  }

  // Whether the texels are resident: p of d:vector{|p}.
  void add_residence() {
    row_.rules.back().pair = OperandRule::Pair::none;
    OperandRule& resident = row_.rules.emplace_back();
    resident.name = "p";
    resident.destination = resident.optional = true;
    resident.type_rule = OperandRule::TypeRule::fixed;
    resident.fixed_type = Type::pred;
  }

  void read_operand(OperandRule& rule) {
    if (accept('[')) {
      rule.name = take_until(",:]");
      const std::string_view what = accept(':') ? take_until("]") : "";
      rule.space = space_named("." + std::string(what));
      if (rule.space || (what.empty() && text_.starts_with(']'))) {
        rule.kind = OperandRule::Kind::address;
        expect(']');
        return;
      }
      rule.in_brackets = true;
      rule.type_rule = OperandRule::TypeRule::fixed;
      rule.fixed_type = Type::u64;
      return;
    }
    if (text_.starts_with("{!}")) {
      text_.remove_prefix(3);
      rule.kind = OperandRule::Kind::predicate;
    }
    rule.name = take_until(":,{}|");
    rule.destination = rule.name.front() == 'd' || (rule.name.front() == 'p' && rule.name != "policy");
    if (rule.name.ends_with('_')) {
      rule.may_be_sink = true;
      rule.name.remove_suffix(1);
    }
    if (accept(':')) read_type(rule);
    if (text_.starts_with("{|")) {
      rule.pair = OperandRule::Pair::optional;
      take_until("}");
      expect('}');
    } else if (accept('|')) {
      rule.pair = OperandRule::Pair::required;
      take_until(",");
    }
  }

  void read_type(OperandRule& rule) {
    std::string_view word = take_until(",{}|]");
    for (; !word.empty() && (word.back() == '+' || word.back() == '@'); word.remove_suffix(1))
      (word.back() == '+' ? rule.may_be_wider : rule.may_be_symbol) = true;
    if (word.empty()) return;
    if (word == "2") {
      rule.type_rule = OperandRule::TypeRule::second;
    } else if (word == "wide") {
      rule.type_rule = OperandRule::TypeRule::wide;
    } else if (word == "vector") {
      rule.is_vector = true;
    } else if (word == "parts") {
      rule.may_be_parts = true;
    } else if (word == "constant") {
      rule.kind = OperandRule::Kind::constant;
    } else if (word == "label") {
      rule.kind = OperandRule::Kind::label;
    } else if (word == "targets") {
      rule.kind = OperandRule::Kind::targets;
    } else if (word == "barrier") {
      rule.kind = OperandRule::Kind::barrier;
      rule.type_rule = OperandRule::TypeRule::fixed;
      rule.fixed_type = Type::u32;
    } else if (word == "gradient") {
      rule.kind = OperandRule::Kind::gradient;
      rule.type_rule = OperandRule::TypeRule::fixed;
      rule.fixed_type = Type::f32;
    } else if (word == "size") {
      rule.kind = OperandRule::Kind::address_sized;
    } else if (const auto type = type_named("." + std::string(word))) {
      rule.type_rule = OperandRule::TypeRule::fixed;
      rule.fixed_type = *type;
    } else {
      broken(row_.operands, "unknown type " + std::string(word));
    }
  }

  const Classes& classes_;
  InstructionRow& row_;
  std::string_view text_;
};

struct Table {
  std::vector<SuffixClass> class_list;
  RowReader::Classes classes;
  std::string_view group;
  std::vector<InstructionRow> rows;
  std::vector<RefusedInstruction> refused;

  Table() {
#define CLASS(name, members) class_list.push_back({name, members}), classes.emplace(name, members);
#define GROUP(title) group = title;
#define ROW(suffixes, operands) add_row(suffixes, operands);
#define REFUSED(pattern, reason) refused.push_back({pattern, reason});
#include "softgpu/ptx/instructions.def"
#undef CLASS
#undef GROUP
#undef ROW
#undef REFUSED
  }

  void add_row(std::string_view suffixes, std::string_view operands) {
    InstructionRow& row = rows.emplace_back();
    row.group = group;
    row.suffixes = suffixes;
    row.operands = operands;
    RowReader(classes, row).read();
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

const std::vector<SuffixClass>& suffix_classes() { return table().class_list; }
const std::vector<InstructionRow>& instruction_rows() { return table().rows; }
const std::vector<RefusedInstruction>& refused_instructions() { return table().refused; }

}  // namespace softgpu::ptx
