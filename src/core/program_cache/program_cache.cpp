#include <cuprum/program_cache.hpp>

#include "core/base/closable.hpp"
#include "core/program_cache/entry.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::Access;

ProgramCacheResource::~ProgramCacheResource() = default;

void ProgramCacheResource::close() {}

void ProgramCacheResource::update(const std::unordered_map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) set(key, value);
}

std::optional<ObjectCode> ProgramCacheResource::get_code(std::string_view key) {
  const std::optional<std::string> bytes = get(key);
  std::optional<core::Compiled> compiled = bytes ? core::from_bytes(*bytes) : std::nullopt;
  if (!compiled) return std::nullopt;
  return Access::make_code(std::make_shared<detail::ObjectCodeResource>(std::move(compiled->code)));
}

void ProgramCacheResource::set_code(std::string_view key, const ObjectCode& code) {
  set(key, core::to_bytes(Access::keep(code)->code, {}));
}

}  // namespace cuprum::inline CUPRUM_ABI
