// Memory of the host that Python objects export.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// The bytes of an object with the buffer protocol. They stay where they are as long as a copy of owner(), which may go
/// on any thread.
class HostBytes {
 public:
  /// Throws what the object raises.
  explicit HostBytes(nb::handle object, bool is_written = false);

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(view_->buf), static_cast<std::size_t>(view_->len)};
  }
  const std::shared_ptr<Py_buffer>& owner() const { return view_; }

 private:
  std::shared_ptr<Py_buffer> view_;
};

}  // namespace cuprum::python
