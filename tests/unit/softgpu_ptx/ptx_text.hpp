// Modules for tests: the parts that all have in common, and short ways to parse.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "softgpu/ptx/parse.hpp"

namespace softgpu::ptx {

inline constexpr std::string_view kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";  // three lines

// A module around the statements of one kernel `k`, with registers of all types. The statements start in line 12.
inline std::string kernel_with(std::string_view statements) {
  return std::string(kHeader) +
         ".global .align 16 .b32 table[64];\n"
         ".const .align 16 .b32 fixed[16];\n"
         ".shared .align 16 .b8 scratch[256];\n"
         ".func (.param .b32 out) twice(.param .b32 in);\n"
         ".visible .entry k(.param .u64 pointer, .param .align 8 .b8 block[24])\n"
         "{\n"
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .u32 %r<9>; .reg .u64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>;\n"
         ".local .align 8 .b8 stack[32];\n" +
         std::string(statements) + "\nret;\n}\n";
}

inline std::string all_messages(const ParseResult& result) {
  std::string text;
  for (const Diagnostic& diagnostic : result.diagnostics) text += to_string(diagnostic) + "\n";
  return text;
}

// The module, which must have no errors.
inline Module parsed(std::string_view text) {
  ParseResult result = parse(text);
  EXPECT_TRUE(result.module.has_value()) << all_messages(result) << "in\n" << text;
  return result.module ? std::move(*result.module) : Module{};
}

inline Function parsed_kernel(std::string_view statements) {
  Module module = parsed(kernel_with(statements));
  for (Function& function : module.functions)
    if (function.name == "k") return std::move(function);
  return {};
}

// The first instruction of a kernel that has just the statements.
inline Instruction parsed_instruction(std::string_view statement) {
  Function kernel = parsed_kernel(statement);
  return kernel.body.empty() ? Instruction{} : std::move(kernel.body.front());
}

// The first error, as the user sees it; empty when there is none.
inline std::string first_error(std::string_view text) {
  const ParseResult result = parse(text);
  return result.diagnostics.empty() ? std::string() : to_string(result.diagnostics.front());
}
inline std::string kernel_error(std::string_view statements) { return first_error(kernel_with(statements)); }

}  // namespace softgpu::ptx
