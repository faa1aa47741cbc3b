// What programs hand to cuModuleLoadData and cuLibraryLoadData: PTX text, or a fatbin that may hold PTX.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace softgpu::runtime {

inline constexpr std::size_t kUnknownSize = std::numeric_limits<std::size_t>::max();

// A PTX module.
struct PtxPart {
  std::string name;  // for messages; may be empty
  std::string text;
};

// The PTX in the image that suits the compute capability best. It is several modules, which belong together and have to
// be linked, when a fatbin holds several for one architecture. `size` may be unknown: the image then ends where its
// headers or, for text, a null character say. Throws Failure with a message for the error log.
std::vector<PtxPart> ptx_of(const void* image, std::size_t size, unsigned compute_capability);

// An image that holds the modules, for ptx_of() of this or another process, on devices from this compute capability on.
std::string image_of(const std::vector<PtxPart>& parts, unsigned compute_capability);

}  // namespace softgpu::runtime
