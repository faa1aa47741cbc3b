// The types of array elements, numbered as DLPack numbers them.
//
//   DataType type = dtype_of<float>();   // a 32-bit floating-point number: prints as "float32"
#pragma once

#include <concepts>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <iosfwd>
#include <type_traits>

namespace cuprum::inline CUPRUM_ABI {

/// What the bits of an element mean: DLDataTypeCode of DLPack.
enum class DataTypeCode : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,  ///< IEEE 754
  opaque_handle = 3,
  bfloat = 4,
  complex = 5,  ///< two floating-point numbers of half the bits each
  boolean = 6,
  float8_e3m4 = 7,
  float8_e4m3 = 8,
  float8_e4m3b11fnuz = 9,
  float8_e4m3fn = 10,
  float8_e4m3fnuz = 11,
  float8_e5m2 = 12,
  float8_e5m2fnuz = 13,
  float8_e8m0fnu = 14,
  float6_e2m3fn = 15,
  float6_e3m2fn = 16,
  float4_e2m1fn = 17,
};

/// DLDataType of DLPack: `lanes` numbers of `bits` bits each.
struct DataType {
  DataTypeCode code = DataTypeCode::integer;
  std::uint8_t bits = 8;
  std::uint16_t lanes = 1;

  /// In bytes, rounded up.
  constexpr std::int64_t itemsize() const { return (std::int64_t{bits} * lanes + 7) / 8; }
  friend bool operator==(const DataType&, const DataType&) = default;
};

/// Prints "float32", "int8", "bfloat16", "complex64", "bool", and for several lanes "float32x4".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const DataType& type);

namespace detail {
/// std::complex and its likes, without their headers.
template <typename T>
concept ComplexNumber = std::floating_point<typename T::value_type> &&
                        sizeof(T) == 2 * sizeof(typename T::value_type) && requires(const T& value) {
                          value.real();
                          value.imag();
                        };
}  // namespace detail

/// The DataType of a C++ type, as a static member `value`. Specialise it for types of your own, such as a 16-bit float:
///
///   template <> struct cuprum::DataTypeOf<__half> {
///     static constexpr DataType value{DataTypeCode::floating, 16};
///   };
template <typename T>
struct DataTypeOf {};

template <std::integral T>
struct DataTypeOf<T> {
  static constexpr DataType value{std::is_same_v<T, bool> ? DataTypeCode::boolean
                                  : std::is_signed_v<T>   ? DataTypeCode::integer
                                                          : DataTypeCode::unsigned_integer,
                                  sizeof(T) * 8};
};

template <std::floating_point T>
  requires(sizeof(T) <= 8)  // no device has long double
struct DataTypeOf<T> {
  static constexpr DataType value{DataTypeCode::floating, sizeof(T) * 8};
};

template <detail::ComplexNumber T>
struct DataTypeOf<T> {
  static constexpr DataType value{DataTypeCode::complex, sizeof(T) * 8};
};

/// Types that have a DataType.
template <typename T>
concept HasDataType = requires { DataTypeOf<std::remove_cv_t<T>>::value; };

template <HasDataType T>
constexpr DataType dtype_of() {
  return DataTypeOf<std::remove_cv_t<T>>::value;
}

}  // namespace cuprum::inline CUPRUM_ABI
