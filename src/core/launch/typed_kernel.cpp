#include <cuprum/typed_kernel.hpp>

#include "core/base/closable.hpp"
#include "core/launch/launch_checks.hpp"

namespace cuprum::inline CUPRUM_ABI {

void detail::check_signature(const Kernel& kernel, const ArgumentSize* sizes, std::size_t count) {
  core::check_arguments(*Access::keep(kernel), "naming the parameters of", sizes, count);
}

}  // namespace cuprum::inline CUPRUM_ABI
