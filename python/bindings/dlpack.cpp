#include "bindings/dlpack.hpp"

#include <cuprum/dlpack.hpp>

namespace cuprum::python {
namespace {

// DLDeviceType of DLPack.
constexpr int on_cpu = 1;
constexpr int on_cuda = 2;
constexpr int on_cuda_host = 3;
constexpr int on_cuda_managed = 13;

/// The names that capsules have until somebody takes the tensor out.
constexpr const char* plain_name = "dltensor";
constexpr const char* versioned_name = "dltensor_versioned";

/// Gives back the tensor of a capsule that nobody took.
template <typename Tensor>
void end_capsule(PyObject* capsule, const char* name) noexcept {
  if (!PyCapsule_IsValid(capsule, name)) return;
  nb::error_scope error_of_the_caller;
  auto* tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, name));
  GilRelease released;
  DLPackDeleter{}(tensor);
}

void end_plain(PyObject* capsule) noexcept { end_capsule<DLManagedTensor>(capsule, plain_name); }
void end_versioned(PyObject* capsule) noexcept { end_capsule<DLManagedTensorVersioned>(capsule, versioned_name); }

template <typename Tensor>
nb::object new_capsule(Tensor tensor, const char* name, PyCapsule_Destructor destructor) {
  nb::object capsule = nb::steal(PyCapsule_New(tensor.get(), name, destructor));
  if (!capsule.is_valid()) throw nb::python_error();
  tensor.release();
  return capsule;
}

template <typename Exported>
nb::object export_capsule(const Exported& exported, const DLPackRequest& request) {
  if (request.is_versioned) {
    return new_capsule(without_gil([&] { return to_dlpack_versioned(exported, request.options); }), versioned_name,
                       &end_versioned);
  }
  return new_capsule(without_gil([&] { return to_dlpack(exported, request.options); }), plain_name, &end_plain);
}

nb::tuple device_tuple(bool is_device_accessible, bool is_host_accessible, bool is_managed, int device_id) {
  if (is_managed && is_device_accessible) return nb::make_tuple(on_cuda_managed, std::max(device_id, 0));
  if (is_device_accessible && is_host_accessible) return nb::make_tuple(on_cuda_host, 0);
  if (is_device_accessible) return nb::make_tuple(on_cuda, std::max(device_id, 0));
  if (is_host_accessible) return nb::make_tuple(on_cpu, 0);
  throw nb::buffer_error("buffer is neither device-accessible nor host-accessible");
}

std::intptr_t stream_number(const nb::tuple& device, nb::handle stream) {
  const int kind = nb::cast<int>(device[0]);
  const bool is_of_host = kind == on_cpu || kind == on_cuda_host;
  if (stream.is_none()) return is_of_host ? -1 : 1;  // DLPack: the legacy default stream
  nb::object number = nb::steal(PyNumber_Index(stream.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::type_error(("stream must be the number of a stream, or -1, not " + type_of(stream)).c_str());
  }
  const std::intptr_t value = PyLong_AsSsize_t(number.ptr());
  if (value == -1 && PyErr_Occurred()) refuse_number("stream", number);
  if (value < -1) throw nb::value_error(("stream can't be " + std::to_string(value) + ": only -1 is negative").c_str());
  if (is_of_host) return -1;  // the host needs no order
  if (value == 0) {
    throw nb::value_error(
        "stream=0 is ambiguous in DLPack: pass 1 for the legacy default stream, 2 for the per-thread default stream");
  }
  return value;
}

bool wants_version_1(nb::handle max_version) {
  if (max_version.is_none()) return false;
  if (!nb::isinstance<nb::tuple>(max_version) || nb::len(max_version) != 2) {
    throw nb::buffer_error(
        ("Expected max_version tuple[int, int], got " + nb::cast<std::string>(nb::repr(max_version))).c_str());
  }
  return value_from<int>(nb::object(max_version[0]), "the first number of max_version") >= 1;
}

/// The host may touch the memory as soon as it has it: it must not belong to an earlier buffer any more.
void wait_for_allocation(const Buffer& buffer) {
  if (buffer.is_host_accessible() && buffer.size() != 0) without_gil([&] { (void)buffer.as_span<std::byte>(); });
}

}  // namespace

nb::tuple dlpack_device(const Buffer& buffer) {
  const bool is_device_accessible = buffer.is_device_accessible();
  return device_tuple(is_device_accessible, buffer.is_host_accessible(), is_device_accessible && buffer.is_managed(),
                      buffer.device_id().value_or(0));
}

DLPackRequest dlpack_request(const nb::tuple& device, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                             nb::handle copy) {
  if (!dl_device.is_none() && !device.equal(dl_device))
    throw nb::buffer_error("dl_device other than None and the memory's own device is not supported");
  if (copy.is(Py_True)) throw nb::buffer_error("copy=True is not supported: copy the buffer, and export that");
  return {.is_versioned = wants_version_1(max_version), .options = {.stream = stream_number(device, stream)}};
}

nb::object dlpack_capsule(const Buffer& buffer, const DLPackRequest& request) {
  wait_for_allocation(buffer);
  return export_capsule(buffer, request);
}

}  // namespace cuprum::python
