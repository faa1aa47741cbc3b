#include "device_image/architecture.hpp"

#include <charconv>

namespace cuprum::device_image {
namespace {

std::string named(const char* prefix, Architecture architecture) {
  std::string name = prefix + std::to_string(architecture.number);
  if (architecture.variant != '\0') name += architecture.variant;
  return name;
}

bool same_family(unsigned device, Architecture code) {
  return code.number / 10 == device / 10 && code.number <= device;
}

}  // namespace

std::string real_name(Architecture architecture) { return named("sm_", architecture); }

std::string virtual_name(Architecture architecture) { return named("compute_", architecture); }

std::string lto_name(Architecture architecture) { return named("lto_", architecture); }

std::optional<Architecture> parse_architecture(std::string_view name) {
  for (const std::string_view prefix : {"sm_", "compute_", "lto_"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    Architecture architecture;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), architecture.number);
    if (error != std::errc()) return std::nullopt;
    const std::string_view variant = name.substr(static_cast<std::size_t>(end - name.data()));
    if (variant == "a" || variant == "f") architecture.variant = variant[0];
    return variant.empty() || architecture.variant != '\0' ? std::optional(architecture) : std::nullopt;
  }
  return std::nullopt;
}

bool runs_machine_code(unsigned device, Architecture code) {
  return code.variant == 'a' ? code.number == device : same_family(device, code);
}

bool runs_ptx(unsigned device, Architecture code) {
  if (code.variant == 'a') return code.number == device;
  return code.variant == 'f' ? same_family(device, code) : code.number <= device;
}

}  // namespace cuprum::device_image
