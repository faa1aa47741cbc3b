#include "core/code/code_bytes.hpp"

#include "core/code/portable_code.hpp"
#include "support/byte_fields.hpp"

namespace cuprum::core {
namespace {

using detail::Code;

constexpr std::string_view format = "cuprum code 3";  // to be raised whenever the fields change

/// The PTX besides `bytes`: nothing, one module, or several that are yet to be linked.
std::vector<std::string> modules_of(const Code& code) {
  if (!code.ptx.empty()) return {code.ptx};
  return code.source ? ptx_modules(code) : std::vector<std::string>();
}

std::optional<std::vector<std::string>> read_modules(support::FieldReader& in) {
  const auto count = in.number();
  if (!count) return std::nullopt;
  std::vector<std::string> modules;
  for (std::uint64_t index = 0; index < *count; ++index) {
    const auto module = in.field();
    if (!module) return std::nullopt;
    modules.emplace_back(*module);
  }
  return modules;
}

}  // namespace

std::string code_to_bytes(const Code& code) {
  support::FieldWriter out;
  std::vector<std::string> modules = modules_of(code);
  const bool is_ptx = modules.size() == 1 && modules.front() == code.bytes;  // which is not stored twice
  if (is_ptx) modules.clear();
  out.add(format).add(static_cast<std::uint64_t>(code.type)).add(std::uint64_t{is_ptx}).add(code.name);
  out.add(code.bytes).add(std::uint64_t{modules.size()});
  for (const std::string& module : modules) out.add(module);
  out.add(std::uint64_t{code.symbol_mapping.size()});
  for (const auto& [name, symbol] : code.symbol_mapping) out.add(name).add(symbol);
  return out.bytes();
}

std::optional<Code> code_from_bytes(std::string_view bytes) {
  support::FieldReader in(bytes);
  if (in.field() != format) return std::nullopt;
  const auto type = in.number(), is_ptx = in.number();
  const auto name = in.field(), code = in.field();
  std::optional<std::vector<std::string>> modules = read_modules(in);
  const auto names = in.number();
  if (!names || !modules || *type > static_cast<std::uint64_t>(Target::pch)) return std::nullopt;
  Code result{.type = static_cast<Target>(*type), .name = std::string(*name), .bytes = std::string(*code)};
  if (*is_ptx) result.ptx = result.bytes;
  if (modules->size() == 1) result.ptx = std::move(modules->front());
  if (modules->size() > 1) result.source = source_of_modules(*std::move(modules));
  for (std::uint64_t index = 0; index < *names; ++index) {
    const auto expression = in.field(), symbol = in.field();
    if (!expression || !symbol) return std::nullopt;
    result.symbol_mapping.emplace(*expression, *symbol);
  }
  if (!in.at_end()) return std::nullopt;
  return result;
}

}  // namespace cuprum::core
