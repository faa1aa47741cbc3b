// Memory, processes and how busy a device is: see <cuprum/system.hpp>.
#pragma once

#include <cuprum/detail/export.hpp>
#include <optional>

namespace cuprum::inline CUPRUM_ABI::system {

/// A device's memory, in bytes.
struct MemoryInfo {
  unsigned long long free = 0;      ///< what can be allocated
  unsigned long long total = 0;     ///< all there is
  unsigned long long used = 0;      ///< what is allocated
  unsigned long long reserved = 0;  ///< what the driver keeps for itself
};

/// The window through which the host and other devices reach a device's memory, in bytes.
struct BAR1MemoryInfo {
  unsigned long long free = 0;   ///< what is not mapped
  unsigned long long total = 0;  ///< its size
  unsigned long long used = 0;   ///< what is mapped
};

/// How busy a device was in the last sample period, in percent.
struct Utilization {
  unsigned gpu = 0;     ///< of the time in which kernels ran
  unsigned memory = 0;  ///< of the time in which the device's memory was read or written
};

/// A process that uses a device.
struct ProcessInfo {
  unsigned pid = 0;                                   ///< its number
  std::optional<unsigned long long> used_gpu_memory;  ///< in bytes; empty when it is not known
  std::optional<unsigned> gpu_instance_id;            ///< of a GPU that is divided (MIG)
  std::optional<unsigned> compute_instance_id;        ///< the same, of the part of that
};

/// What a device, or a part of one, is made of.
struct DeviceAttributes {
  unsigned multiprocessor_count = 0;          ///< multiprocessors
  unsigned shared_copy_engine_count = 0;      ///< engines that copy
  unsigned shared_decoder_count = 0;          ///< decoders of video
  unsigned shared_encoder_count = 0;          ///< encoders of video
  unsigned shared_jpeg_count = 0;             ///< decoders of pictures
  unsigned shared_ofa_count = 0;              ///< engines for optical flow
  unsigned gpu_instance_slice_count = 0;      ///< slices of a GPU instance
  unsigned compute_instance_slice_count = 0;  ///< slices of a compute instance
  unsigned long long memory_size_mb = 0;      ///< memory, in MiB
};

}  // namespace cuprum::inline CUPRUM_ABI::system
