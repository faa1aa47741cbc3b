// Suffixes are numbered: modifiers first, then types, then vector widths.
#include <algorithm>
#include <array>

#include "softgpu/ptx/instruction_table.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::size_t kFirstType = 0
#define MODIFIER(identifier, spelling) +1
#include "softgpu/ptx/modifiers.def"
#undef MODIFIER
    ;
constexpr std::size_t kFirstWidth = kFirstType + static_cast<std::size_t>(Type::e5m2x2) + 1;
constexpr std::array<std::string_view, 3> kWidths = {".v2", ".v4", ".v8"};
static_assert(kFirstWidth + kWidths.size() <= kSuffixes);

}  // namespace

std::optional<Suffix> suffix_named(std::string_view name) {
  if (const auto modifier = modifier_named(name)) return static_cast<Suffix>(*modifier);
  if (const auto type = type_named(name)) return static_cast<Suffix>(kFirstType + static_cast<std::size_t>(*type));
  for (std::size_t i = 0; i < kWidths.size(); ++i)
    if (name == kWidths[i]) return static_cast<Suffix>(kFirstWidth + i);
  return std::nullopt;
}

std::string_view spelling_of_suffix(std::size_t suffix) {
  if (suffix < kFirstType) return spelling(static_cast<Modifier>(suffix));
  if (suffix < kFirstWidth) return spelling(static_cast<Type>(suffix - kFirstType));
  return kWidths[suffix - kFirstWidth];
}

bool is_type(Suffix suffix) { return suffix >= kFirstType && suffix < kFirstWidth; }

std::vector<std::string_view> all_suffixes() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kFirstWidth + kWidths.size(); ++i) names.push_back(spelling_of_suffix(i));
  for (Space space : {Space::const_, Space::global, Space::local, Space::param, Space::shared, Space::shared_cluster})
    names.push_back(spelling(space));
  return names;
}

void add_suffix(Instruction& instruction, Suffix suffix) {
  if (suffix < kFirstType)
    instruction.modifiers.push_back(static_cast<Modifier>(suffix));
  else if (suffix < kFirstWidth)
    instruction.types.push_back(static_cast<Type>(suffix - kFirstType));
  else
    instruction.vector_width = static_cast<std::uint8_t>(2u << (suffix - kFirstWidth));
}

std::string_view take_suffix(std::string_view& text) {
  const std::size_t end = std::min(text.find('.', 1), text.size());
  const std::string_view suffix = text.substr(0, end);
  text.remove_prefix(end);
  return suffix;
}

}  // namespace softgpu::ptx
