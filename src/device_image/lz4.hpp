// The LZ4 block format, which fatbins use; just the decoder.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace cuprum::device_image {

/// `decoded_bytes` is how long the result is. Empty when the input is damaged.
std::optional<std::string> lz4_decode(std::span<const std::byte> block, std::size_t decoded_bytes);

}  // namespace cuprum::device_image
