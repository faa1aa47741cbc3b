// Initial values: numbers, addresses, strings, nested braces.
#include <cstring>

#include "softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::uint64_t kLargestInitialised = std::uint64_t{64} << 20;

}  // namespace

// Fills a variable's bytes, row by row.
class InitializerReader {
 public:
  InitializerReader(Parser& parser, Variable& variable, const std::vector<std::uint64_t>& dimensions,
                    bool first_is_open)
      : reader_(parser.reader_),
        variable_(variable),
        dimensions_(dimensions),
        open_(first_is_open),
        element_((bits(variable.type) + 7) / 8) {}

  void read() {
    if (reader_.peek().kind == Token::Kind::string) return read_string();
    if (dimensions_.empty()) {
      const bool braced = reader_.accept("{");
      read_element(0);
      if (braced) reader_.expect("}", "behind the value");
    } else {
      if (!reader_.at("{")) reader_.fail_at_next("'{' before the values of an array");
      read_row(0, 0);
    }
    if (masked_bytes_ != 0)
      reader_.fail(masked_where_, "a masked address must be given byte by byte, from 0xFF to the highest byte",
                   Diagnostic::Cause::unsupported);
  }

  std::uint64_t rows() const { return rows_; }

 private:
  std::uint64_t stride(std::size_t dimension) const {
    std::uint64_t bytes = element_;
    for (std::size_t i = dimension + 1; i < dimensions_.size(); ++i) bytes *= dimensions_[i];
    return bytes;
  }

  void read_row(std::size_t dimension, std::uint64_t offset) {
    reader_.expect("{", "before the values");
    const std::uint64_t step = stride(dimension);
    const bool innermost = dimension + 1 == dimensions_.size();
    std::uint64_t index = 0;
    while (!reader_.at("}")) {
      const bool open = open_ && dimension == 0;
      if (!open && index >= dimensions_[dimension])
        reader_.fail(reader_.peek().where,
                     "too many initial values: this dimension has " + std::to_string(dimensions_[dimension]));
      const std::uint64_t at = offset + index * step;
      if (!innermost && reader_.at("{"))
        read_row(dimension + 1, at), ++index;
      else if (innermost)
        read_element(at), ++index;
      else
        index += read_flat(at, step, open ? ~std::uint64_t{0} : dimensions_[dimension] - index);
      if (dimension == 0) rows_ = index;
      if (!reader_.accept(",")) break;
    }
    reader_.expect("}", "behind the values");
  }

  // Values of an inner row written without its braces: as many as stand here. Returns the rows they fill.
  std::uint64_t read_flat(std::uint64_t offset, std::uint64_t row_bytes, std::uint64_t most_rows) {
    std::uint64_t count = 0;
    const std::uint64_t per_row = row_bytes / element_;
    for (;;) {
      if (per_row == 0 || count / per_row >= most_rows) reader_.fail(reader_.peek().where, "too many initial values");
      read_element(offset + count++ * element_);
      if (count % per_row == 0 || !reader_.at(",")) break;
      reader_.take();
      if (reader_.at("{")) break;
    }
    return (count + per_row - 1) / per_row;
  }

  void read_string() {
    const Token text = reader_.take();
    if (element_ != 1) reader_.fail(text.where, "a string needs a variable of 8-bit values");
    const std::uint64_t size = dimensions_.size() == 1 ? dimensions_[0] : 0;
    if (dimensions_.size() != 1 || (!open_ && text.text.size() > size))
      reader_.fail(text.where, "the string does not fit the variable");
    rows_ = open_ ? text.text.size() + 1 : size;
    ensure(rows_, text.where);
    std::memcpy(variable_.initial.data(), text.text.data(), text.text.size());
  }

  void read_element(std::uint64_t offset) {
    const Token& next = reader_.peek();
    if (next.kind == Token::Kind::identifier && next.text != "WARP_SZ") return read_address(offset);
    const Constant constant = read_constant(reader_);
    if (constant.is_integer() && reader_.at("(")) return read_masked(constant, offset);
    store(constant, offset);
  }

