#include <cuprum/data_type.hpp>
#include <ostream>
#include <string_view>

namespace cuprum::inline CUPRUM_ABI {
namespace {

struct Name {
  std::string_view text;
  bool with_bits;
};

/// By code.
constexpr Name names[] = {
    {"int", true},
    {"uint", true},
    {"float", true},
    {"handle", true},
    {"bfloat", true},
    {"complex", true},
    {"bool", false},
    {"float8_e3m4", false},
    {"float8_e4m3", false},
    {"float8_e4m3b11fnuz", false},
    {"float8_e4m3fn", false},
    {"float8_e4m3fnuz", false},
    {"float8_e5m2", false},
    {"float8_e5m2fnuz", false},
    {"float8_e8m0fnu", false},
    {"float6_e2m3fn", false},
    {"float6_e3m2fn", false},
    {"float4_e2m1fn", false},
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const DataType& type) {
  const auto code = static_cast<std::size_t>(type.code);
  if (code < std::size(names)) {
    out << names[code].text;
    if (names[code].with_bits) out << int{type.bits};
  } else {
    out << "type " << code << " of " << int{type.bits} << " bits";
  }
  if (type.lanes != 1) out << 'x' << type.lanes;
  return out;
}

}  // namespace cuprum::inline CUPRUM_ABI
