#include "softgpu/jit/compiled_kernel.hpp"

#include <cstring>
#include <utility>

namespace softgpu::jit {
namespace {

struct Facts {
  std::uint32_t width;
  std::uint16_t suspends, finds_addresses;
  std::uint64_t stack_bytes;
};

}  // namespace

std::string to_bytes(const CompiledKernel& kernel) {
  const Facts facts{kernel.width, kernel.suspends, kernel.finds_addresses, kernel.stack_bytes};
  std::string bytes(sizeof facts, '\0');
  std::memcpy(bytes.data(), &facts, sizeof facts);
  return bytes + kernel.object;
}

std::optional<CompiledKernel> from_bytes(std::string bytes) {
  Facts facts;
  if (bytes.size() <= sizeof facts) return std::nullopt;
  std::memcpy(&facts, bytes.data(), sizeof facts);
  bytes.erase(0, sizeof facts);
  return CompiledKernel{facts.width, facts.suspends != 0, facts.finds_addresses != 0, facts.stack_bytes,
                        std::move(bytes)};
}

}  // namespace softgpu::jit
