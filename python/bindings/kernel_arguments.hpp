// Python values as kernel arguments: where the bytes of each are.
#pragma once

#include <array>
#include <memory>

#include "bindings/common.hpp"

namespace cuprum::python {

/// The arguments of one launch. Integers take the width that the kernel declares; everything else has a width of its
/// own, which the launch compares with the declared one. Holds what the bytes belong to, so it must go while the GIL is
/// held.
class KernelArgumentList {
 public:
  /// Of `count` Python objects. Throws TypeError for what can't be passed, ValueError for an integer that does not fit.
  KernelArgumentList(const Kernel& kernel, PyObject* const* arguments, std::size_t count);
  ~KernelArgumentList();
  KernelArgumentList(const KernelArgumentList&) = delete;
  KernelArgumentList& operator=(const KernelArgumentList&) = delete;

  /// `buffers` are those among them that a graph is to keep.
  KernelArguments values(std::span<const Buffer> buffers = {}) const {
    return {{addresses_, count_}, {sizes_, count_}, buffers};
  }

 private:
  struct Value {
    alignas(16) std::byte bytes[16];
  };
  static constexpr std::size_t few = 24;

  void add(std::size_t index, nb::handle argument, std::optional<std::size_t> declared);
  template <typename T>
  void put(std::size_t index, const T& value);
  /// Whether its type is known to have the bytes inside, and then notes where.
  bool is_scalar(nb::handle argument);
  void put_inside(std::size_t index, nb::handle scalar);
  void put_integer(std::size_t index, nb::handle number, std::optional<std::size_t> declared);
  void put_float(std::size_t index, nb::handle number, std::optional<std::size_t> declared);
  void put_complex(std::size_t index, nb::handle number);
  void put_bytes_of(std::size_t index, nb::handle object);
  void put_tensor(std::size_t index, nb::handle object);
  void put_array(std::size_t index, nb::handle object);

  std::size_t count_;
  std::array<Value, few> few_values_;
  std::array<const void*, few> few_addresses_;
  std::array<std::size_t, few> few_sizes_;
  std::unique_ptr<Value[]> many_values_;
  std::unique_ptr<const void*[]> many_addresses_;
  std::unique_ptr<std::size_t[]> many_sizes_;
  Value* values_ = few_values_.data();
  const void** addresses_ = few_addresses_.data();
  std::size_t* sizes_ = few_sizes_.data();
  PyTypeObject* scalar_type_ = nullptr;  ///< of the latest argument that has its bytes inside, and where they are
  std::uint16_t scalar_offset_ = 0, scalar_size_ = 0;
  std::vector<Py_buffer> views_;
  std::vector<nb::object> objects_;
};

/// For a graph to keep: the Buffers among the arguments, and some that keep the views and arrays among them.
std::vector<Buffer> buffers_among(std::span<PyObject* const> arguments);

}  // namespace cuprum::python
