// Values by number: see <cuprum/system.hpp>.
#pragma once

#include <cuprum/detail/export.hpp>
#include <variant>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::system {

/// Which value is meant: its number (NVML's NVML_FI_ names), and of what part of the device.
struct Field {
  unsigned id = 0;     ///< such as 83, energy in mJ
  unsigned scope = 0;  ///< such as a link; 0 where there is nothing to choose
};

/// A value, or why there is none.
class CUPRUM_API FieldValue {
 public:
  /// A number of the kind that the field has.
  using Value = std::variant<double, unsigned long long, long long>;

  unsigned field_id = 0;       ///< which was asked for
  unsigned scope_id = 0;       ///< of what
  long long timestamp = 0;     ///< microseconds since 1970
  long long latency_usec = 0;  ///< how long it took to get it
  int result = 0;              ///< NVML's code: 0 when there is a value
  Value raw;                   ///< the value, if there is one

  /// The value. Throws NotSupported or LibraryError as `result` says.
  Value value() const;
};

/// Values of several fields, each with its own code.
using FieldValues = std::vector<FieldValue>;

/// Throws for the first that has no value.
CUPRUM_API void validate(const FieldValues& values);

}  // namespace cuprum::inline CUPRUM_ABI::system
