#include "softgpu/ptx/constant.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace softgpu::ptx {
namespace {

constexpr int kDeepestNesting = 100;

struct Operands {
  std::uint64_t a, b;
  bool is_unsigned;  // one of them is

  bool less() const { return is_unsigned ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b); }
};

std::uint64_t quotient(const Operands& o) {
  if (o.is_unsigned) return o.a / o.b;
  if (o.b == ~std::uint64_t{0}) return 0 - o.a;  // the one signed division that could overflow
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(o.a) / static_cast<std::int64_t>(o.b));
}

std::uint64_t shifted_right(const Operands& o) {
  if (o.is_unsigned) return o.b > 63 ? 0 : o.a >> o.b;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(o.a) >> std::min<std::uint64_t>(o.b, 63));
}

// Whether the result is unsigned: when one of the operands is, when the left one is, never.
enum class Sign : std::uint8_t { of_both, of_left, signed_always };

struct BinaryOperator {
  std::string_view symbol;
  int precedence;
  Sign sign;
  std::uint64_t (*compute)(const Operands&);
};

constexpr std::array<BinaryOperator, 18> kBinaryOperators = {{
    {"||", 1, Sign::signed_always, [](const Operands& o) { return std::uint64_t{o.a != 0 || o.b != 0}; }},
    {"&&", 2, Sign::signed_always, [](const Operands& o) { return std::uint64_t{o.a != 0 && o.b != 0}; }},
    {"|", 3, Sign::of_both, [](const Operands& o) { return o.a | o.b; }},
    {"^", 4, Sign::of_both, [](const Operands& o) { return o.a ^ o.b; }},
    {"&", 5, Sign::of_both, [](const Operands& o) { return o.a & o.b; }},
    {"==", 6, Sign::signed_always, [](const Operands& o) { return std::uint64_t{o.a == o.b}; }},
    {"!=", 6, Sign::signed_always, [](const Operands& o) { return std::uint64_t{o.a != o.b}; }},
    {"<", 7, Sign::signed_always, [](const Operands& o) { return std::uint64_t{o.less()}; }},
    {"<=", 7, Sign::signed_always, [](const Operands& o) { return std::uint64_t{o.less() || o.a == o.b}; }},
    {">", 7, Sign::signed_always, [](const Operands& o) { return std::uint64_t{!o.less() && o.a != o.b}; }},
    {">=", 7, Sign::signed_always, [](const Operands& o) { return std::uint64_t{!o.less()}; }},
    {"<<", 8, Sign::of_left, [](const Operands& o) { return o.b > 63 ? 0 : o.a << o.b; }},
    {">>", 8, Sign::of_left, shifted_right},
    {"+", 9, Sign::of_both, [](const Operands& o) { return o.a + o.b; }},
    {"-", 9, Sign::of_both, [](const Operands& o) { return o.a - o.b; }},
    {"*", 10, Sign::of_both, [](const Operands& o) { return o.a * o.b; }},
    {"/", 10, Sign::of_both, quotient},
    {"%", 10, Sign::of_both, [](const Operands& o) { return o.a - quotient(o) * o.b; }},
}};

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
      if (right.value.bits == 0 && (symbol.is("/") || symbol.is("%")))
        reader_.fail(symbol.where, "division by zero in a constant expression");
      left = apply(*found, left, right);
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

  static Constant apply(const BinaryOperator& binary, Constant left, const Constant& right) {
    const bool either = left.is_unsigned || right.is_unsigned;
    const bool is_unsigned = binary.sign == Sign::of_left ? left.is_unsigned : either;
    left.value.bits = binary.compute({left.value.bits, right.value.bits, is_unsigned});
    left.is_unsigned = binary.sign != Sign::signed_always && is_unsigned;
    return left;
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
