#include "softgpu/ptx/support_page.hpp"

#include "softgpu/ptx/instruction_table.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::string_view kIntroduction = R"(# PTX that softgpu runs

softgpu takes PTX of versions 1.0 to 9.x for 64-bit addresses. This page lists the forms of instructions that it runs, in
the notation of the PTX ISA; it is printed from `softgpu/ptx/instructions.def`, by which the parser goes, so what is
not here is refused when the module is loaded, with the line and the column. Suffixes may stand in another order, as ptxas
takes them too; only types can't.

How to read a row: `{.ftz}` may be left out, `.(.a .b)` is one of these, and so is a name from the list of classes. Among
the operands, `d` and `p` are results, `[a]` is an address, `{, b}` may be left out, `d|p` is a pair of results. An
operand has the first type of the instruction unless something else stands behind its colon: `:2` the second type, `:wide`
a type twice as wide, `:+` a register that may be wider than the type, `:parts` also a vector of parts, `:@` also the
address of a variable or function. `[a, c]` is a texture or surface by its 64-bit handle with the coordinates there, `:gradient` how
they change from one pixel to the next, `:vector` always a vector.

)";

std::string code(std::string_view text) { return text.empty() ? "" : "`" + std::string(text) + "`"; }

// A | would end the cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return code(escaped);
}

}  // namespace

std::string support_page() {
  std::string page(kIntroduction);
  page += "## Classes\n\n| name | one of |\n| --- | --- |\n";
  for (const SuffixClass& entry : suffix_classes())
    page += "| " + code(entry.name) + " | " + code(entry.members) + " |\n";

  std::string_view group;
  for (const InstructionRow& row : instruction_rows()) {
    if (row.group != group) {
      group = row.group;
      page += "\n## " + std::string(group) + "\n\n| instruction | operands |\n| --- | --- |\n";
    }
    page += "| " + code(row.suffixes) + " | " + cell(row.operands) + " |\n";
  }

  page += "\n## Refused\n\nValid PTX that softgpu does not run. `*` stands for any text.\n";
  std::string_view reason;
  for (const RefusedInstruction& refused : refused_instructions()) {
    const bool first = refused.reason != reason;
    reason = refused.reason;
    page += first ? "\n- " + std::string(reason) + ": " : ", ";
    page += code(refused.pattern);
  }
  return page + "\n";
}

}  // namespace softgpu::ptx
