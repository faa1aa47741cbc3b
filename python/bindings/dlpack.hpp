// DLPack between C++ and Python: capsules, and what callers of __dlpack__ ask for.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

struct DLPackRequest {
  bool is_versioned = false;
  DLPackExportOptions options;
};

/// (kind, number) of the device that a buffer is on. BufferError when neither a device nor the host can use it.
nb::tuple dlpack_device(const Buffer& buffer);

/// The arguments of __dlpack__ on an object of that device. BufferError for what can't be done.
DLPackRequest dlpack_request(const nb::tuple& device, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                             nb::handle copy);

nb::object dlpack_capsule(const Buffer& buffer, const DLPackRequest& request);

}  // namespace cuprum::python
