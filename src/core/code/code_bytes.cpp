#include "core/code/code_bytes.hpp"

#include "core/code/portable_code.hpp"
#include "support/byte_fields.hpp"

namespace cuprum::core {
namespace {

using detail::Code;

constexpr std::string_view format = "cuprum code 2";  // to be raised whenever the fields change

std::string ptx_of(const Code& code) {
  if (!code.ptx.empty() || !code.source) return code.ptx;
  std::vector<std::string> modules = ptx_modules(code);
  return modules.size() == 1 ? std::move(modules.front()) : std::string();
}

}  // namespace

std::string code_to_bytes(const Code& code) {
  support::FieldWriter out;
  const std::string ptx = ptx_of(code);
  const bool is_ptx = ptx == code.bytes;  // which is not stored twice
  out.add(format).add(static_cast<std::uint64_t>(code.type)).add(std::uint64_t{is_ptx}).add(code.name);
  out.add(code.bytes).add(is_ptx ? std::string_view() : ptx);
  out.add(std::uint64_t{code.symbol_mapping.size()});
  for (const auto& [name, symbol] : code.symbol_mapping) out.add(name).add(symbol);
  return out.bytes();
}

std::optional<Code> code_from_bytes(std::string_view bytes) {
  support::FieldReader in(bytes);
  if (in.field() != format) return std::nullopt;
  const auto type = in.number(), is_ptx = in.number();
  const auto name = in.field(), code = in.field(), ptx = in.field();
  const auto names = in.number();
  if (!names || *type > static_cast<std::uint64_t>(Target::pch)) return std::nullopt;
  Code result{.type = static_cast<Target>(*type),
              .name = std::string(*name),
              .bytes = std::string(*code),
              .ptx = std::string(*ptx)};
  if (*is_ptx) result.ptx = result.bytes;
  for (std::uint64_t index = 0; index < *names; ++index) {
    const auto expression = in.field(), symbol = in.field();
    if (!expression || !symbol) return std::nullopt;
    result.symbol_mapping.emplace(*expression, *symbol);
  }
  if (!in.at_end()) return std::nullopt;
  return result;
}

}  // namespace cuprum::core
