// The symbols that generated code may refer to, besides the module's variables: nothing else of the process is ever
// picked up.
#pragma once

#include <string_view>

namespace softgpu::jit {

// Null when there is no such symbol.
void* find_symbol(std::string_view name);

}  // namespace softgpu::jit
