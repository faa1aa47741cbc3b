// Linking.
#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/code/link_state.hpp"
#include "softgpu/runtime/code/program.hpp"

namespace softgpu::api {
namespace {

using runtime::JitOptions;
using runtime::LinkState;

std::shared_ptr<LinkState> find_link(CUlinkState state) {
  return find(Driver::get().code().links, state, "not a link");
}

// For its checks: what they say is advice to a compiler for GPUs.
void check_input_options(unsigned count, CUjit_option* options, void** values) {
  JitOptions(count, options, values, JitOptions::Use::link_input);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return call_in_context(__func__, [&](const Context& context) {
    require_pointer(state);
    auto link = std::make_shared<LinkState>(JitOptions(count, options, values, JitOptions::Use::link),
                                            context.device().compute_capability());
    *state = Driver::get().code().links.add(std::move(link));
  });
}
CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return cuLinkCreate_v2(count, options, values, state);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned count, CUjit_option* options, void** values) {
  return call_in_context(__func__, [&](Context&) {
    check_input_options(count, options, values);
    find_link(state)->add(type, data, size, name);
  });
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                       unsigned count, CUjit_option* options, void** values) {
  return cuLinkAddData_v2(state, type, data, size, name, count, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                          CUjit_option* options, void** values) {
  return call_in_context(__func__, [&](Context&) {
    check_input_options(count, options, values);
    const std::string image = runtime::read_image_file(path);
    find_link(state)->add(type, image.data(), image.size(), path);
  });
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
                       void** values) {
  return cuLinkAddFile_v2(state, type, path, count, options, values);
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(image);
    const std::string& linked = find_link(state)->complete();
    *image = const_cast<char*>(linked.data());
    if (size != nullptr) *size = linked.size();
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return call(__func__, [&] {
    require(Driver::get().code().links.remove(state) != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a link");
  });
}

}  // extern "C"
