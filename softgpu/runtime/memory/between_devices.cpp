#include "softgpu/runtime/memory/between_devices.hpp"

#include <algorithm>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

// The context whose work may use the memory: that it was allocated in, or for stream-ordered memory the one that its
// device's work is usually in. Null when there is none.
std::shared_ptr<Context> context_of(const WorkServices& work, const memory::Allocation& allocation) {
  std::shared_ptr<Context> found;
  for (const auto& context : work.contexts.all()) {
    const bool is_home = allocation.context != 0
                             ? context->id() == allocation.context
                             : context->primary() && context->device().ordinal() == allocation.device;
    if (is_home) found = context;
  }
  return found;
}

void add_other(const MemoryServices& services, OtherDevices& others, const void* pointer, const Stream& stream) {
  const auto extent = services.allocations.extent(pointer, 1);
  const int own = stream.context().device().ordinal();
  if (!extent || extent->kind != memory::Kind::device || extent->device == own) return;
  const auto allocation = services.allocations.find(pointer);
  auto context = allocation ? context_of(services.work, *allocation) : nullptr;
  if (context != nullptr && std::find(others.begin(), others.end(), context) == others.end())
    others.push_back(std::move(context));
}

}  // namespace

OtherDevices wait_for_other_devices(const MemoryServices& services, Stream& stream, const Copy& copy) {
  OtherDevices others;
  if (stream.kind() != StreamKind::legacy) return others;
  add_other(services, others, copy.target, stream);
  add_other(services, others, copy.source, stream);
  OpRef before;
  for (const auto& other : others) {
    OpRef marker(new MarkerOp);
    other->legacy_stream().enqueue(*marker, before ? &*before : nullptr);
    before = std::move(marker);
  }
  if (before) {
    const OpRef join(new MarkerOp);
    stream.enqueue(*join, &*before);
  }
  return others;
}

void make_other_devices_wait(const OtherDevices& others, const Stream& stream) {
  for (const auto& other : others) {
    const OpRef copied = stream.tail();
    const OpRef marker(new MarkerOp);
    other->legacy_stream().enqueue(*marker, &*copied);
  }
}

}  // namespace softgpu::runtime
