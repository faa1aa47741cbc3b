// How a copy may be carried out; none of it changes what arrives.
#pragma once

#include <cuprum/location.hpp>
#include <optional>

namespace cuprum::inline CUPRUM_ABI {

/// When the source of a copy is read.
enum class MemcpySrcAccessOrder {
  stream,           ///< in stream order, after the work queued before
  during_api_call,  ///< before the call returns; no earlier work may be writing to it
  any,              ///< at any time until the copy is done; no earlier work may be writing to it
};

/// Whether a copy should run next to kernels.
enum class MemcpyOverlapMode {
  default_mode,                 ///< as the driver likes
  prefer_overlap_with_compute,  ///< rather than as fast as possible; the driver may ignore it
};

/// For Buffer::copy_to, Buffer::copy_from and copy_batch. The hints say where managed or pageable memory is expected to
/// be; for other memory they are ignored.
struct CopyOptions {
  MemcpySrcAccessOrder src_access_order = MemcpySrcAccessOrder::stream;  ///< when the source is read
  std::optional<Location> src_location_hint = {};                        ///< of the source; none: no hint
  std::optional<Location> dst_location_hint = {};                        ///< of the destination; none: no hint
  MemcpyOverlapMode overlap_mode = MemcpyOverlapMode::default_mode;      ///< how much it may disturb kernels

  bool operator==(const CopyOptions&) const = default;
};

}  // namespace cuprum::inline CUPRUM_ABI
