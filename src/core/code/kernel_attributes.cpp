// What a kernel is on a device, and what of it can be set.
#include <cuprum/kernel.hpp>

#include "core/base/closable.hpp"
#include "core/code/kernel_resource.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::KernelResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

int kernel_attribute(const KernelResource& kernel, const Device& device, CUfunction_attribute which, const char* name) {
  int value = 0;
  ContextGuard guard(core::context_for(device.device_id()));
  driver::call<&Api::cuKernelGetAttribute>(Doing{[&] { return text("reading ", name, " of kernel ", kernel.name); }},
                                           &value, which, kernel.handle_in(guard.context()), device.device_id());
  return value;
}

struct Range {
  int least, most;
};

// Of the attributes whose range we know; the driver judges the others.
std::optional<Range> range_of(CUfunction_attribute which, const KernelResource& kernel, const Device& device) {
  if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return Range{-1, 100};
  if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return std::nullopt;
  const int own = kernel_attribute(kernel, device, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, "shared_size_bytes");
  const std::size_t all = core::device_facts(device.device_id()).max_shared_memory_per_block_optin;
  return Range{0, static_cast<int>(all) - own};
}

void set_kernel_attribute(KernelResource& kernel, const Device& device, CUfunction_attribute which, const char* name,
                          int value) {
  const auto range = range_of(which, kernel, device);
  if (range && (value < range->least || value > range->most)) {
    throw InvalidArgument(text("setting ", name, " of kernel ", kernel.name, " to ", value, ": it can be ",
                               range->least, " to ", range->most, " on device ", device.device_id()));
  }
  ContextGuard guard(core::context_for(device.device_id()));
  driver::call<&Api::cuKernelSetAttribute>(
      Doing{[&] { return text("setting ", name, " of kernel ", kernel.name, " to ", value); }}, which, value,
      kernel.handle_in(guard.context()), device.device_id());
  kernel.set_where_used(device.device_id(), which, value);
}

}  // namespace

#define CUPRUM_KERNEL_ATTRIBUTE(type, name, ATTRIBUTE)                                                       \
  type KernelAttributes::name() const {                                                                      \
    return static_cast<type>(                                                                                \
        kernel_attribute(core::kernel_asked_about(kernel_), device_, CU_FUNC_ATTRIBUTE_##ATTRIBUTE, #name)); \
  }
#define CUPRUM_SETTABLE_KERNEL_ATTRIBUTE(type, name, ATTRIBUTE)                                            \
  CUPRUM_KERNEL_ATTRIBUTE(type, name, ATTRIBUTE)                                                           \
  void KernelAttributes::set_##name(type value) const {                                                    \
    set_kernel_attribute(core::kernel_asked_about(kernel_), device_, CU_FUNC_ATTRIBUTE_##ATTRIBUTE, #name, \
                         int{value});                                                                      \
  }
#include <cuprum/detail/kernel_attributes.def>

}  // namespace cuprum::inline CUPRUM_ABI
