#include "softgpu/api/base/entry_point_table.hpp"

#include "softgpu/api/base/headers.hpp"

namespace softgpu::api {
namespace {

// The typedef ties a form to its version; the compiler sees that both have the same type.
template <typename Pointer>
EntryPoint entry(std::string_view name, int version, bool per_thread, Pointer function) {
  return {name, version, per_thread, reinterpret_cast<void*>(function)};
}

}  // namespace

std::span<const EntryPoint> entry_points() {
  static const EntryPoint table[] = {
#include "softgpu/api/base/entry_points.inc"
  };
  return table;
}

}  // namespace softgpu::api
