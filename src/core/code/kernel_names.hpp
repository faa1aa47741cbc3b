// The names of the kernels in a library, and what is said when one is not among them.
#pragma once

#include <cuprum/driver.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

/// Name expressions for the symbols that have one, the symbols themselves for the rest.
std::vector<std::string> kernel_names(CUlibrary library, const detail::Code& code);

[[noreturn]] void refuse_unknown_kernel(std::string_view name, CUlibrary library, const detail::Code& code);

}  // namespace cuprum::core
