#include "core/program_cache/entry.hpp"

#include "core/code/code_bytes.hpp"
#include "support/byte_fields.hpp"

namespace cuprum::core {

std::string to_bytes(const detail::Code& code, std::string_view log) {
  support::FieldWriter out;
  out.add(code_to_bytes(code)).add(log);
  return out.bytes();
}

std::optional<Compiled> from_bytes(std::string_view bytes) {
  support::FieldReader in(bytes);
  const auto code = in.field(), log = in.field();
  if (!code || !log || !in.at_end()) return std::nullopt;
  std::optional<detail::Code> read = code_from_bytes(*code);
  if (!read) return std::nullopt;
  return Compiled{*std::move(read), std::string(*log)};
}

}  // namespace cuprum::core
