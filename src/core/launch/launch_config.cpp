#include <cuprum/launch_config.hpp>
#include <ostream>

namespace cuprum::inline CUPRUM_ABI {
namespace {

template <typename T>
void mix(std::size_t& seed, const T& value) {
  seed ^= std::hash<T>()(value) + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Dim3& extents) {
  return out << '(' << extents.x << ", " << extents.y << ", " << extents.z << ')';
}

std::ostream& operator<<(std::ostream& out, const LaunchConfig& config) {
  out << "grid " << config.grid << ", block " << config.block;
  if (config.cluster) out << ", cluster " << *config.cluster;
  if (config.shmem_size != 0) out << ", " << config.shmem_size << " bytes of dynamic shared memory";
  if (config.is_cooperative) out << ", cooperative";
  if (config.programmatic_stream_serialization) out << ", programmatic stream serialization";
  if (config.priority) out << ", priority " << *config.priority;
  return out;
}

std::size_t detail::hash(const Dim3& extents) noexcept {
  std::size_t seed = 0;
  mix(seed, extents.x);
  mix(seed, extents.y);
  mix(seed, extents.z);
  return seed;
}

std::size_t detail::hash(const LaunchConfig& config) noexcept {
  std::size_t seed = 0;
  mix(seed, config.grid);
  mix(seed, config.block);
  mix(seed, config.cluster);
  mix(seed, config.shmem_size);
  mix(seed, config.is_cooperative);
  mix(seed, config.programmatic_stream_serialization);
  mix(seed, config.priority);
  return seed;
}

}  // namespace cuprum::inline CUPRUM_ABI
