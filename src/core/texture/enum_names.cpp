#include <cuprum/texture/enums.hpp>
#include <ostream>

#include "support/enumeration.hpp"

namespace cuprum::inline CUPRUM_ABI::texture {

using support::print_word;

std::ostream& operator<<(std::ostream& out, ArrayFormatType format) {
  return print_word(out, {"uint8", "uint16", "uint32", "int8", "int16", "int32", "float16", "float32"}, format);
}

std::ostream& operator<<(std::ostream& out, AddressModeType mode) {
  return print_word(out, {"wrap", "clamp", "mirror", "border"}, mode);
}

std::ostream& operator<<(std::ostream& out, FilterModeType mode) { return print_word(out, {"point", "linear"}, mode); }

std::ostream& operator<<(std::ostream& out, ReadModeType mode) {
  return print_word(out, {"element_type", "normalized_float"}, mode);
}

std::ostream& operator<<(std::ostream& out, ResourceKind kind) {
  return print_word(out, {"array", "mipmapped_array", "linear", "pitch2d"}, kind);
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
