// DLPack: handing arrays from one library to another without copying them (https://dmlc.github.io/dlpack).
//
//   // To another library: its stream waits for ours, and it keeps the memory until it calls the deleter.
//   DLPackTensorVersioned tensor = to_dlpack_versioned(view, {.stream = their_stream, .producer = stream});
//   their_import(tensor.release());
//
//   // From another library: the view owns what it gets.
//   StridedMemoryView view = from_dlpack(DLPackTensorVersioned(their_export()));
//
// Passing tensors through needs only this header; <dlpack/dlpack.h> is for those who look inside them.
#pragma once

#include <cstdint>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/strided_memory_view.hpp>
#include <memory>
#include <optional>

// As <dlpack/dlpack.h> declares them.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace cuprum::inline CUPRUM_ABI {

/// Gives a tensor back to the library that made it, by the deleter it came with, if it has one.
struct CUPRUM_API DLPackDeleter {
  /// For a tensor of DLPack before 1.0.
  void operator()(DLManagedTensor* tensor) const noexcept;
  /// For one of DLPack 1.0.
  void operator()(DLManagedTensorVersioned* tensor) const noexcept;
};

/// A tensor that is ours to give back.
using DLPackTensor = std::unique_ptr<DLManagedTensor, DLPackDeleter>;
/// The same of DLPack 1.0, which says its version and whether it is read-only.
using DLPackTensorVersioned = std::unique_ptr<DLManagedTensorVersioned, DLPackDeleter>;

/// A view of the tensor's memory, which is given back when the last view of it goes. Orders nothing: the exporting
/// library has made the stream that it was told wait for its work. Throws InvalidArgument, and gives the tensor back,
/// when its DLPack version, device, type or shape can't be understood.
CUPRUM_API StridedMemoryView from_dlpack(DLPackTensorVersioned tensor);
/// The same for an unversioned tensor, which is taken to be writable.
CUPRUM_API StridedMemoryView from_dlpack(DLPackTensor tensor);

/// Whose work the importing library is to wait for.
struct DLPackExportOptions {
  /// The stream on which the importing library will use the memory, as DLPack passes it: -1 no order is wanted, 1 the
  /// legacy default stream, 2 the per-thread default stream, else a CUstream. It is made to wait for `producer`.
  std::intptr_t stream = -1;

  /// The stream on which the contents are made; the one on which the memory was allocated when not given.
  std::optional<Stream> producer = {};
};

/// The view as a tensor, which keeps its memory alive until it is given back, from any thread. The view must have a
/// DataType. Its device is kDLCUDA, kDLCUDAHost, kDLCUDAManaged or kDLCPU, as the MemoryKind is. Does not block.
CUPRUM_API DLPackTensorVersioned to_dlpack_versioned(const StridedMemoryView& view,
                                                     const DLPackExportOptions& options = {});

/// The same for libraries that don't know DLPack 1.0. A read-only view is refused: this form can't say so.
CUPRUM_API DLPackTensor to_dlpack(const StridedMemoryView& view, const DLPackExportOptions& options = {});

/// A whole buffer, as an array of bytes (int8).
CUPRUM_API DLPackTensorVersioned to_dlpack_versioned(const Buffer& buffer, const DLPackExportOptions& options = {});
/// The same for libraries that don't know DLPack 1.0.
CUPRUM_API DLPackTensor to_dlpack(const Buffer& buffer, const DLPackExportOptions& options = {});

}  // namespace cuprum::inline CUPRUM_ABI
