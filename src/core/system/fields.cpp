// Values by number.
#include <cuprum/system.hpp>

#include "core/system/ask.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;

FieldValue::Value number_in(const nvml::FieldValue& field) {
  switch (field.value_type) {
    case 0: return field.value.real;
    case 1: return static_cast<unsigned long long>(field.value.unsigned_int);
    case 2: return static_cast<unsigned long long>(field.value.unsigned_long);
    case 4: return field.value.signed_longlong;
    case 5: return static_cast<long long>(field.value.signed_int);
    case 6: return static_cast<unsigned long long>(field.value.unsigned_short);
    default: return field.value.unsigned_longlong;
  }
}

std::vector<nvml::FieldValue> questions(const std::vector<Field>& fields) {
  std::vector<nvml::FieldValue> values(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values[i].field_id = fields[i].id;
    values[i].scope_id = fields[i].scope;
  }
  return values;
}

}  // namespace

FieldValue::Value FieldValue::value() const {
  if (result != 0) core::raise_nvml_error(result, "nvmlDeviceGetFieldValues");
  return raw;
}

void validate(const FieldValues& values) {
  for (const FieldValue& value : values) static_cast<void>(value.value());
}

FieldValues Device::get_field_values(const std::vector<Field>& fields) const {
  FieldValues values;
  if (fields.empty()) return values;
  std::vector<nvml::FieldValue> found = questions(fields);
  nvml::call<&Api::nvmlDeviceGetFieldValues>(handle_, static_cast<int>(found.size()), found.data());
  for (const nvml::FieldValue& field : found) {
    FieldValue& value = values.emplace_back();
    value.field_id = field.field_id;
    value.scope_id = field.scope_id;
    value.timestamp = field.timestamp;
    value.latency_usec = field.latency_usec;
    value.result = field.result;
    value.raw = number_in(field);
  }
  return values;
}

void Device::clear_field_values(const std::vector<Field>& fields) const {
  if (fields.empty()) return;
  std::vector<nvml::FieldValue> asked = questions(fields);
  nvml::call<&Api::nvmlDeviceClearFieldValues>(handle_, static_cast<int>(asked.size()), asked.data());
}

}  // namespace cuprum::inline CUPRUM_ABI::system
