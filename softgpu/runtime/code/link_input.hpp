// What programs hand to cuLinkAddData: what can be loaded, and files of the host that carry fatbins.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "softgpu/runtime/code/device_code.hpp"

namespace softgpu::runtime {

struct LinkInput {
  std::vector<PtxPart> parts;
  // Of an archive, the parts that define what is missing take part, and no others.
  bool is_archive = false;
  // Members of an archive whose code is for GPUs alone. They matter only if something of theirs is missing.
  std::vector<std::string> without_ptx = {};
};

// The parts' names start with the input's. Throws Failure with a message for the error log.
LinkInput read_link_input(const void* data, std::size_t size, const std::string& name, unsigned compute_capability);

}  // namespace softgpu::runtime
