#include "softgpu/ptx/scope.hpp"

#include <charconv>

namespace softgpu::ptx {

bool RegisterRange::holds(std::string_view name) const {
  if (!name.starts_with(prefix)) return false;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return false;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number < count;
}

const RegisterRange* Scope::find_range(std::string_view name) const {
  for (const RegisterRange& range : ranges)
    if (range.holds(name)) return &range;
  return nullptr;
}

}  // namespace softgpu::ptx
