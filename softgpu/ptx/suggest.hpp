// Near misses for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softgpu::ptx {

// The candidate that a typing error most likely was meant to be; empty when none is close.
std::string_view closest(std::string_view name, const std::vector<std::string_view>& candidates);

// "; did you mean 'x'?" or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace softgpu::ptx
