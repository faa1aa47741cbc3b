#include "core/code/captured_kernels.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace cuprum::core {
namespace {

struct CapturedKernels {
  std::mutex mutex;
  std::unordered_map<CUfunction, std::weak_ptr<detail::KernelResource>> kernels;
  std::size_t sweep_at = 64;  ///< entries: those of kernels that are gone are removed then
};

CapturedKernels& captured_kernels() {
  static auto* const captured = new CapturedKernels;  // graphs may be read until the end of the process
  return *captured;
}

}  // namespace

void note_captured_kernel(CUfunction function, const std::shared_ptr<detail::KernelResource>& kernel) {
  CapturedKernels& captured = captured_kernels();
  const std::scoped_lock lock(captured.mutex);
  captured.kernels[function] = kernel;
  if (captured.kernels.size() < captured.sweep_at) return;
  std::erase_if(captured.kernels, [](const auto& entry) { return entry.second.expired(); });
  captured.sweep_at = std::max<std::size_t>(64, 2 * captured.kernels.size());
}

std::shared_ptr<detail::KernelResource> captured_kernel(CUfunction function) {
  CapturedKernels& captured = captured_kernels();
  const std::scoped_lock lock(captured.mutex);
  const auto found = captured.kernels.find(function);
  return found == captured.kernels.end() ? nullptr : found->second.lock();
}

}  // namespace cuprum::core
