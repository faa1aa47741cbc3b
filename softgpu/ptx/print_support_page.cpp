// Prints the support page: ptx_support_page > docs/reference/ptx-support.md
#include <cstdio>

#include "softgpu/ptx/support_page.hpp"

int main() { std::fputs(softgpu::ptx::support_page().c_str(), stdout); }
