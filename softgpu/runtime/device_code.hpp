// What programs hand to cuModuleLoadData and cuLibraryLoadData: PTX text, or a fatbin that may hold PTX.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace softgpu::runtime {

inline constexpr std::size_t kUnknownSize = std::numeric_limits<std::size_t>::max();

// The PTX in the image that suits the compute capability best. `size` may be unknown: the image then ends where its
// headers or, for text, a null character say. Throws Failure with a message for the error log.
std::string ptx_of(const void* image, std::size_t size, unsigned compute_capability);

}  // namespace softgpu::runtime
