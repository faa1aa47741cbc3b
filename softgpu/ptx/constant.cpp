#include "softgpu/ptx/constant.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace softgpu::ptx {
namespace {

constexpr int kDeepestNesting = 100;

struct BinaryOperator {
  std::string_view symbol;
  int precedence;
};
constexpr std::array<BinaryOperator, 18> kBinaryOperators = {{{"||", 1},
                                                              {"&&", 2},
                                                              {"|", 3},
                                                              {"^", 4},
                                                              {"&", 5},
                                                              {"==", 6},
                                                              {"!=", 6},
                                                              {"<", 7},
                                                              {"<=", 7},
                                                              {">", 7},
                                                              {">=", 7},
                                                              {"<<", 8},
                                                              {">>", 8},
                                                              {"+", 9},
                                                              {"-", 9},
                                                              {"*", 10},
                                                              {"/", 10},
                                                              {"%", 10}}};

class ExpressionReader {
 public:
  explicit ExpressionReader(Reader& reader) : reader_(reader) {}

  Constant conditional() {
    enter();
    Constant value = binary(1);
    if (reader_.at("?")) {
      require_integer(value, reader_.take());
      const Constant yes = conditional();
      reader_.expect(":", "between the two values of '?'");
      const Constant no = conditional();
      value = value.value.bits != 0 ? yes : no;
    }
    --depth_;
    return value;
  }

 private:
  Constant binary(int lowest) {
    Constant left = unary();
    for (;;) {
      const BinaryOperator* found = nullptr;
      for (const BinaryOperator& candidate : kBinaryOperators)
        if (reader_.at(candidate.symbol) && candidate.precedence >= lowest) found = &candidate;
      if (!found) return left;
      const Token symbol = reader_.take();
      const Constant right = binary(found->precedence + 1);
      require_integer(left, symbol);
      require_integer(right, symbol);
      left = apply(symbol, left, right);
    }
  }

  void enter() {
    if (++depth_ > kDeepestNesting) reader_.fail(reader_.peek().where, "the expression is nested too deeply");
  }

  Constant unary() {
    enter();
    const Constant value = unary_or_literal();
    --depth_;
    return value;
  }

  Constant unary_or_literal() {
    const Token& next = reader_.peek();
    if (next.is("-") || next.is("+") || next.is("!") || next.is("~")) {
      const Token symbol = reader_.take();
      return negate(symbol, unary());
    }
    if (next.is("(")) return parenthesised();
    Constant constant;
    constant.where = next.where;
    switch (next.kind) {
      case Token::Kind::integer: constant.is_unsigned = next.is_unsigned; break;
      case Token::Kind::float_bits: constant.value.kind = Immediate::Kind::float_bits; break;
      case Token::Kind::double_bits: constant.value.kind = Immediate::Kind::double_bits; break;
      case Token::Kind::identifier:
        if (next.text == "WARP_SZ") {
          constant.value.bits = 32;
          reader_.take();
          return constant;
        }
        [[fallthrough]];
      default: reader_.fail_at_next("a constant");
    }
    constant.value.bits = next.bits;
    reader_.take();
    return constant;
  }

  // (expression), (.s64) expression, (.u64) expression.
  Constant parenthesised() {
    const Token open = reader_.take();
    for (const bool is_unsigned : {false, true}) {
      if (!reader_.accept_directive(is_unsigned ? ".u64" : ".s64")) continue;
      reader_.expect(")", "behind the type of a cast");
      Constant value = unary();
      require_integer(value, open);
      value.is_unsigned = is_unsigned;
      return value;
    }
    const Constant value = conditional();
    reader_.expect(")", "to close the expression");
    return value;
  }

  Constant negate(const Token& symbol, Constant value) {
    value.where = symbol.where;
    if (symbol.is("+")) return value;
    if (symbol.is("-") && !value.is_integer()) {
      value.value.bits ^=
          value.value.kind == Immediate::Kind::float_bits ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
      return value;
    }
    require_integer(value, symbol);
    std::uint64_t& bits = value.value.bits;
    bits = symbol.is("-") ? 0 - bits : symbol.is("~") ? ~bits : bits == 0 ? 1 : 0;
    return value;
  }

