#include "softgpu/runtime/memory/peer_access.hpp"

#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

// The device whose memory it is; nothing if the context may use it, or it is nobody's.
std::optional<int> denying_device(const MemoryServices& services, const Context& context, const void* address) {
  const auto extent = services.allocations.extent(address);
  if (!extent || extent->kind != memory::Kind::device || extent->device == context.device().ordinal())
    return std::nullopt;
  const auto allocation = services.allocations.find(address);
  if (!allocation || may_use(services, context, *allocation)) return std::nullopt;
  return allocation->device;
}

class CheckedAccess final : public exec::MemoryAccess {
 public:
  CheckedAccess(const MemoryServices& services, std::shared_ptr<const Context> context)
      : services_(services), context_(std::move(context)) {}
  int owner_if_denied(const void* address) const noexcept override {
    try {
      return denying_device(services_, *context_, address).value_or(-1);
    } catch (const std::exception&) {
      return -1;  // freed meanwhile
    }
  }

 private:
  const MemoryServices& services_;
  const std::shared_ptr<const Context> context_;
};

}  // namespace

bool may_use(const MemoryServices& services, const Context& context, const memory::Allocation& allocation) {
  if (allocation.kind != memory::Kind::device || allocation.device == context.device().ordinal()) return true;
  const CUmemLocation location = location_of_device(context.device().ordinal());
  if (allocation.pool != nullptr)
    return static_cast<const MemoryPool&>(*allocation.pool).access(location) != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  if (allocation.freed_by == memory::FreedBy::unmapping)
    return services.mapping_access(allocation.base, location) != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return allocation.context == 0 || context.has_peer(allocation.context);
}

std::shared_ptr<const exec::MemoryAccess> access_to_check(const MemoryServices& services,
                                                          const std::shared_ptr<const Context>& context,
                                                          std::span<const std::byte> arguments) {
  if (services.devices.count() == 1) return nullptr;
  for (std::size_t offset = 0; offset + sizeof(void*) <= arguments.size(); offset += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, arguments.data() + offset, sizeof word);
    if (services.space.contains(word) && denying_device(services, *context, word))
      return std::make_shared<CheckedAccess>(services, context);
  }
  return nullptr;
}

}  // namespace softgpu::runtime
