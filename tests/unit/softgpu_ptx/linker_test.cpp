// Modules that are linked.
#include "softgpu/ptx/linker.hpp"

#include <algorithm>
#include <initializer_list>

#include "softgpu/ptx/symbols.hpp"
#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

// Adds a module named "a", "b", "c"… for each text. The errors of all, a line each.
std::string add_all(Linker& linker, std::initializer_list<std::string_view> texts) {
  std::string errors;
  char name = 'a';
  for (const std::string_view text : texts) {
    for (const std::string& error : linker.add(parsed(std::string(kHeader) + std::string(text)), std::string(1, name)))
      errors += error + "\n";
    ++name;
  }
  return errors;
}

Module linked(std::initializer_list<std::string_view> texts) {
  Linker linker;
  EXPECT_EQ(add_all(linker, texts), "");
  return std::move(linker).finish();
}

std::string errors_of(std::initializer_list<std::string_view> texts) {
  Linker linker;
  return add_all(linker, texts);
}

const Function& function(const Module& module, std::string_view name) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const Function& candidate) { return candidate.name == name; });
  EXPECT_NE(found, module.functions.end()) << name;
  return *found;
}
const Variable& variable(const Module& module, std::string_view name) {
  const auto found = std::find_if(module.variables.begin(), module.variables.end(),
                                  [&](const Variable& candidate) { return candidate.name == name; });
  EXPECT_NE(found, module.variables.end()) << name;
  return *found;
}

// The names, after linking, of what a function refers to.
std::vector<std::string> references(const Module& module, std::string_view name) {
  std::vector<std::string> names;
  for_each_symbol_of_function(function(module, name), [&](const Symbol& symbol) {
    if (symbol.kind == Symbol::Kind::function) names.push_back(module.functions[symbol.index].name);
    if (symbol.kind == Symbol::Kind::module_variable) names.push_back(module.variables[symbol.index].name);
  });
  return names;
}

using Names = std::vector<std::string>;

TEST(Linker, DeclarationsBecomeDefinitions) {
  const Module module =
      linked({".extern .func f();\n.visible .entry k() { call f, (); ret; }", ".visible .func f() { ret; }"});
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_TRUE(function(module, "f").is_definition);
  EXPECT_EQ(references(module, "k"), Names{"f"});
  EXPECT_EQ(module.parts, (Names{"a", "b"}));
  EXPECT_EQ(function(module, "f").part, 1u);
}

TEST(Linker, OrderDoesNotMatter) {
  const Module module =
      linked({".visible .func f() { ret; }", ".extern .func f();\n.visible .entry k() { call f, (); ret; }"});
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_TRUE(function(module, "f").is_definition);
  EXPECT_EQ(references(module, "k"), Names{"f"});
}

TEST(Linker, OwnSymbolsAreRenamedWhereTheyClash) {
  const std::string_view text = ".global .u32 x = 1;\n.func f() { st.global.u32 [x], 1; ret; }\n";
  const Module module = linked({text, text, ".visible .global .u32 f;"});
  ASSERT_EQ(module.functions.size(), 2u);
  ASSERT_EQ(module.variables.size(), 3u);
  EXPECT_EQ(module.functions[0].name, "f.1") << "the shared symbol keeps its name";
  EXPECT_EQ(module.functions[1].name, "f.2");
  EXPECT_EQ(references(module, "f.1"), Names{"x"});
  EXPECT_EQ(references(module, "f.2"), Names{"x.2"});
}

TEST(Linker, VariablesOfFunctionsAreToldApart) {
  const Module module =
      linked({".visible .entry a() { .global .u32 x = 1; st.global.u32 [x], 1; ret; }\n"
              ".visible .entry b() { .global .u32 x = 2; st.global.u32 [x], 1; ret; }\n"});
  EXPECT_NE(references(module, "a"), references(module, "b"));
}

TEST(Linker, DeclarationsInFunctionsAreThoseOfTheModule) {
  const Module module =
      linked({".visible .entry a() { .extern .global .u32 x; st.global.u32 [x], 1; ret; }\n"
              ".visible .entry b() { .extern .global .u32 x; st.global.u32 [x], 1; ret; }\n",
              ".visible .global .u32 x;\n"});
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].linkage, Linkage::visible);
  EXPECT_EQ(references(module, "a"), references(module, "b"));
}

TEST(Linker, StrongerSymbolsWin) {
  const Module module =
      linked({".weak .global .u32 x = 1;\n.weak .func f() { ret; }\n.common .global .u32 y;",
              ".visible .global .u32 x = 2;\n.visible .func f() { exit; }\n.visible .global .u32 y = 3;",
              ".weak .global .u32 x = 4;\n.weak .func f() { ret; }\n.common .global .u32 y;"});
  ASSERT_EQ(module.variables.size(), 2u);
  EXPECT_EQ(variable(module, "x").initial.at(0), 2);
  EXPECT_EQ(variable(module, "y").initial.at(0), 3);
  EXPECT_EQ(function(module, "f").body.front().text, "exit");
}

