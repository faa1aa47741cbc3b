// PTX text to tokens, one at a time, with one token of look-ahead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,   // name, %name, _
    directive,    // .name
    integer,      // `bits`; is_unsigned for a U suffix or a value that needs 64 bits
    float_bits,   // 0f…
    double_bits,  // 0d…, 1.5
    string,       // text without its quotes
    punctuation,  // one or two characters: { << && …
    invalid,      // `text` is what was found, `problem` what is wrong with it
  } kind = Kind::end;
  bool is_unsigned = false;
  std::string_view text;
  std::uint64_t bits = 0;
  Location where;
  const char* problem = nullptr;

  bool is(std::string_view symbol) const { return kind == Kind::punctuation && text == symbol; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& peek() const { return next_; }
  Token take();
  bool accept(std::string_view punctuation);

  // The suffixes that follow an opcode without a space: ".rn.ftz.f32", "" if there are none. They directly
  // follow the last token taken.
  std::string_view take_suffixes();

  // Drops what is left of this line.
  void skip_line(std::uint32_t line);

 private:
  Token scan();
  void skip_blanks();
  Token scan_number();
  Token scan_string();
  Token scan_punctuation();
  Token make(Token::Kind kind, const char* begin) const;
  Token invalid(const char* begin, const char* problem) const;
  Location location(const char* at) const;

  const char* at_;
  const char* end_;
  const char* line_begin_;
  std::uint32_t line_ = 1;
  const char* unterminated_comment_ = nullptr;
  const char* taken_end_;  // where the last token taken ended
  Token next_;
};

// "a string", "'add'", "the end of the text": for messages.
std::string describe(const Token&);

}  // namespace softgpu::ptx