  Constant apply(const Token& symbol, const Constant& left, const Constant& right) {
    const std::uint64_t a = left.value.bits, b = right.value.bits;
    Constant result = left;
    result.is_unsigned = left.is_unsigned || right.is_unsigned;
    const bool less = result.is_unsigned ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    const auto truth = [&](bool value) {
      result.is_unsigned = false;
      return value ? std::uint64_t{1} : std::uint64_t{0};
    };
    const std::string_view op = symbol.text;
    std::uint64_t& bits = result.value.bits;
    if (op == "+")
      bits = a + b;
    else if (op == "-")
      bits = a - b;
    else if (op == "*")
      bits = a * b;
    else if (op == "/" || op == "%")
      bits = divide(symbol, a, b, result.is_unsigned);
    else if (op == "<<" || op == ">>")
      bits = shift(op, left, b), result.is_unsigned = left.is_unsigned;
    else if (op == "&")
      bits = a & b;
    else if (op == "|")
      bits = a | b;
    else if (op == "^")
      bits = a ^ b;
    else if (op == "&&")
      bits = truth(a != 0 && b != 0);
    else if (op == "||")
      bits = truth(a != 0 || b != 0);
    else if (op == "==")
      bits = truth(a == b);
    else if (op == "!=")
      bits = truth(a != b);
    else if (op == "<")
      bits = truth(less);
    else if (op == ">=")
      bits = truth(!less);
    else if (op == ">")
      bits = truth(!less && a != b);
    else
      bits = truth(less || a == b);
    return result;
  }

  std::uint64_t divide(const Token& symbol, std::uint64_t a, std::uint64_t b, bool is_unsigned) {
    if (b == 0) reader_.fail(symbol.where, "division by zero in a constant expression");
    const bool quotient = symbol.is("/");
    if (is_unsigned) return quotient ? a / b : a % b;
    if (b == ~std::uint64_t{0}) return quotient ? 0 - a : 0;  // the one signed division that would overflow
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(quotient ? x / y : x % y);
  }

  static std::uint64_t shift(std::string_view op, const Constant& value, std::uint64_t amount) {
    const std::uint64_t bits = value.value.bits;
    const bool negative = !value.is_unsigned && bits >> 63 != 0;
    if (op == "<<") return amount > 63 ? 0 : bits << amount;
    if (amount > 63) return negative ? ~std::uint64_t{0} : 0;
    return value.is_unsigned ? bits >> amount : static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> amount);
  }

  void require_integer(const Constant& value, const Token& symbol) {
    if (!value.is_integer()) reader_.fail(symbol.where, "'" + std::string(symbol.text) + "' needs integer constants");
  }

  Reader& reader_;
  int depth_ = 0;
};

double as_double(const Immediate& value) {
  switch (value.kind) {
    case Immediate::Kind::float_bits: return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
    case Immediate::Kind::double_bits: return std::bit_cast<double>(value.bits);
    case Immediate::Kind::integer: break;
  }
  return static_cast<double>(static_cast<std::int64_t>(value.bits));
}

}  // namespace

bool starts_constant(const Token& token) {
  switch (token.kind) {
    case Token::Kind::integer:
    case Token::Kind::float_bits:
    case Token::Kind::double_bits: return true;
    case Token::Kind::identifier: return token.text == "WARP_SZ";
    default: return token.is("-") || token.is("+") || token.is("(") || token.is("~");
  }
}

Constant read_constant(Reader& reader) { return ExpressionReader(reader).conditional(); }

std::uint64_t read_count(Reader& reader, std::string_view what, std::uint64_t most) {
  const Constant count = read_constant(reader);
  if (!count.is_integer()) reader.fail(count.where, std::string(what) + " must be an integer");
  const bool negative = !count.is_unsigned && count.value.bits >> 63 != 0;
  if (negative || count.value.bits > most)
    reader.fail(count.where, std::string(what) + " must be from 0 to " + std::to_string(most));
  return count.value.bits;
}

std::optional<Immediate> convert(const Immediate& value, Type type) {
  using Kind = Immediate::Kind;
  if (type == Type::f64 && value.kind == Kind::float_bits)
    return Immediate{Kind::double_bits, std::bit_cast<std::uint64_t>(as_double(value))};
  if (type == Type::f32 && value.kind == Kind::double_bits)
    return Immediate{Kind::float_bits, std::bit_cast<std::uint32_t>(static_cast<float>(as_double(value)))};
  if (type == Type::f32 || type == Type::f64) {
    if (value.kind == Kind::integer) return std::nullopt;
    return value;
  }
  if (value.kind == Kind::integer) {
    if (type == Type::f16 || type == Type::bf16) return std::nullopt;
    return value;
  }
  // The bits of a floating-point literal as those of an untyped value of its size.
  if (type == Type::b32 && value.kind == Kind::float_bits) return value;
  if (type == Type::b64 && value.kind == Kind::double_bits) return value;
  return std::nullopt;
}

}  // namespace softgpu::ptx
