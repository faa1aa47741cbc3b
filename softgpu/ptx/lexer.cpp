#include "softgpu/ptx/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

namespace softgpu::ptx {
namespace {

enum Class : std::uint8_t { kStart = 1, kFollow = 2, kDigit = 4, kBlank = 8, kHex = 16 };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    std::uint8_t& classes = table[static_cast<std::size_t>(c)];
    if (letter || c == '_' || c == '$') classes |= kStart | kFollow;
    if (digit) classes |= kFollow | kDigit;
    if (hex) classes |= kHex;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') classes |= kBlank;
  }
  return table;
}();

bool is(char c, Class cls) { return (kClasses[static_cast<unsigned char>(c)] & cls) != 0; }

struct Number {
  Token::Kind kind = Token::Kind::invalid;
  std::uint64_t bits = 0;
  bool is_unsigned = false;
  const char* problem = nullptr;
};

Number bad(const char* problem) { return {.problem = problem}; }

Number parse_float_bits(std::string_view digits, std::size_t expected, Token::Kind kind) {
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() != expected)
    return bad(expected == 8 ? "a 0f constant has 8 hexadecimal digits" : "a 0d constant has 16 hexadecimal digits");
  return {kind, bits, false, nullptr};
}

Number parse_decimal_float(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return bad("not a number");
  if (error == std::errc::result_out_of_range) return bad("the number does not fit a double");
  if (error != std::errc()) return bad("not a number");
  return {Token::Kind::double_bits, std::bit_cast<std::uint64_t>(value), false, nullptr};
}

Number parse_integer(std::string_view text) {
  Number number{Token::Kind::integer, 0, false, nullptr};
  if (text.ends_with('U')) {
    number.is_unsigned = true;
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = text[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.bits, base);
  if (error == std::errc::result_out_of_range) return bad("the number does not fit 64 bits");
  if (error != std::errc() || end != text.data() + text.size()) return bad("not a number");
  if (number.bits >> 63) number.is_unsigned = true;
  return number;
}

Number parse_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') {
    const char mark = text[1];
    if (mark == 'f' || mark == 'F') return parse_float_bits(text.substr(2), 8, Token::Kind::float_bits);
    if (mark == 'd' || mark == 'D') return parse_float_bits(text.substr(2), 16, Token::Kind::double_bits);
    if (mark == 'x' || mark == 'X') return parse_integer(text);
  }
  if (text.find_first_of(".eE") != std::string_view::npos) return parse_decimal_float(text);
  return parse_integer(text);
}

}  // namespace

Lexer::Lexer(std::string_view text)
    : at_(text.data()), end_(text.data() + text.size()), line_begin_(at_), taken_end_(at_) {
  next_ = scan();
}

Token Lexer::take() {
  Token token = next_;
  taken_end_ = at_;
  next_ = scan();
  return token;
}

bool Lexer::accept(std::string_view punctuation) {
  if (!next_.is(punctuation)) return false;
  take();
  return true;
}

std::string_view Lexer::take_suffixes() {
  const char* begin = taken_end_;
  if (begin == end_ || *begin != '.') return {};
  const char* at = begin;
  while (at != end_) {
    if (is(*at, kFollow) || *at == '.')
      ++at;
    else if (*at == ':' && at + 2 < end_ && at[1] == ':' && is(at[2], kFollow))
      at += 2;
    else
      break;
  }
  // The look-ahead began inside what is now taken; both are on one line.
  line_ = next_.where.line;
  line_begin_ = begin - (next_.where.column - 1);
  at_ = taken_end_ = at;
  next_ = scan();
  return {begin, static_cast<std::size_t>(at - begin)};
}

void Lexer::skip_line(std::uint32_t line) {
  if (next_.where.line != line) return;
  const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
  at_ = newline ? static_cast<const char*>(newline) : end_;
  next_ = scan();
}

void Lexer::skip_blanks() {
  while (at_ != end_) {
    if (is(*at_, kBlank)) {
      ++at_;
    } else if (*at_ == '\n') {
      line_begin_ = ++at_;
      ++line_;
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '/') {
      const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
      at_ = newline ? static_cast<const char*>(newline) : end_;
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '*') {
      const char* begin = at_;
      const std::string_view rest(at_ + 2, static_cast<std::size_t>(end_ - at_) - 2);
      const std::size_t close = rest.find("*/");
      if (close == std::string_view::npos) {
        unterminated_comment_ = begin;
        return;
      }
      for (const char* end = rest.data() + close + 2; at_ != end; ++at_)
        if (*at_ == '\n') {
          line_begin_ = at_ + 1;
          ++line_;
        }
    } else {
      return;
    }
  }
}

