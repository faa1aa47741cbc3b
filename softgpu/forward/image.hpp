// Images that carry the PTX of their machine code: fatbins, which softgpu and NVIDIA's driver both take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device_image/fatbin.hpp"

namespace softgpu::forward {

/// A fatbin of the machine code and of all PTX modules that it was made from; the machine code alone when there are
/// none, or when it isn't what it should be.
std::string with_ptx(std::string cubin, const std::vector<std::string>& ptx);

/// The machine code in an image of with_ptx(), for the linker, which wants it bare; anything else as it is.
std::string_view bare_cubin(std::string_view image);

/// The PTX that a cubin was made from, a module each, where it was compiled with line numbers: ptxas keeps the text for
/// debuggers then.
std::vector<std::string> kept_ptx(std::string_view cubin);

/// The module with `.maxnreg limit` for each kernel that sets no limit itself, as ptxas does with its option.
std::string with_register_limit(std::string ptx, unsigned limit);

/// What an input of a link is made of.
struct Parts {
  std::vector<std::string> ptx;
  bool has_ltoir = false;
  bool is_complete = true;  ///< false when some of the code is there as machine code alone
};

/// Takes apart PTX, cubins, LTO-IR, fatbins, host objects and archives. Of a fatbin that has PTX for several
/// architectures, the newest that a device of `architecture` can take. Never throws for what it doesn't understand.
Parts parts_of(std::string_view input, unsigned architecture);

}  // namespace softgpu::forward
