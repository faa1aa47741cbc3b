#include "softgpu/runtime/code/link_state.hpp"

#include <algorithm>
#include <utility>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/link_input.hpp"

namespace softgpu::runtime {

LinkState::LinkState(JitOptions options, unsigned compute_capability)
    : options_(std::move(options)), compute_capability_(compute_capability), builder_(compute_capability) {}

void LinkState::add(CUjitInputType type, const void* data, std::size_t size, const char* name) {
  const std::scoped_lock lock(mutex_);
  options_.report([&] {
    require(type >= 0 && type < CU_JIT_NUM_INPUT_TYPES, CUDA_ERROR_INVALID_VALUE, "no such type of input");
    require(data != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE, "an empty input");
    require(!finished_, CUDA_ERROR_INVALID_VALUE, "the link is complete");
    require(type != CU_JIT_INPUT_NVVM, CUDA_ERROR_NOT_SUPPORTED,
            "softgpu does not link LTO-IR: let nvJitLink make PTX of it (-lto -ptx)");
    ++inputs_;
    LinkInput input = read_link_input(
        data, size, name != nullptr && *name != '\0' ? name : "input " + std::to_string(inputs_), compute_capability_);
    if (input.is_archive) return keep_archive(std::move(input));
    for (PtxPart& part : input.parts) builder_.add(std::move(part));
  });
}

// Which members take part is decided in the end, when it is known what is missing.
void LinkState::keep_archive(LinkInput archive) {
  const auto leave_out = [&](const std::string& member, const std::string& reason) {
    options_.inform("info    : '" + member + "' is left out: " + reason);
  };
  for (PtxPart& part : archive.parts) {
    try {
      ptx::Module module = builder_.parse(part);
      archived_.push_back({std::move(module), std::move(part)});
    } catch (const Failure& failure) {
      leave_out(part.name, failure.what());
    }
  }
  for (const std::string& member : archive.without_ptx) leave_out(member, "it has no PTX that softgpu could run");
}

// What one member brings in may need another, before or behind it.
void LinkState::add_wanted_members() {
  const auto is_wanted = [&](const Member& member) { return builder_.wants(member.module); };
  for (auto next = std::find_if(archived_.begin(), archived_.end(), is_wanted); next != archived_.end();
       next = std::find_if(archived_.begin(), archived_.end(), is_wanted)) {
    builder_.add(std::move(next->module), std::move(next->part));
    archived_.erase(next);
  }
}

const std::string& LinkState::complete() {
  const std::scoped_lock lock(mutex_);
  if (!image_.empty()) return image_;
  options_.report([&] {
    require(!finished_, CUDA_ERROR_INVALID_VALUE, "the link has failed");
    require(inputs_ != 0, CUDA_ERROR_INVALID_VALUE, "nothing was added to link");
    add_wanted_members();
    require(!builder_.parts().empty(), CUDA_ERROR_INVALID_VALUE, "nothing was added to link but archives");
    finished_ = true;
    const std::vector<PtxPart> parts = builder_.parts();
    const auto program = std::move(builder_).finish(ProgramUse::link);
    if (options_.verbose()) options_.inform(resource_usage(*program));
    image_ = image_of(parts, program->module().compute_capability);
  });
  return image_;
}

}  // namespace softgpu::runtime
