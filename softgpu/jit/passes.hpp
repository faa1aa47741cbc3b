// The names of the compiler's passes, for those who ask for one.
#pragma once

#include <string>
#include <string_view>

namespace softgpu::jit {

bool is_pass(std::string_view name);
std::string names_of_passes();  // with commas between them

}  // namespace softgpu::jit
