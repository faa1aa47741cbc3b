// printf() of device code: formatting from the packed argument buffer that vprintf gets.
#pragma once

#include <cstddef>
#include <string>

namespace softgpu::exec {

// Appends to `text` what CUDA prints. Arguments lie one after the other, each at its natural alignment: 4 bytes for
// int and smaller, 8 for double, long and pointers. Returns the number of arguments used, as device printf does.
int format_device_printf(std::string& text, const char* format, const std::byte* arguments);

}  // namespace softgpu::exec