  void store(const Constant& constant, std::uint64_t offset) {
    Immediate value = constant.value;
    const Type type = variable_.type;
    if (is_float(type) && value.kind == Immediate::Kind::integer && (type == Type::f32 || type == Type::f64)) {
      const double number = constant.is_unsigned ? static_cast<double>(value.bits)
                                                 : static_cast<double>(static_cast<std::int64_t>(value.bits));
      value = {Immediate::Kind::double_bits, 0};
      std::memcpy(&value.bits, &number, sizeof number);
    }
    const std::optional<Immediate> converted = convert(value, type);
    if (!converted) reader_.fail(constant.where, "this value can't be a " + std::string(spelling(type)));
    ensure(offset + element_, constant.where);
    std::memcpy(variable_.initial.data() + offset, &converted->bits,
                std::min<std::size_t>(element_, sizeof converted->bits));
  }

  // name, name+8, generic(name), generic(name)+8
  void read_address(std::uint64_t offset) {
    const Location where = reader_.peek().where;
    if (element_ != 8 || is_float(variable_.type))
      reader_.fail(where, "an address needs a 64-bit integer, not a " + std::string(spelling(variable_.type)));
    Relocation relocation = read_symbol();
    relocation.offset = offset;
    ensure(offset + element_, where);
    variable_.relocations.push_back(std::move(relocation));
  }

  Relocation read_symbol() {
    Token name = reader_.expect_identifier("the name of a variable or function");
    const bool generic = name.text == "generic" && reader_.at("(");
    if (generic) {
      reader_.take();
      name = reader_.expect_identifier("the name of a variable");
    }
    Relocation relocation;
    relocation.target.name = name.text;
    read_addend(relocation);
    if (generic) {
      reader_.expect(")", "behind the name");
      read_addend(relocation);
    }
    return relocation;
  }

  void read_addend(Relocation& relocation) {
    while (reader_.at("+") || reader_.at("-")) {
      const bool minus = reader_.take().is("-");
      const Constant constant = read_constant(reader_);
      if (!constant.is_integer()) reader_.fail(constant.where, "an offset must be an integer");
      const auto value = static_cast<std::int64_t>(minus ? 0 - constant.value.bits : constant.value.bits);
      relocation.addend =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(relocation.addend) + static_cast<std::uint64_t>(value));
    }
  }

  // 0xFF(name), 0xFF00(name), … in eight bytes: one address.
  void read_masked(const Constant& mask, std::uint64_t offset) {
    reader_.take();
    Relocation relocation = read_symbol();
    reader_.expect(")", "behind the address");
    const bool in_order = element_ == 1 && mask.value.bits == std::uint64_t{0xff} << (8 * masked_bytes_) &&
                          (masked_bytes_ == 0 || (variable_.relocations.back().target.name == relocation.target.name &&
                                                  variable_.relocations.back().offset + masked_bytes_ == offset));
    if (!in_order)
      reader_.fail(mask.where, "a masked address must be given byte by byte, from 0xFF to the highest byte",
                   Diagnostic::Cause::unsupported);
    masked_where_ = mask.where;
    ensure(offset + 1, mask.where);
    if (masked_bytes_ == 0) {
      relocation.offset = offset;
      variable_.relocations.push_back(std::move(relocation));
    }
    masked_bytes_ = (masked_bytes_ + 1) % 8;
  }

  void ensure(std::uint64_t bytes, Location where) {
    if (bytes > kLargestInitialised) reader_.fail(where, "an initialised variable can have 64 MiB");
    if (variable_.initial.size() < bytes) variable_.initial.resize(bytes);
  }

  Reader& reader_;
  Variable& variable_;
  const std::vector<std::uint64_t>& dimensions_;
  bool open_;
  std::uint64_t element_;
  std::uint64_t rows_ = 0;
  std::uint64_t masked_bytes_ = 0;
  Location masked_where_;
};

void Parser::parse_initializer(Variable& variable, std::vector<std::uint64_t>& dimensions, bool first_is_open) {
  InitializerReader initializer(*this, variable, dimensions, first_is_open);
  initializer.read();
  if (first_is_open) dimensions.front() = initializer.rows();
  variable.size = (bits(variable.type) + 7) / 8;
  for (std::uint64_t dimension : dimensions) variable.size *= dimension;
  if (variable.size > kLargestInitialised) reader_.fail(variable.where, "an initialised variable can have 64 MiB");
  variable.initial.resize(variable.size);
}

}  // namespace softgpu::ptx
