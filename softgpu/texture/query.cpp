#include <algorithm>

#include "softgpu/texture/texture.hpp"

namespace softgpu::texture {
namespace {

// PTX has these numbers from OpenCL. In the order of ChannelType.
constexpr std::array<std::uint32_t, 12> kChannelTypes = {0x10da, 0x10db, 0x10dc, 0x10d7, 0x10d8, 0x10d9,
                                                         0x10dd, 0x10de, 0x10d2, 0x10d3, 0x10d0, 0x10d1};

std::uint32_t channel_order(unsigned channels) { return channels == 1 ? 0x10b0 : channels == 2 ? 0x10b2 : 0x10b5; }

}  // namespace

std::uint32_t query(const Image& image, abi::ImageQuery query, std::uint32_t level_index) {
  const Level& level = image.levels[std::min(level_index, image.level_count - 1)];
  switch (query) {
    case abi::ImageQuery::width: return level.width;
    case abi::ImageQuery::height: return image.height != 0 ? level.height : 0;
    case abi::ImageQuery::depth: return image.depth != 0 ? level.slices : 0;
    case abi::ImageQuery::array_size: return image.layered ? image.layers() : 0;
    case abi::ImageQuery::mipmap_levels: return image.level_count;
    case abi::ImageQuery::samples: return 1;
    case abi::ImageQuery::channel_type: return kChannelTypes[static_cast<std::size_t>(image.format.type)];
    case abi::ImageQuery::channel_order: return channel_order(image.format.channels);
    case abi::ImageQuery::normalized_coordinates:  // the sampler's, see exec/texture_calls.cpp
    case abi::ImageQuery::memory_layout: return 0;
  }
  return 0;
}

}  // namespace softgpu::texture
