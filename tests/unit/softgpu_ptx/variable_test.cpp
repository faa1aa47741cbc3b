#include <bit>
#include <cstring>

#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

Variable variable(std::string_view declaration) {
  Module module = parsed(std::string(kHeader) + ".global .u64 other;\n.func f() { ret; }\n" + std::string(declaration));
  return module.variables.size() < 2 ? Variable{} : std::move(module.variables[1]);
}

std::string variable_error(std::string_view declaration) {
  return first_error(std::string(kHeader) + std::string(declaration));
}

template <typename T>
std::vector<T> values(const Variable& variable) {
  std::vector<T> list(variable.initial.size() / sizeof(T));
  std::memcpy(list.data(), variable.initial.data(), list.size() * sizeof(T));
  return list;
}

TEST(Variable, HasSpaceTypeSizeAndAlignment) {
  const Variable a = variable(".visible .global .align 16 .f32 a[10];");
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.space, Space::global);
  EXPECT_EQ(a.type, Type::f32);
  EXPECT_EQ(a.size, 40u);
  EXPECT_EQ(a.alignment, 16u);
  EXPECT_EQ(a.linkage, Linkage::visible);
  EXPECT_TRUE(a.initial.empty());
  EXPECT_EQ(variable(".const .u64 a;").alignment, 8u);
  EXPECT_EQ(variable(".shared .b16 a[3][4][5];").size, 120u);
  EXPECT_EQ(variable(".global .v4 .f32 a[2];").size, 32u);
  EXPECT_EQ(variable(".global .v4 .f32 a[2];").alignment, 16u);
  EXPECT_EQ(variable(".global .b8 a[4*(2+1)];").size, 12u);
  EXPECT_EQ(variable(".weak .global .b32 a;").linkage, Linkage::weak);
  EXPECT_EQ(variable(".common .global .b32 a;").linkage, Linkage::common);
}

TEST(Variable, MayBeManaged) {
  EXPECT_TRUE(variable(".visible .global .attribute(.managed) .align 4 .u32 a;").managed);
  EXPECT_TRUE(variable(".visible .global .attribute(.unified(19, 95), .managed) .u32 a;").managed);
  EXPECT_FALSE(variable(".global .u32 a;").managed);
  EXPECT_EQ(variable_error(".global .attribute(.fast) .u32 a;"), "line 4, column 20: error: unknown attribute '.fast'");
}

TEST(Variable, MayBeExternAndThenDefined) {
  const Variable open = variable(".extern .shared .align 16 .b8 a[];");
  EXPECT_EQ(open.size, 0u);
  EXPECT_EQ(open.linkage, Linkage::external);
  const Module module =
      parsed(std::string(kHeader) + ".extern .global .u32 a[4];\n.visible .global .u32 a[4] = {1};\n");
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].linkage, Linkage::visible);
  EXPECT_EQ(module.variables[0].initial.size(), 16u);
  EXPECT_EQ(variable_error(".extern .global .u32 a[4];\n.global .u32 a[5];"),
            "line 5, column 14: error: 'a' was declared differently in line 4");
}

TEST(Variable, SeveralShareOneDeclaration) {
  const Module module = parsed(std::string(kHeader) + ".global .u32 a, b[2] = {7, 8}, c = 9;");
  ASSERT_EQ(module.variables.size(), 3u);
  EXPECT_EQ(values<std::uint32_t>(module.variables[1]), (std::vector<std::uint32_t>{7, 8}));
  EXPECT_EQ(values<std::uint32_t>(module.variables[2]), (std::vector<std::uint32_t>{9}));
}

