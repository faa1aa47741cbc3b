#include "softgpu/ptx/support_page.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "softgpu/ptx/instruction_table.hpp"

namespace softgpu::ptx {

TEST(SupportPage, IsWhatTheInstructionTableSays) {
  std::ifstream file(CUPRUM_SUPPORT_PAGE);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), support_page()) << "print it anew: ptx_support_page > docs/reference/ptx-support.md";
}

TEST(InstructionTable, HasARowOrARefusalForEveryOpcode) {
#define OPCODE(identifier, text)                                                                    \
  {                                                                                                 \
    bool known = false;                                                                             \
    for (const InstructionRow& row : instruction_rows()) known |= row.opcode == Opcode::identifier; \
    const InstructionForm form = match_instruction(text);                                           \
    known |= form.cause == Diagnostic::Cause::unsupported;                                          \
    EXPECT_TRUE(known) << text;                                                                     \
  }
#include "softgpu/ptx/opcodes.def"
#undef OPCODE
}

TEST(InstructionTable, NoRowHasMoreSuffixesThanAnInstructionHolds) {
  for (const InstructionRow& row : instruction_rows()) {
    EXPECT_LE(row.places.size(), decltype(Instruction::modifiers)::capacity()) << row.suffixes;
    EXPECT_LE(row.rules.size(), 8u) << row.suffixes;
  }
}

}  // namespace softgpu::ptx
