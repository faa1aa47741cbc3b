// Bad input: a clear error, never a crash, a hang or a huge allocation.
#include <algorithm>
#include <random>

#include "tests/unit/softgpu_ptx/nvrtc_output.hpp"
#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

// Either a module, or errors whose places are in the text.
void expect_sound(std::string_view text) {
  const ParseResult result = parse(text);
  EXPECT_NE(result.module.has_value(), !result.diagnostics.empty());
  EXPECT_LE(result.diagnostics.size(), 20u);
  for (const Diagnostic& diagnostic : result.diagnostics) {
    EXPECT_GE(diagnostic.where.line, 1u);
    EXPECT_GE(diagnostic.where.column, 1u);
    EXPECT_LE(diagnostic.where.line, 1u + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    EXPECT_FALSE(diagnostic.message.empty());
    EXPECT_LT(diagnostic.message.size(), 2000u);
  }
}

TEST(Robustness, AModuleCutAtAnyByteIsAnErrorOrAModule) {
  const std::string_view text = kNvrtcOutput;
  for (std::size_t size = 0; size <= text.size(); ++size) expect_sound(text.substr(0, size));
}

TEST(Robustness, AModuleCutInsideAKernelIsAnError) {
  const std::string_view text = kNvrtcOutput;
  const std::size_t body = text.find("ld.param");
  const std::size_t end = text.find("\n}", body);
  for (std::size_t size = body; size <= end; ++size) EXPECT_FALSE(parse(text.substr(0, size)).module) << size;
}

TEST(Robustness, RandomChangesAreAnErrorOrAModule) {
  std::mt19937 random(20240229);
  const std::string_view fragments[] = {"{",
                                        "}",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        ";",
                                        ",",
                                        "<",
                                        ">",
                                        "@",
                                        "|",
                                        ".reg",
                                        "%r1",
                                        "0x",
                                        "\"",
                                        "/*",
                                        "-",
                                        "999999999999999999999",
                                        ".v4"};
  for (int round = 0; round < 3000; ++round) {
    std::string text(kNvrtcOutput);
    const std::size_t changes = 1 + random() % 6;
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + random() % 40); break;
        case 2: text.insert(at, fragments[random() % std::size(fragments)]); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 60)); break;
      }
    }
    expect_sound(text);
  }
}

TEST(Robustness, BinaryDataIsAnError) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 3000, '\0');
    for (char& c : text) c = static_cast<char>(random());
    expect_sound(text);
    expect_sound(std::string(kHeader) + text);
    expect_sound(kernel_with(text));
  }
  EXPECT_EQ(first_error("\x7f"
                        "ELF\x02\x01"),
            "line 1, column 1: error: '\\x7f': a character that PTX does not have");
}

TEST(Robustness, DeepNestingIsAnError) {
  EXPECT_EQ(kernel_error(std::string(1'000'000, '{')),
            "line 12, column 199: error: blocks are nested more than 200 deep");
  expect_sound(kernel_with("mov.u32 %r1, " + std::string(1'000'000, '(')));
  expect_sound(kernel_with("ld.v4.u32 " + std::string(1'000'000, '{')));
  expect_sound(kernel_with("ld.u32 %r1, " + std::string(1'000'000, '[')));
  expect_sound(std::string(kHeader) + ".global .u32 a[2] = " + std::string(1'000'000, '{'));
  expect_sound(std::string(kHeader) + ".global .u32 a" + std::string(1'000'000, '['));
  expect_sound(std::string(kHeader) + ".section .debug_str " + std::string(1'000'000, '{'));
}

TEST(Robustness, LongNamesAndSuffixesAreAnError) {
  expect_sound(kernel_with("add" + std::string(1'000'000, '.') + ";"));
  std::string suffixes;
  for (int i = 0; i < 100'000; ++i) suffixes += ".ftz";
  expect_sound(kernel_with("add" + suffixes + " %f1, %f2;"));
  expect_sound(kernel_with(std::string(1'000'000, 'a') + ";"));
  expect_sound(kernel_with("mov.u32 %r1, %" + std::string(1'000'000, 'a') + ";"));
  expect_sound(kernel_with("mov.u32 %r1, " + std::string(1'000'000, '9') + ";"));
  expect_sound(kernel_with("ld.v4.u32 {" + std::string(100'000, ',') + "}, [%d1];"));
}

TEST(Robustness, ManyOfOneThingTakeLinearTime) {
  const auto many = [](int count, auto text) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text(std::to_string(i));
    return all;
  };
  using S = const std::string&;
  EXPECT_EQ(kernel_error(many(50'000, [](S i) { return ".reg .u32 %name" + i + "; mov.u32 %name" + i + ", 1;\n"; })),
            "");
  EXPECT_EQ(kernel_error(many(50'000, [](S i) { return ".reg .u32 %x" + i + "_<3>; mov.u32 %x" + i + "_2, 1;\n"; })),
            "");
  EXPECT_EQ(kernel_error(many(50'000, [](S i) { return "bra L" + i + "; L" + i + ":\n"; })), "");
  EXPECT_EQ(kernel_error(many(50'000, [](S i) { return "{ .reg .u32 %r1; L: mov.u32 %r1, " + i + "; bra L; }\n"; })),
            "");
  EXPECT_EQ(
      first_error(std::string(kHeader) + many(50'000, [](S i) { return ".global .u64 v" + i + " = v" + i + ";\n"; })),
      "");
  EXPECT_EQ(first_error(std::string(kHeader) + ".func f() { " + many(20'000, [](S) { return "exit;"; }) + "}\n" +
                        many(20'000, [](S i) { return ".func f" + i + "(); .alias f" + i + ", f;\n"; })),
            "");
}

}  // namespace
}  // namespace softgpu::ptx
