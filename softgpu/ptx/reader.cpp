#include "softgpu/ptx/reader.hpp"

#include <utility>

namespace softgpu::ptx {

Token Reader::take() {
  const Token token = lexer_.take();
  if (token.kind == Token::Kind::invalid) fail(token.where, describe(token) + ": " + token.problem);
  return token;
}

bool Reader::accept_directive(std::string_view name) {
  if (!at_directive(name)) return false;
  take();
  return true;
}

Token Reader::expect(std::string_view punctuation, std::string_view context) {
  if (!at(punctuation)) fail_at_next("'" + std::string(punctuation) + "' " + std::string(context));
  return take();
}

Token Reader::expect_identifier(std::string_view what) {
  if (peek().kind != Token::Kind::identifier) fail_at_next(what);
  return take();
}

Token Reader::expect_directive(std::string_view what) {
  if (peek().kind != Token::Kind::directive) fail_at_next(what);
  return take();
}

std::uint64_t Reader::expect_integer(std::string_view what) {
  if (peek().kind != Token::Kind::integer) fail_at_next(what);
  return take().bits;
}

void Reader::skip_statement() {
  std::size_t open = 0;
  while (!at_end()) {
    const bool closes = at("}");
    if (closes && open == 0) {
      // The brace of a vector operand whose opening is behind us, or the end of the block.
      const Lexer before = lexer_;
      lexer_.take();
      if (at(",") || at(";")) continue;
      lexer_ = before;
      return;
    }
    if (at("{")) ++open;
    if (closes) --open;
    const bool ends = at(";") && open == 0;
    lexer_.take();
    if (ends) return;
  }
}

void Reader::skip_module_statement() {
  while (!at_end()) {
    if (accept(";")) return;
    if (at("{")) {
      skip_block();
      accept(";");
      return;
    }
    lexer_.take();
  }
}

void Reader::skip_block() {
  std::size_t open = 0;
  do {
    if (at_end()) fail_at_next("'}'");
    if (at("{")) ++open;
    if (at("}")) --open;
    lexer_.take();
  } while (open != 0);
}

void Reader::error(Location where, std::string message, Diagnostic::Cause cause) {
  constexpr std::size_t kLongestMessage = 1500;  // names have no limit
  if (message.size() > kLongestMessage) message = message.substr(0, kLongestMessage) + "…";
  diagnostics_.push_back({Diagnostic::Severity::error, cause, where, std::move(message)});
  if (diagnostics_.size() >= kMostErrors) throw ModuleAbandoned();
}

void Reader::fail(Location where, std::string message, Diagnostic::Cause cause) {
  error(where, std::move(message), cause);
  throw StatementAbandoned();
}

void Reader::fail_at_next(std::string_view expected) {
  const Token& next = peek();
  if (next.kind == Token::Kind::invalid) fail(next.where, describe(next) + ": " + next.problem);
  fail(next.where, "expected " + std::string(expected) + ", found " + describe(next));
}

}  // namespace softgpu::ptx
