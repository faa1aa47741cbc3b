// docs/reference/ptx-support.md, printed from the instruction table.
#pragma once

#include <string>

namespace softgpu::ptx {

std::string support_page();

}  // namespace softgpu::ptx
