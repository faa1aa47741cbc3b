// The library's own way of making views.
#pragma once

#include <cuprum/strided_memory_view.hpp>

#include "core/memory/buffer_resource.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

struct ViewMaker {
  static const BufferResource& memory(const StridedMemoryView& view) { return *view.memory_; }

  /// A view of memory about which everything is known; `origin` is where in the buffer, in bytes, the layout's offsets
  /// count from.
  static StridedMemoryView make(const Buffer& buffer, std::int64_t origin, const StridedLayout& layout,
                                const std::optional<DataType>& dtype, MemoryKind kind, std::optional<int> device_id,
                                bool is_readonly, bool is_copied) {
    StridedMemoryView view(buffer, origin, layout);
    view.dtype_ = dtype;
    view.kind_ = kind;
    view.device_id_ = device_id;
    view.is_readonly_ = is_readonly;
    view.is_copied_ = is_copied;
    view.check_fits();
    return view;
  }
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
