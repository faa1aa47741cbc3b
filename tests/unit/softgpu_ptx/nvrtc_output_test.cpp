// A whole module as the CUDA compiler prints it.
#include "tests/unit/softgpu_ptx/nvrtc_output.hpp"

#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

class NvrtcOutput : public testing::Test {
 protected:
  const Module module = parsed(kNvrtcOutput);
  const Function& function(std::string_view name) const {
    for (const Function& candidate : module.functions)
      if (candidate.name == name) return candidate;
    static const Function none;
    ADD_FAILURE() << name;
    return none;
  }
};

TEST_F(NvrtcOutput, HasItsVariables) {
  ASSERT_EQ(module.variables.size(), 5u);
  EXPECT_EQ(module.variables[0].name, "coefficients");
  EXPECT_EQ(module.variables[0].space, Space::const_);
  EXPECT_EQ(module.variables[0].initial.size(), 16u);
  EXPECT_EQ(module.variables[1].initial[0], 7);
  ASSERT_EQ(module.variables[2].relocations.size(), 1u);
  EXPECT_EQ(module.variables[2].relocations[0].target.index, 1u);
  EXPECT_EQ(module.variables[3].linkage, Linkage::external);
  EXPECT_EQ(module.variables[3].size, 0u);
  EXPECT_EQ(module.variables[4].initial, (std::vector<std::uint8_t>{'%', 'd', '\n', 0}));
}

TEST_F(NvrtcOutput, HasItsFunctions) {
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_FALSE(function("vprintf").is_definition);
  const Function& polynomial = function("_Z10polynomialfi");
  EXPECT_FALSE(polynomial.is_kernel);
  EXPECT_EQ(polynomial.results.size(), 1u);
  EXPECT_EQ(polynomial.parameters.size(), 2u);
  const Function& reduce = function("reduce");
  EXPECT_TRUE(reduce.is_kernel);
  EXPECT_EQ(reduce.max_threads[0], 256u);
  EXPECT_EQ(reduce.parameter_bytes, 64u);
  EXPECT_EQ(reduce.parameters[3].offset, 24u);
}

TEST_F(NvrtcOutput, CallsByName) {
  std::vector<std::string> callees;
  for (const Instruction& instruction : function("reduce").body)
    if (instruction.call) callees.push_back(std::get<Symbol>(instruction.call->callee).name);
  EXPECT_EQ(callees, (std::vector<std::string>{"_Z10polynomialfi", "vprintf"}));
}

TEST_F(NvrtcOutput, HasEverythingResolved) {
  for (const Function& f : module.functions) {
    const auto check_symbol = [&](const Symbol& symbol) {
      const std::size_t limits[] = {0,
                                    module.variables.size(),
                                    f.variables.size(),
                                    f.results.size() + f.parameters.size(),
                                    module.functions.size(),
                                    f.labels.size(),
                                    f.branch_targets.size()};
      EXPECT_NE(symbol.kind, Symbol::Kind::unresolved) << symbol.name;
      EXPECT_LT(symbol.index, limits[static_cast<std::size_t>(symbol.kind)]) << symbol.name;
    };
    for (const Label& label : f.labels) EXPECT_LE(label.target, f.body.size());
    for (const Instruction& instruction : f.body)
      for (const Operand& operand : instruction.operands) {
        if (const auto* reg = std::get_if<Register>(&operand.value)) {
          EXPECT_LT(reg->index, f.registers.size());
        }
        if (const auto* address = std::get_if<Address>(&operand.value))
          if (const auto* symbol = std::get_if<Symbol>(&address->base)) check_symbol(*symbol);
      }
  }
}

}  // namespace
}  // namespace softgpu::ptx
