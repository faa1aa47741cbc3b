#include "core/program_cache/entry.hpp"

#include "core/code/code_bytes.hpp"
#include "core/code/code_image.hpp"
#include "support/byte_fields.hpp"
#include "support/content_hash.hpp"

namespace cuprum::core {
namespace {

using support::content_hash;

std::optional<Compiled> foreign(std::string value) {
  Compiled compiled{.code = {.type = Target::ptx, .bytes = std::move(value)}};
  try {
    const auto image = recognized(compiled.code);
    if (!image) return std::nullopt;
    compiled.code.type = static_cast<Target>(image->kind);  // the same kinds in the same order
  } catch (const InvalidArgument&) {
    return std::nullopt;  // it is no code then
  }
  if (compiled.code.type == Target::ptx) compiled.code.ptx = compiled.code.bytes;
  return compiled;
}

}  // namespace

ProgramCacheEntry entry_of(const detail::Code& code, std::string_view log) {
  const bool is_ptx = code.ptx == code.bytes;  // which is the value
  detail::Code rest = code;
  rest.bytes.clear();
  if (is_ptx) rest.ptx.clear();
  support::FieldWriter out;
  out.add(to_string(content_hash(code.bytes))).add(std::uint64_t{is_ptx}).add(code_to_bytes(rest)).add(log);
  return {code.bytes, out.bytes()};
}

std::optional<Compiled> compiled_from(ProgramCacheEntry entry) {
  if (entry.notes.empty()) return foreign(std::move(entry.value));
  support::FieldReader in(entry.notes);
  const auto hash = in.field();
  const auto is_ptx = in.number();
  const auto rest = in.field(), log = in.field();
  if (!log || !in.at_end() || *hash != to_string(content_hash(entry.value))) return std::nullopt;
  std::optional<detail::Code> code = code_from_bytes(*rest);
  if (!code) return std::nullopt;
  code->bytes = std::move(entry.value);
  if (*is_ptx) code->ptx = code->bytes;
  return Compiled{*std::move(code), std::string(*log)};
}

}  // namespace cuprum::core
