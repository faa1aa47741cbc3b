#include "core/program_cache/entry.hpp"

#include "support/byte_fields.hpp"

namespace cuprum::core {
namespace {

constexpr std::string_view format = "cuprum code 1";  // to be raised whenever the fields change

}  // namespace

std::string to_bytes(const detail::Code& code, std::string_view log) {
  support::FieldWriter out;
  const bool is_ptx = code.ptx == code.bytes;  // which is not stored twice
  out.add(format).add(static_cast<std::uint64_t>(code.type)).add(std::uint64_t{is_ptx}).add(code.name);
  out.add(code.bytes).add(is_ptx ? std::string_view() : code.ptx).add(log);
  out.add(std::uint64_t{code.symbol_mapping.size()});
  for (const auto& [name, symbol] : code.symbol_mapping) out.add(name).add(symbol);
  return out.bytes();
}

std::optional<Compiled> from_bytes(std::string_view bytes) {
  support::FieldReader in(bytes);
  if (in.field() != format) return std::nullopt;
  const auto type = in.number(), is_ptx = in.number();
  const auto name = in.field(), code = in.field(), ptx = in.field(), log = in.field();
  const auto names = in.number();
  if (!names) return std::nullopt;
  Compiled result{{.type = static_cast<Target>(*type),
                   .name = std::string(*name),
                   .bytes = std::string(*code),
                   .ptx = std::string(*ptx)},
                  std::string(*log)};
  if (*is_ptx) result.code.ptx = result.code.bytes;
  for (std::uint64_t index = 0; index < *names; ++index) {
    const auto expression = in.field(), symbol = in.field();
    if (!expression || !symbol) return std::nullopt;
    result.code.symbol_mapping.emplace(*expression, *symbol);
  }
  if (!in.at_end()) return std::nullopt;
  return result;
}

}  // namespace cuprum::core
