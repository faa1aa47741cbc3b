#include <cuprum/version.hpp>

namespace cuprum::inline CUPRUM_ABI {

const char* version() noexcept { return CUPRUM_VERSION; }

}  // namespace cuprum::inline CUPRUM_ABI
