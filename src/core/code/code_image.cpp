#include "core/code/code_image.hpp"

#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum::core {

using support::text;

std::string title(const detail::Code& code) {
  return code.name.empty() ? "object code" : text("object code '", code.name, "'");
}

std::optional<device_image::Image> recognized(const detail::Code& code) {
  if (code.bytes.empty()) throw InvalidArgument(text(title(code), " is empty"));
  return reading(code, [&] { return device_image::recognize(device_image::bytes_of(code.bytes)); });
}

void refuse_damaged(const detail::Code& code, const device_image::Damaged& damage) {
  throw InvalidArgument(text(title(code), " is damaged: ", damage.what()));
}

}  // namespace cuprum::core
