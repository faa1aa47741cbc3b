#include <cuprum/program_cache.hpp>

#include "core/base/closable.hpp"
#include "core/program_cache/entry.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::Access;

namespace {

std::string key_of_notes(std::string_view key) { return std::string(key) + " (notes)"; }

}  // namespace

ProgramCacheResource::~ProgramCacheResource() = default;

void ProgramCacheResource::close() {}

void ProgramCacheResource::update(const std::unordered_map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) set(key, value);
}

std::optional<std::string> ProgramCacheResource::get_notes(std::string_view key) { return get(key_of_notes(key)); }

void ProgramCacheResource::set_notes(std::string_view key, std::string_view notes) { set(key_of_notes(key), notes); }

std::optional<ObjectCode> ProgramCacheResource::get_code(std::string_view key) {
  std::optional<std::string> value = get(key);
  if (!value) return std::nullopt;
  std::optional<core::Compiled> compiled = core::compiled_from(*std::move(value), get_notes(key));
  if (!compiled) return std::nullopt;
  return Access::make_code(std::make_shared<detail::ObjectCodeResource>(std::move(compiled->code)));
}

void ProgramCacheResource::set_code(std::string_view key, const ObjectCode& code) {
  const std::shared_ptr<detail::ObjectCodeResource>& held = Access::keep(code);
  set(key, held->code.bytes);
  set_notes(key, core::notes_of(held->code, {}));
}

}  // namespace cuprum::inline CUPRUM_ABI
