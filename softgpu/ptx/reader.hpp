// Tokens with expectations: what the parts of the parser read through, and how they report what is wrong.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/diagnostic.hpp"
#include "softgpu/ptx/lexer.hpp"

namespace softgpu::ptx {

// Thrown once a problem has been noted, to leave the statement it is in. Never leaves parse().
struct StatementAbandoned {};
// Thrown when going on makes no sense: too many errors, or not a PTX module at all.
struct ModuleAbandoned {};

class Reader {
 public:
  static constexpr std::size_t kMostErrors = 20;

  explicit Reader(std::string_view text) : lexer_(text) {}

  const Token& peek() const { return lexer_.peek(); }
  Token take();
  bool at(std::string_view punctuation) const { return peek().is(punctuation); }
  bool at_directive(std::string_view name) const {
    return peek().kind == Token::Kind::directive && peek().text == name;
  }
  bool at_end() const { return peek().kind == Token::Kind::end; }
  bool accept(std::string_view punctuation) { return lexer_.accept(punctuation); }
  bool accept_directive(std::string_view name);
  // `context` says after or in what: "after the kernel's name".
  Token expect(std::string_view punctuation, std::string_view context);
  Token expect_identifier(std::string_view what);
  Token expect_directive(std::string_view what);
  std::uint64_t expect_integer(std::string_view what);
  std::string_view take_suffixes() { return lexer_.take_suffixes(); }
  void skip_line(std::uint32_t line) { lexer_.skip_line(line); }

  // Goes on behind the statement that was abandoned: behind its semicolon, or before the brace that closes its block.
  void skip_statement();
  // The same outside of functions, where a statement may also end with a block.
  void skip_module_statement();
  // Skips { … }, braces included.
  void skip_block();

  void error(Location, std::string message, Diagnostic::Cause = Diagnostic::Cause::invalid);
  [[noreturn]] void fail(Location, std::string message, Diagnostic::Cause = Diagnostic::Cause::invalid);
  [[noreturn]] void fail_at_next(std::string_view expected);

  bool failed() const { return !diagnostics_.empty(); }
  std::vector<Diagnostic> take_diagnostics() { return std::move(diagnostics_); }

 private:
  Lexer lexer_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace softgpu::ptx
