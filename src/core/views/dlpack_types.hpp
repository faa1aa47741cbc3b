// DLPack's devices and types, and ours.
#pragma once

#include <dlpack/dlpack.h>

#include <cuprum/strided_memory_view.hpp>

#if DLPACK_MAJOR_VERSION != 1 || DLPACK_MINOR_VERSION < 1
  #error "libcuprum is built with DLPack 1.1 or a later 1.x"
#endif

namespace cuprum::core {

struct DeviceKind {
  DLDeviceType type;
  MemoryKind kind;
};

inline constexpr DeviceKind device_kinds[] = {
    {kDLCPU, MemoryKind::host},
    {kDLCUDA, MemoryKind::device},
    {kDLCUDAHost, MemoryKind::pinned},
    {kDLCUDAManaged, MemoryKind::managed},
};

/// All but memory of one device have the number 0.
inline DLDevice to_dl_device(const StridedMemoryView& view) {
  for (const DeviceKind& row : device_kinds)
    if (row.kind == view.memory_kind())
      return {row.type, view.memory_kind() == MemoryKind::device ? view.device_id().value_or(0) : 0};
  return {kDLCPU, 0};
}

inline DLDataType to_dl_type(const DataType& type) {
  return {static_cast<std::uint8_t>(type.code), type.bits, type.lanes};
}

inline DataType from_dl_type(const DLDataType& type) {
  return {static_cast<DataTypeCode>(type.code), type.bits, type.lanes};
}

}  // namespace cuprum::core
