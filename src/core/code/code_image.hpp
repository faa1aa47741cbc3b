// What object code is, for checks and messages.
#pragma once

#include <optional>
#include <string>

#include "core/code/object_code_resource.hpp"
#include "device_image/recognize.hpp"

namespace cuprum::core {

/// "object code 'scale.cu'", or just "object code" for one without a name.
std::string title(const detail::Code& code);

[[noreturn]] void refuse_damaged(const detail::Code& code, const device_image::Damaged& damage);

/// Calls `read`, which looks into the code's bytes: what is damaged there is an InvalidArgument.
template <typename Read>
auto reading(const detail::Code& code, Read&& read) {
  try {
    return read();
  } catch (const device_image::Damaged& damage) {
    refuse_damaged(code, damage);
  }
}

/// What the bytes are; none when they are no code for a device. Throws InvalidArgument when they are empty or damaged.
std::optional<device_image::Image> recognized(const detail::Code& code);

}  // namespace cuprum::core
