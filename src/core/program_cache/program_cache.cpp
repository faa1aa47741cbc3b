#include <cuprum/program_cache.hpp>

#include "core/base/closable.hpp"
#include "core/base/deferred.hpp"
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

std::optional<ProgramCacheEntry> ProgramCacheResource::get_entry(std::string_view key) {
  std::optional<std::string> value = get(key);
  if (!value) return std::nullopt;
  return ProgramCacheEntry{*std::move(value), get(key_of_notes(key)).value_or(std::string())};
}

void ProgramCacheResource::set_entry(std::string_view key, const ProgramCacheEntry& entry) {
  // The notes first: whoever sees the value then sees them.
  if (entry.notes.empty()) {
    erase(key_of_notes(key));
  } else {
    set(key_of_notes(key), entry.notes);
  }
  set(key, entry.value);
}

std::optional<ObjectCode> ProgramCacheResource::get_code(std::string_view key) {
  std::optional<ProgramCacheEntry> entry = get_entry(key);
  if (!entry) return std::nullopt;
  std::optional<core::Compiled> compiled = core::compiled_from(*std::move(entry));
  if (!compiled) return std::nullopt;
  return Access::make_code(core::make_deferrable<detail::ObjectCodeResource>(std::move(compiled->code)));
}

void ProgramCacheResource::set_code(std::string_view key, const ObjectCode& code) {
  const std::shared_ptr<detail::ObjectCodeResource>& held = Access::keep(code);
  set_entry(key, core::entry_of(held->code, {}));
}

}  // namespace cuprum::inline CUPRUM_ABI
