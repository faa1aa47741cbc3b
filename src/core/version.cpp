#include <cuprum/version.hpp>

namespace cuprum {

const char* version() noexcept { return CUPRUM_VERSION; }

}  // namespace cuprum