TEST(Linker, FirstOfEqualsWins) {
  const Module module = linked({".weak .global .u32 x = 1;", ".weak .global .u32 x = 2;"});
  EXPECT_EQ(variable(module, "x").initial.at(0), 1);
}

TEST(Linker, CommonVariablesTakeTheLargestSizeAndAlignment) {
  const Module module = linked({".common .global .align 16 .b8 x[4];", ".common .global .align 4 .b8 x[64];"});
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].size, 64u);
  EXPECT_EQ(module.variables[0].alignment, 16u);
}

TEST(Linker, InitialValuesFollowTheirTargets) {
  const Module module = linked({".global .u32 own;\n.extern .global .u32 x;\n.visible .global .u64 p[2] = {x, own};",
                                ".global .u32 own;\n.visible .global .u32 x = 1;"});
  const Variable& pointers = variable(module, "p");
  ASSERT_EQ(pointers.relocations.size(), 2u);
  EXPECT_EQ(module.variables[pointers.relocations[0].target.index].name, "x");
  EXPECT_EQ(module.variables[pointers.relocations[1].target.index].name, "own");
}

TEST(Linker, AliasesAreKnownElsewhere) {
  const Module module = linked({".extern .func alias();\n.visible .entry k() { call alias, (); ret; }",
                                ".func body() { ret; }\n.visible .func alias();\n.alias alias, body;"});
  EXPECT_EQ(references(module, "k"), Names{"body"});
}

TEST(Linker, NewestTargetIsKept) {
  Linker linker;
  ASSERT_TRUE(linker.add(parsed(".version 7.0\n.target sm_75\n"), "a").empty());
  ASSERT_TRUE(linker.add(parsed(".version 8.3\n.target sm_80\n"), "b").empty());
  ASSERT_TRUE(linker.add(parsed(".version 7.4\n.target sm_70\n"), "c").empty());
  const Module module = std::move(linker).finish();
  EXPECT_EQ(module.target, "sm_80");
  EXPECT_EQ(module.compute_capability, 80u);
  EXPECT_EQ(module.version_major, 8u);
  EXPECT_EQ(module.version_minor, 3u);
}

TEST(Linker, ClashesAreNamedWithBothModules) {
  EXPECT_EQ(errors_of({".visible .func f() { ret; }", ".visible .func f() { ret; }"}),
            "Multiple definition of 'f' in 'b', first defined in 'a'\n");
  EXPECT_EQ(errors_of({".visible .global .u32 x;", "", ".visible .global .u32 x;"}),
            "Multiple definition of 'x' in 'c', first defined in 'a'\n");
  EXPECT_EQ(errors_of({".visible .global .u32 x;", ".extern .global .u64 x;"}),
            "Size doesn't match for 'x' in 'b', first specified in 'a'\n");
  EXPECT_EQ(errors_of({".visible .global .u32 x;", ".extern .const .u32 x;"}),
            "Memory space doesn't match for 'x' in 'b', first specified in 'a'\n");
  EXPECT_EQ(errors_of({".visible .global .u32 x;", ".visible .func x() { ret; }"}),
            "Memory space doesn't match for 'x' in 'b', first specified in 'a'\n");
  EXPECT_EQ(errors_of({".extern .func f(.param .b32 p);", ".visible .func f(.param .b64 p) { ret; }"}),
            "Prototype doesn't match for 'f' in 'b', first specified in 'a'\n");
  EXPECT_EQ(errors_of({".extern .func f(.param .b32 p);", ".visible .func f(.param .b8 p[4]) { ret; }"}),
            "Prototype doesn't match for 'f' in 'b', first specified in 'a'\n");
}

TEST(Linker, ModuleThatClashesIsNotAdded) {
  Linker linker;
  EXPECT_NE(add_all(linker, {".visible .func f() { ret; }", ".visible .func f() { ret; }\n.visible .global .u32 x;"}),
            "");
  const Module module = std::move(linker).finish();
  EXPECT_EQ(module.parts, Names{"a"});
  EXPECT_TRUE(module.variables.empty());
}

TEST(Linker, WantsWhatIsMissing) {
  Linker linker;
  ASSERT_EQ(add_all(linker, {".extern .func f();\n.extern .global .u32 x;\n.visible .func g() { call f, (); ret; }"}),
            "");
  const auto wants = [&](std::string_view text) {
    return linker.is_wanted(parsed(std::string(kHeader) + std::string(text)));
  };
  EXPECT_TRUE(wants(".visible .func f() { ret; }"));
  EXPECT_TRUE(wants(".weak .global .u32 x;"));
  EXPECT_FALSE(wants(".func f() { ret; }")) << "that is its own";
  EXPECT_FALSE(wants(".extern .func f();"));
  EXPECT_FALSE(wants(".visible .func g() { ret; }"));
  EXPECT_FALSE(wants(".visible .func h() { ret; }"));
}

}  // namespace
}  // namespace softgpu::ptx
