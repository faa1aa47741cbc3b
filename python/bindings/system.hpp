// What the files of cuprum.system share: enumerations by their names.
#pragma once

#include <cuprum/system.hpp>

#include "bindings/common.hpp"

namespace cuprum::python {

/// The value of that name. Throws ValueError for others; cuprum/system/ says what there is before it comes to that.
template <typename Enum>
Enum value_of(const std::string& name) {
  for (const system::EnumName<Enum>& row : system::names<Enum>())
    if (row.name == name) return row.value;
  throw nb::value_error(("there is no value " + name).c_str());
}

/// The name of a value; its number for one that this release does not know.
template <typename Enum>
std::string name_of(Enum value) {
  const std::string_view name = system::to_string(value);
  return name.empty() ? std::to_string(static_cast<long long>(value)) : std::string(name);
}

template <typename Enum>
std::vector<std::string> names_of(const std::vector<Enum>& values) {
  std::vector<std::string> names;
  for (const Enum value : values) names.push_back(name_of(value));
  return names;
}

template <typename Enum>
std::vector<Enum> values_of(const std::vector<std::string>& names) {
  std::vector<Enum> values;
  for (const std::string& name : names) values.push_back(value_of<Enum>(name));
  return values;
}

/// Clocks, fans, temperatures, links, the infoROM and parts of devices.
void bind_system_parts(nb::class_<system::Device>& bound);
/// What waits for events.
void bind_system_events(nb::module_& module, nb::class_<system::Device>& bound);

}  // namespace cuprum::python
