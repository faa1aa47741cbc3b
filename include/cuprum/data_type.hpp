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

/// What the bits of an element mean: DLDataTypeCode of DLPack. The numbers of 8, 6 and 4 bits are those of the Open
/// Compute Project and of ml_dtypes: e4m3 has 4 bits of exponent and 3 of mantissa; `fn` has no infinities, `uz` one
/// zero and one NaN (the bits of -0), `b11` an exponent bias of 11.
enum class DataTypeCode : std::uint8_t {
  integer = 0,             ///< signed, in two's complement
  unsigned_integer = 1,    ///< 0 and up
  floating = 2,            ///< IEEE 754
  opaque_handle = 3,       ///< DLPack reserves it for tests
  bfloat = 4,              ///< the upper half of a float: 8 bits of exponent, 7 of mantissa
  complex = 5,             ///< two floating-point numbers of half the bits each
  boolean = 6,             ///< 0 is false, 1 is true
  float8_e3m4 = 7,         ///< infinities and NaNs as in IEEE 754; up to 15.5
  float8_e4m3 = 8,         ///< infinities and NaNs as in IEEE 754; up to 240
  float8_e4m3b11fnuz = 9,  ///< up to 30
  float8_e4m3fn = 10,      ///< NaN is all ones; up to 448
  float8_e4m3fnuz = 11,    ///< up to 240
  float8_e5m2 = 12,        ///< infinities and NaNs as in IEEE 754; up to 57344
  float8_e5m2fnuz = 13,    ///< up to 57344
  float8_e8m0fnu = 14,     ///< a power of two, without sign or zero, for scaling; NaN is all ones
  float6_e2m3fn = 15,      ///< no NaN; up to 7.5
  float6_e3m2fn = 16,      ///< no NaN; up to 28
  float4_e2m1fn = 17,      ///< no NaN; up to 6
};

/// DLDataType of DLPack: `lanes` numbers of `bits` bits each.
struct DataType {
  DataTypeCode code = DataTypeCode::integer;  ///< what the bits of a number mean
  std::uint8_t bits = 8;                      ///< of one number; of both parts for a complex one
  std::uint16_t lanes = 1;                    ///< numbers of one element: 4 for a float4

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

/// Of bool, the integers and characters.
template <std::integral T>
struct DataTypeOf<T> {
  /// The type's size and signedness.
  static constexpr DataType value{std::is_same_v<T, bool> ? DataTypeCode::boolean
                                  : std::is_signed_v<T>   ? DataTypeCode::integer
                                                          : DataTypeCode::unsigned_integer,
                                  sizeof(T) * 8};
};

/// Of float and double.
template <std::floating_point T>
  requires(sizeof(T) <= 8)  // no device has long double
struct DataTypeOf<T> {
  /// 32 or 64 bits.
  static constexpr DataType value{DataTypeCode::floating, sizeof(T) * 8};
};

/// Of std::complex and its likes.
template <detail::ComplexNumber T>
struct DataTypeOf<T> {
  /// 64 or 128 bits, of both parts.
  static constexpr DataType value{DataTypeCode::complex, sizeof(T) * 8};
};

/// Types that have a DataType.
template <typename T>
concept HasDataType = requires { DataTypeOf<std::remove_cv_t<T>>::value; };

/// The DataType of a C++ type; const and volatile make no difference.
template <HasDataType T>
constexpr DataType dtype_of() {
  return DataTypeOf<std::remove_cv_t<T>>::value;
}

}  // namespace cuprum::inline CUPRUM_ABI
