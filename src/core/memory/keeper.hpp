#pragma once

#include <memory>

#include "core/memory/buffer_resource.hpp"

namespace cuprum::core {

/// What keeps the memory of a buffer for a graph. Null for memory that graphs allocate: that is theirs, and is freed
/// where the program says, which it would not be if it were kept.
std::shared_ptr<const void> memory_keeper(const detail::Kept<detail::BufferResource>& memory);

}  // namespace cuprum::core
