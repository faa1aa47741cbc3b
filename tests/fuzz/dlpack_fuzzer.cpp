// Tensors as another library may hand them over, right or wrong: a view, or a refusal with a reason, and the tensor is
// given back once. The memory that it claims is never touched.
#include <dlpack/dlpack.h>

#include <cstring>
#include <cuprum/dlpack.hpp>
#include <cuprum/error.hpp>
#include <sstream>

#include "fuzz/target.hpp"

namespace {

using cuprum::tests::require;

constexpr int kDimensions = 8;

// The bytes of an input, in order.
struct Description {
  std::uint32_t major = DLPACK_MAJOR_VERSION, minor = 0;
  std::uint64_t flags = 0;
  std::int32_t device_type = kDLCPU, device_id = 0;
  std::uint8_t type_code = kDLFloat, type_bits = 32;
  std::uint16_t lanes = 1;
  std::int32_t ndim = 2;
  std::uint8_t has_shape = 1, has_strides = 1, is_versioned = 1, unused = 0;
  std::uint32_t padding = 0;
  std::uint64_t data = 0x10000, byte_offset = 0;
  std::int64_t shape[kDimensions] = {3, 4}, strides[kDimensions] = {4, 1};
};

std::string as_string(const Description& description) {
  return {reinterpret_cast<const char*>(&description), sizeof(description)};
}

int given_back = 0;

template <typename Tensor>
void give_back(Tensor* tensor) {
  ++given_back;
  delete tensor;
}

// The arrays have kDimensions elements; a tensor that says that it has more is one that lies.
DLTensor tensor_of(Description& description) {
  return {.data = reinterpret_cast<void*>(description.data),
          .device = {static_cast<DLDeviceType>(description.device_type), description.device_id},
          .ndim = description.ndim > kDimensions ? kDimensions : description.ndim,
          .dtype = {description.type_code, description.type_bits, description.lanes},
          .shape = description.has_shape ? description.shape : nullptr,
          .strides = description.has_strides ? description.strides : nullptr,
          .byte_offset = description.byte_offset};
}

cuprum::StridedMemoryView import(Description& description) {
  if (!description.is_versioned) {
    return cuprum::from_dlpack(
        cuprum::DLPackTensor(new DLManagedTensor{tensor_of(description), nullptr, give_back<DLManagedTensor>}));
  }
  return cuprum::from_dlpack(
      cuprum::DLPackTensorVersioned(new DLManagedTensorVersioned{{description.major, description.minor},
                                                                 nullptr,
                                                                 give_back<DLManagedTensorVersioned>,
                                                                 description.flags,
                                                                 tensor_of(description)}));
}

void look_at(const cuprum::StridedMemoryView& view) {
  std::ostringstream words;
  words << view;
  require(!words.str().empty(), "a view has words");
  require(view.layout().volume() >= 0, "a view has no negative number of elements");
  require(view.layout().ndim() <= kDimensions, "a view has the tensor's dimensions");
}

}  // namespace

std::vector<std::string> good_inputs() {
  Description negative{.has_strides = 1, .data = 0x100000};
  negative.strides[0] = -4;
  return {
      as_string({}),
      as_string({.device_type = kDLCUDA, .has_strides = 0}),
      as_string({.ndim = 0}),
      as_string({.is_versioned = 0}),
      as_string(negative),
      as_string({.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED, .type_code = kDLFloat4_e2m1fn, .type_bits = 4})};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Description description;
  std::memcpy(static_cast<void*>(&description), data, std::min(size, sizeof(description)));
  given_back = 0;
  try {
    look_at(import(description));
  } catch (const cuprum::Error& refusal) {
    require(refusal.what()[0] != '\0', "a refusal has a reason");
  }
  require(given_back == 1, "the tensor is given back once");
  return 0;
}
