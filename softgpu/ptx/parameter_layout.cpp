#include "softgpu/ptx/parameter_layout.hpp"

namespace softgpu::ptx {

std::uint64_t parameter_base(unsigned compute_capability) {
  if (compute_capability >= 100) return 0x380;
  return compute_capability >= 90 ? 0x210 : 0x160;
}

bool lay_out_parameters(Function& kernel, std::uint64_t base) {
  bool is_same = true;
  std::uint64_t place = base;
  for (Parameter& parameter : kernel.parameters) {
    place = (place + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    is_same = is_same && parameter.offset == place - base;
    parameter.offset = place - base;
    place += parameter.size;
  }
  kernel.parameter_bytes = place - base;
  return is_same;
}

}  // namespace softgpu::ptx
