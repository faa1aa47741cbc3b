// What single copies and batches of them have in common.
#pragma once

#include <cuprum/copy_options.hpp>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/driver.hpp>
#include <cuprum/stream.hpp>
#include <string_view>

namespace cuprum::core {

/// Queues a copy. Unified addressing lets the driver tell host from device addresses, so one entry point serves all
/// directions.
void queue_copy(DevicePointer destination, DevicePointer source, std::size_t bytes, const Stream& stream);

/// The same with options, as far as the driver knows them.
void queue_copy(DevicePointer destination, DevicePointer source, std::size_t bytes, const Stream& stream,
                const CopyOptions& options);

CUmemcpyAttributes cu_attributes(const CopyOptions& options);

/// Throws InvalidArgument for streams on which the driver has no copies with attributes. `what` is what the user calls.
void check_takes_attributes(const Stream& stream, std::string_view what);

/// Throws NotSupported for options that an ordinary copy can't stand in for; `needed` is the CUDA version that could.
void check_ordinary_copy_will_do(const CopyOptions& options, std::string_view what, std::string_view needed);

}  // namespace cuprum::core
