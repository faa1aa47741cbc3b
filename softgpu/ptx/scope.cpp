#include "softgpu/ptx/scope.hpp"

#include <charconv>

namespace softgpu::ptx {
namespace {

// The number that "%r17" has in a range of the prefix "%r"; nothing for "%r017".
std::optional<std::uint64_t> number_in_range(std::string_view digits) {
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

const RegisterRange* Scope::find_range(std::string_view name) const {
  if (ranges.empty()) return nullptr;
  // "%a12" may be number 12 of "%a" or number 2 of "%a1".
  for (std::size_t prefix = name.size(); prefix > 1;) {
    const char last = name[--prefix];
    if (last < '0' || last > '9') return nullptr;
    const auto number = number_in_range(name.substr(prefix));
    if (!number) continue;
    const auto found = ranges.find(name.substr(0, prefix));
    if (found != ranges.end() && *number < found->second.count) return &found->second;
  }
  return nullptr;
}

}  // namespace softgpu::ptx