Token Lexer::scan() {
  skip_blanks();
  if (unterminated_comment_) {
    at_ = end_;
    const char* begin = std::exchange(unterminated_comment_, nullptr);
    Token token = invalid(begin, "a comment that does not end");
    token.text = token.text.substr(0, 2);
    return token;
  }
  const char* begin = at_;
  if (at_ == end_) return make(Token::Kind::end, begin);
  const char c = *at_;
  const char following = at_ + 1 < end_ ? at_[1] : '\0';
  if (is(c, kStart) || (c == '%' && is(following, kStart))) {
    do ++at_;
    while (at_ != end_ && is(*at_, kFollow));
    return make(Token::Kind::identifier, begin);
  }
  if (is(c, kDigit) || (c == '.' && is(following, kDigit))) return scan_number();
  if (c == '.' && is(following, kStart)) {
    do {
      ++at_;
      if (at_ + 2 < end_ && at_[0] == ':' && at_[1] == ':' && is(at_[2], kFollow)) at_ += 2;
    } while (at_ != end_ && is(*at_, kFollow));
    return make(Token::Kind::directive, begin);
  }
  if (c == '"') return scan_string();
  return scan_punctuation();
}

Token Lexer::scan_number() {
  const char* begin = at_;
  const bool prefixed = *at_ == '0' && at_ + 1 < end_ && std::strchr("xXbBfFdD", at_[1]) != nullptr && at_[1] != '\0';
  while (at_ != end_) {
    const bool exponent = !prefixed && (*at_ == 'e' || *at_ == 'E');
    if (exponent && at_ + 1 < end_ && (at_[1] == '-' || at_[1] == '+'))
      at_ += 2;
    else if (is(*at_, kFollow) || (*at_ == '.' && !prefixed))
      ++at_;
    else
      break;
  }
  Token token = make(Token::Kind::invalid, begin);
  const Number number = parse_number(token.text);
  token.kind = number.kind;
  token.bits = number.bits;
  token.is_unsigned = number.is_unsigned;
  token.problem = number.problem;
  return token;
}

Token Lexer::scan_string() {
  const char* begin = at_++;
  while (at_ != end_ && *at_ != '"' && *at_ != '\n') at_ += (*at_ == '\\' && at_ + 1 != end_ && at_[1] != '\n') ? 2 : 1;
  if (at_ == end_ || *at_ != '"') return invalid(begin, "a string that does not end on its line");
  ++at_;
  Token token = make(Token::Kind::string, begin);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

Token Lexer::scan_punctuation() {
  const char* begin = at_++;
  if (at_ != end_) {
    const std::string_view two(begin, 2);
    for (std::string_view symbol : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "@@"})
      if (two == symbol) {
        ++at_;
        return make(Token::Kind::punctuation, begin);
      }
  }
  if (std::strchr("{}[]()<>,;:=+-*/%&|^~!?@#.", *begin) != nullptr && *begin != '\0')
    return make(Token::Kind::punctuation, begin);
  return invalid(begin, "a character that PTX does not have");
}

Token Lexer::make(Token::Kind kind, const char* begin) const {
  Token token;
  token.kind = kind;
  token.text = {begin, static_cast<std::size_t>(at_ - begin)};
  token.where = location(begin);
  return token;
}

Token Lexer::invalid(const char* begin, const char* problem) const {
  Token token = make(Token::Kind::invalid, begin);
  token.problem = problem;
  return token;
}

Location Lexer::location(const char* at) const { return {line_, static_cast<std::uint32_t>(at - line_begin_) + 1}; }

std::string describe(const Token& token) {
  constexpr std::size_t kLongest = 60;
  switch (token.kind) {
    case Token::Kind::end: return "the end of the text";
    case Token::Kind::string: return "a string";
    default: break;
  }
  std::string text = "'";
  for (char c : token.text.substr(0, kLongest)) {
    if (c >= 0x20 && c < 0x7f) {
      text += c;
    } else {
      constexpr char kHexDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      text += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  if (token.text.size() > kLongest) text += "…";
  return text + "'";
}

}  // namespace softgpu::ptx
