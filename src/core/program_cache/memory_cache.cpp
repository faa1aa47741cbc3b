#include <cuprum/program_cache.hpp>
#include <list>
#include <mutex>

#include "core/program_cache/limit.hpp"

namespace cuprum::inline CUPRUM_ABI {

struct InMemoryProgramCache::Values {
  struct Value {
    std::string key;
    ProgramCacheEntry entry;

    std::size_t size() const { return entry.value.size() + entry.notes.size(); }
  };
  using List = std::list<Value>;

  void remove(List::iterator value) {
    total -= value->size();
    by_key.erase(value->key);
    by_use.erase(value);
  }

  List::iterator find(std::string_view key) {
    const auto found = by_key.find(key);
    return found == by_key.end() ? by_use.end() : found->second;
  }

  std::size_t limit = 0;
  std::mutex mutex;
  List by_use;  // the one used last at the front
  std::unordered_map<std::string_view, List::iterator> by_key;
  std::size_t total = 0;
};

InMemoryProgramCache::InMemoryProgramCache(ProgramCacheOptions options) : values_(std::make_unique<Values>()) {
  values_->limit = core::checked_limit(options);
}

InMemoryProgramCache::~InMemoryProgramCache() = default;

std::optional<ProgramCacheEntry> InMemoryProgramCache::get_entry(std::string_view key) {
  std::lock_guard lock(values_->mutex);
  const auto value = values_->find(key);
  if (value == values_->by_use.end()) return std::nullopt;
  values_->by_use.splice(values_->by_use.begin(), values_->by_use, value);
  return value->entry;
}

void InMemoryProgramCache::set_entry(std::string_view key, const ProgramCacheEntry& entry) {
  Values::List added;
  added.push_back({std::string(key), entry});
  const std::size_t size = added.front().size();
  std::lock_guard lock(values_->mutex);
  if (const auto old = values_->find(key); old != values_->by_use.end()) values_->remove(old);
  if (size > values_->limit) return;
  values_->by_key.emplace(added.front().key, added.begin());
  values_->by_use.splice(values_->by_use.begin(), added);
  values_->total += size;
  while (values_->total > values_->limit) values_->remove(std::prev(values_->by_use.end()));
}

std::optional<std::string> InMemoryProgramCache::get(std::string_view key) {
  std::optional<ProgramCacheEntry> entry = get_entry(key);
  if (!entry) return std::nullopt;
  return std::move(entry->value);
}

void InMemoryProgramCache::set(std::string_view key, std::string_view value) { set_entry(key, {std::string(value)}); }

bool InMemoryProgramCache::erase(std::string_view key) {
  std::lock_guard lock(values_->mutex);
  const auto value = values_->find(key);
  if (value == values_->by_use.end()) return false;
  values_->remove(value);
  return true;
}

std::size_t InMemoryProgramCache::size() {
  std::lock_guard lock(values_->mutex);
  return values_->by_use.size();
}

void InMemoryProgramCache::clear() {
  std::lock_guard lock(values_->mutex);
  values_->by_key.clear();
  values_->by_use.clear();
  values_->total = 0;
}

}  // namespace cuprum::inline CUPRUM_ABI
