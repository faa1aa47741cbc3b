// What single buffers of managed memory and batches of them have in common.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/memory_batches.hpp>
#include <cuprum/stream.hpp>
#include <string_view>

namespace cuprum::core {

/// Throws InvalidArgument unless the buffer is managed. `what` is what the user calls.
void require_managed(const Buffer& buffer, std::string_view what);

/// These check nothing.
void prefetch(const Buffer& buffer, const Location& location, const Stream& stream);
void discard(const BufferBatch& buffers, const Stream& stream);
void discard_prefetch(const BufferBatch& buffers, const LocationBatch& locations, const Stream& stream);

}  // namespace cuprum::core
