#include "softgpu/runtime/link.hpp"

#include <utility>

#include "softgpu/runtime/error.hpp"

namespace softgpu::runtime {
namespace {

// Parts without a name of their own are numbered.
std::string name_of_part(const std::string& input, const PtxPart& part, std::size_t index, std::size_t count) {
  if (count == 1) return input;
  return input + ":" + (part.name.empty() ? std::to_string(index + 1) : part.name);
}

}  // namespace

Link::Link(JitOptions options, unsigned compute_capability)
    : options_(std::move(options)), compute_capability_(compute_capability), builder_(compute_capability) {}

void Link::add(CUjitInputType type, const void* data, std::size_t size, const char* name) {
  const std::scoped_lock lock(mutex_);
  options_.report([&] {
    require(type >= 0 && type < CU_JIT_NUM_INPUT_TYPES, CUDA_ERROR_INVALID_VALUE, "no such type of input");
    require(data != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE, "an empty input");
    require(image_.empty(), CUDA_ERROR_INVALID_VALUE, "the link is complete");
    require(type != CU_JIT_INPUT_NVVM, CUDA_ERROR_NOT_SUPPORTED,
            "softgpu does not link LTO-IR: let nvJitLink make PTX of it (-lto -ptx)");
    const std::string input = name != nullptr && *name != '\0' ? name : "input " + std::to_string(inputs_ + 1);
    std::vector<PtxPart> parts = ptx_of(data, size, compute_capability_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].name = name_of_part(input, parts[i], i, parts.size());
      builder_.add(std::move(parts[i]));
    }
    ++inputs_;
  });
}

const std::string& Link::complete() {
  const std::scoped_lock lock(mutex_);
  if (!image_.empty()) return image_;
  options_.report([&] {
    require(!builder_.parts().empty(), CUDA_ERROR_INVALID_VALUE, "nothing was added to link");
    const std::vector<PtxPart> parts = builder_.parts();
    const auto program = std::move(builder_).finish(CUDA_ERROR_INVALID_SOURCE);
    if (options_.verbose()) options_.inform(resource_usage(*program));
    image_ = image_of(parts, program->module().compute_capability);
  });
  return image_;
}

}  // namespace softgpu::runtime