TEST(Initializer, HoldsIntegers) {
  EXPECT_EQ(values<std::uint32_t>(variable(".global .u32 a = 5;")), (std::vector<std::uint32_t>{5}));
  EXPECT_EQ(values<std::uint32_t>(variable(".global .u32 a[4] = {1, 0x10, -1};")),
            (std::vector<std::uint32_t>{1, 16, 0xffffffff, 0}));
  EXPECT_EQ(values<std::uint32_t>(variable(".global .u32 a[] = {1, 2};")), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(values<std::int8_t>(variable(".global .b8 a[3] = {255, -2, 1+2};")), (std::vector<std::int8_t>{-1, -2, 3}));
  EXPECT_EQ(values<std::uint64_t>(variable(".global .b64 a = 0xfedcba9876543210;")),
            (std::vector<std::uint64_t>{0xfedcba9876543210}));
}

TEST(Initializer, FollowsTheDimensions) {
  EXPECT_EQ(values<std::int32_t>(variable(".global .s32 a[2][3] = {{1, 2}, {3, 4, 5}};")),
            (std::vector<std::int32_t>{1, 2, 0, 3, 4, 5}));
  EXPECT_EQ(values<std::int32_t>(variable(".global .s32 a[][2] = {{1}, {2, 3}, {4}};")),
            (std::vector<std::int32_t>{1, 0, 2, 3, 4, 0}));
  EXPECT_EQ(values<std::int32_t>(variable(".global .s32 a[2][2] = {1, 2, 3};")),
            (std::vector<std::int32_t>{1, 2, 3, 0}));
  EXPECT_EQ(values<float>(variable(".global .v2 .f32 a[2] = {{1.0, 2.0}, {3.0, 4.0}};")),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(variable_error(".global .u32 a[2] = {1, 2, 3};"),
            "line 4, column 28: error: too many initial values: this dimension has 2");
  EXPECT_EQ(variable_error(".global .u32 a[1][2] = {1, 2, 3};"),
            "line 4, column 31: error: too many initial values: this dimension has 1");
}

TEST(Initializer, HoldsFloats) {
  EXPECT_EQ(values<float>(variable(".global .f32 a[4] = {0f3FC00000, 2.5, -1.0, 3};")),
            (std::vector<float>{1.5f, 2.5f, -1.0f, 3.0f}));
  EXPECT_EQ(values<double>(variable(".global .f64 a[3] = {0d3FF8000000000000, 1e-3, 0f3FC00000};")),
            (std::vector<double>{1.5, 1e-3, 1.5}));
  EXPECT_EQ(variable_error(".global .u32 a = 1.5;"), "line 4, column 18: error: this value can't be a .u32");
}

TEST(Initializer, HoldsStrings) {
  EXPECT_EQ(values<char>(variable(".global .b8 a[] = \"abc\";")), (std::vector<char>{'a', 'b', 'c', 0}));
  EXPECT_EQ(variable(".global .b8 a[6] = \"abc\";").size, 6u);
  EXPECT_EQ(variable_error(".global .b8 a[2] = \"abc\";"),
            "line 4, column 20: error: the string does not fit the variable");
  EXPECT_EQ(variable_error(".global .b32 a[8] = \"abc\";"),
            "line 4, column 21: error: a string needs a variable of 8-bit values");
}

TEST(Initializer, HoldsAddresses) {
  const Variable a = variable(".global .u64 a[5] = {7, other, other+8, generic(other), generic(other)+16};");
  ASSERT_EQ(a.relocations.size(), 4u);
  EXPECT_EQ(a.relocations[0].offset, 8u);
  EXPECT_EQ(a.relocations[0].target.kind, Symbol::Kind::module_variable);
  EXPECT_EQ(a.relocations[0].target.index, 0u);
  EXPECT_EQ(a.relocations[1].addend, 8);
  EXPECT_EQ(a.relocations[3].offset, 32u);
  EXPECT_EQ(a.relocations[3].addend, 16);
  EXPECT_EQ(values<std::uint64_t>(a).front(), 7u);
}

TEST(Initializer, HoldsFunctionsAndWhatIsDeclaredLater) {
  const Module module =
      parsed(std::string(kHeader) + ".global .u64 a[2] = {later, f};\n.global .u32 later;\n.func f() { ret; }");
  ASSERT_EQ(module.variables[0].relocations.size(), 2u);
  EXPECT_EQ(module.variables[0].relocations[0].target.index, 1u);
  EXPECT_EQ(module.variables[0].relocations[1].target.kind, Symbol::Kind::function);
}

TEST(Initializer, PutsMaskedBytesTogether) {
  const Variable a = variable(
      ".global .align 8 .b8 a[10] = {1, 2, 0xFF(other), 0xFF00(other), 0xFF0000(other), 0xFF000000(other), "
      "0xFF00000000(other),"
      "0xFF0000000000(other), 0xFF000000000000(other), 0xFF00000000000000(other)};");
  ASSERT_EQ(a.relocations.size(), 1u);
  EXPECT_EQ(a.relocations[0].offset, 2u);
  EXPECT_EQ(a.initial[1], 2);
  EXPECT_EQ(variable_error(".global .u32 o;\n.global .b8 a[2] = {0xFF(o), 0xFF00(o)};"),
            "line 5, column 30: error: a masked address must be given byte by byte, from 0xFF to the highest byte");
}

TEST(Initializer, RefusesUnknownNamesAndSmallPlaces) {
  EXPECT_EQ(variable_error(".global .u64 a = nothing;"), "line 4, column 14: error: 'nothing' is not declared");
  EXPECT_EQ(variable_error(".global .u32 b;\n.global .u32 a = b;"),
            "line 5, column 18: error: an address needs a 64-bit integer, not a .u32");
  EXPECT_EQ(variable_error(".shared .u32 a = 4;"),
            "line 4, column 16: error: a variable in .shared can't have an initial value");
}

TEST(Variable, SaysWhatIsWrong) {
  EXPECT_EQ(variable_error(".global .u33 a;"), "line 4, column 9: error: unknown type '.u33'; did you mean '.u32'?");
  EXPECT_EQ(variable_error(".global a;"), "line 4, column 9: error: expected a type such as .b32, found 'a'");
  EXPECT_EQ(variable_error(".global .u32;"), "line 4, column 13: error: expected the name of the variable, found ';'");
  EXPECT_EQ(variable_error(".global .u32 a"),
            "line 4, column 15: error: expected ';' behind the declaration, found the end of the text");
  EXPECT_EQ(variable_error(".global .align 3 .u32 a;"),
            "line 4, column 16: error: an alignment must be a power of two");
  EXPECT_EQ(variable_error(".global .pred a;"),
            "line 4, column 9: error: a variable can't have the type .pred; only registers can");
  EXPECT_EQ(variable_error(".global .u32 a;\n.global .u32 a;"),
            "line 5, column 14: error: 'a' is declared twice; the first time in line 4");
  EXPECT_EQ(variable_error(".global .u32 a[];"),
            "line 4, column 14: error: the array 'a' needs a size; only an .extern array can do without");
  EXPECT_EQ(variable_error(".global .u32 a[2][];"),
            "line 4, column 18: error: only the first dimension of an array can be left out");
  EXPECT_EQ(variable_error(".local .u32 a;"),
            "line 4, column 13: error: a variable in .local must be declared in a function");
  EXPECT_EQ(variable_error(".const .b8 a[65537];"),
            "line 4, column 12: error: 'a' is too large for .const, which has 65536 bytes");
}

TEST(Variable, IsNeverAllocatedJustBecauseItIsLarge) {
  EXPECT_EQ(variable(".global .b8 a[1099511627776];").size, std::uint64_t{1} << 40);
  EXPECT_EQ(variable_error(".global .b8 a[1099511627777];"),
            "line 4, column 15: error: the size of an array must be from 0 to 1099511627776");
  EXPECT_EQ(variable_error(".global .b8 a[1048576][1048577];"), "line 4, column 24: error: the array is too large");
  EXPECT_EQ(variable_error(".global .b8 a[1099511627776] = {1};"),
            "line 4, column 13: error: an initialised variable can have 64 MiB");
  EXPECT_EQ(variable_error(".global .b8 a[-1];"),
            "line 4, column 15: error: the size of an array must be from 0 to 1099511627776");
}

TEST(FunctionVariable, BelongsToItsFunction) {
  const Function kernel =
      parsed_kernel(".shared .align 4 .b8 own[12]; .local .v2 .f64 pair; { .param .b64 argument; }");
  ASSERT_EQ(kernel.variables.size(), 4u);
  EXPECT_EQ(kernel.variables[0].name, "stack");
  EXPECT_EQ(kernel.variables[1].space, Space::shared);
  EXPECT_EQ(kernel.variables[2].size, 16u);
  EXPECT_EQ(kernel.variables[3].space, Space::param);
}

}  // namespace
}  // namespace softgpu::ptx
