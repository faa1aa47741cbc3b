#include "softgpu/ptx/scope.hpp"

#include <charconv>

namespace softgpu::ptx {

const RegisterRange* Scope::find_range(std::string_view name) const {
  for (const RegisterRange& range : ranges) {
    if (!name.starts_with(range.prefix)) continue;
    const std::string_view digits = name.substr(range.prefix.size());
    if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) continue;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size() && number < range.count) return &range;
  }
  return nullptr;
}

}  // namespace softgpu::ptx
