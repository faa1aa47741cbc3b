#include <cuprum/texture/enums.hpp>
#include <iterator>
#include <ostream>

namespace cuprum::inline CUPRUM_ABI::texture {
namespace {

template <typename Enumeration, std::size_t Count>
std::ostream& print(std::ostream& out, Enumeration value, const char* const (&names)[Count]) {
  const auto index = static_cast<std::size_t>(value);
  return index < Count ? out << names[index] : out << "an unknown value (" << index << ")";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, ArrayFormatType format) {
  return print(out, format, {"uint8", "uint16", "uint32", "int8", "int16", "int32", "float16", "float32"});
}

std::ostream& operator<<(std::ostream& out, AddressModeType mode) {
  return print(out, mode, {"wrap", "clamp", "mirror", "border"});
}

std::ostream& operator<<(std::ostream& out, FilterModeType mode) { return print(out, mode, {"point", "linear"}); }

std::ostream& operator<<(std::ostream& out, ReadModeType mode) {
  return print(out, mode, {"element_type", "normalized_float"});
}

std::ostream& operator<<(std::ostream& out, ResourceKind kind) {
  return print(out, kind, {"array", "mipmapped_array", "linear", "pitch2d"});
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
