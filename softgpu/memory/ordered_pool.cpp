#include "softgpu/memory/ordered_pool.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace softgpu::memory {
namespace {

// A free block serves a smaller request when little is lost, and little more than asked for becomes accessible.
std::size_t largest_fit(std::size_t bytes) { return bytes + bytes / 8; }

}  // namespace

OrderedPool::OrderedPool(std::shared_ptr<Heap> heap, std::size_t limit) : heap_(std::move(heap)), limit_(limit) {}

OrderedPool::~OrderedPool() {
  for (const auto& [base, bytes] : in_use_) heap_->release(base, bytes);
  for (const auto& [bytes, base] : available_) heap_->release(base, bytes);
  for (const auto& [ticket, freed] : freed_) heap_->release(freed.block.base, freed.block.bytes);
}

std::byte* OrderedPool::allocate(std::size_t bytes, Client& client) {
  const std::size_t wanted = round_up(bytes, kPageBytes);
  if (wanted < bytes) throw OutOfMemory();
  const std::scoped_lock lock(mutex_);
  const Block block = find_block(wanted, client);
  in_use_.emplace(block.base, block.bytes);
  usage_.used += block.bytes;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
  return block.base;
}

void OrderedPool::adopt(std::byte* base, std::size_t bytes) {
  const std::size_t whole = round_up(bytes, kPageBytes);
  const std::scoped_lock lock(mutex_);
  in_use_.emplace(base, whole);
  usage_.reserved += whole;
  usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  usage_.used += whole;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
}

OrderedPool::Block OrderedPool::find_block(std::size_t bytes, Client& client) {
  if (const Block own = take_own(bytes, client.stream()); own.base != nullptr) return own;
  if (const Block block = take_available(bytes); block.base != nullptr) return block;
  if (const Block block = take_freed(bytes, client); block.base != nullptr) return block;
  try {
    return grow(bytes);
  } catch (const OutOfMemory&) {
    // Perhaps there is enough, in blocks of other sizes.
    promote_reached();
    trim_locked(0);
  }
  try {
    return grow(bytes);
  } catch (const OutOfMemory&) {
    if (!rules_.internal_dependencies) throw;
    const Block block = take_by_waiting(bytes, client);
    if (block.base == nullptr) throw;
    return block;
  }
}

OrderedPool::Block OrderedPool::take_own(std::size_t bytes, Stream stream) {
  const auto mine = freed_by_stream_.lower_bound({stream, bytes});
  if (mine == freed_by_stream_.end() || mine->first.first != stream || mine->first.second > largest_fit(bytes))
    return {};
  return take_freed_block(mine->second.begin()->first);
}

OrderedPool::Block OrderedPool::take_available(std::size_t bytes) {
  const auto any = available_.lower_bound(bytes);
  if (any == available_.end() || any->first > largest_fit(bytes)) return {};
  const Block block{any->second, any->first};
  available_.erase(any);
  return block;
}

// Freed by another stream, and of use to this one.
OrderedPool::Block OrderedPool::take_freed(std::size_t bytes, const Client& client) {
  if (!rules_.opportunistic && !rules_.follow_event_dependencies) return {};
  for (auto it = freed_by_size_.lower_bound({bytes, 0});
       it != freed_by_size_.end() && it->first.first <= largest_fit(bytes); ++it) {
    const Freed& freed = *it->second;
    const bool usable =
        (rules_.opportunistic && freed.reached) || (rules_.follow_event_dependencies && freed.position != kUnplaced &&
                                                    client.comes_after(freed.stream, freed.position));
    if (usable) return take_freed_block(it->first.second);
  }
  return {};
}

// The smallest that is large enough: there is no other memory, so that nothing is too large.
OrderedPool::Block OrderedPool::take_by_waiting(std::size_t bytes, Client& client) {
  for (auto it = freed_by_size_.lower_bound({bytes, 0}); it != freed_by_size_.end(); ++it) {
    void* const free = it->second->free;
    if (free == nullptr) continue;
    client.wait_for(free);
    return take_freed_block(it->first.second);
  }
  return {};
}

OrderedPool::Block OrderedPool::grow(std::size_t bytes) {
  if (limit_ != 0 && bytes > limit_ - std::min<std::size_t>(limit_, usage_.reserved)) throw OutOfMemory();
  const Block block{heap_->allocate(bytes), bytes};
  usage_.reserved += bytes;
  usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  return block;
}

OrderedPool::Block OrderedPool::take_freed_block(Ticket ticket) {
  const Freed freed = freed_.extract(ticket).mapped();
  const auto of_stream = freed_by_stream_.find({freed.stream, freed.block.bytes});
  of_stream->second.erase(ticket);
  if (of_stream->second.empty()) freed_by_stream_.erase(of_stream);
  freed_by_size_.erase({freed.block.bytes, ticket});
  return freed.block;
}

OrderedPool::Block OrderedPool::take_block_in_use(std::byte* base) {
  const auto node = in_use_.extract(base);
  if (node.empty()) return {};
  usage_.used -= node.mapped();
  return {base, node.mapped()};
}

OrderedPool::Ticket OrderedPool::free(std::byte* base, Stream stream) {
  const std::scoped_lock lock(mutex_);
  const Block block = take_block_in_use(base);
  const Ticket ticket = next_ticket_++;
  if (block.base == nullptr) return ticket;
  const auto [it, added] = freed_.emplace(ticket, Freed{.block = block, .stream = stream});
  freed_by_stream_[{stream, block.bytes}].emplace(ticket, block.base);
  freed_by_size_.emplace(std::pair(block.bytes, ticket), &it->second);
  return ticket;
}

void OrderedPool::place(Ticket ticket, Position position, void* free) {
  const std::scoped_lock lock(mutex_);
  const auto it = freed_.find(ticket);
  if (it == freed_.end()) return;  // used again in the meantime
  it->second.position = position;
  it->second.free = free;
}

void OrderedPool::reached(Ticket ticket) {
  const std::scoped_lock lock(mutex_);
  const auto it = freed_.find(ticket);
  if (it == freed_.end()) return;  // used again in the meantime
  it->second.reached = true;
  if (retired_) make_available(take_freed_block(ticket));
}

void OrderedPool::free_now(std::byte* base) {
  const std::scoped_lock lock(mutex_);
  const Block block = take_block_in_use(base);
  if (block.base != nullptr) make_available(block);
}

void OrderedPool::make_available(Block block) {
  if (retired_)
    release(block);
  else
    available_.emplace(block.bytes, block.base);
}

void OrderedPool::release(Block block) {
  heap_->release(block.base, block.bytes);
  usage_.reserved -= block.bytes;
}

void OrderedPool::promote_reached() {
  std::vector<Ticket> reached;
  for (const auto& [ticket, freed] : freed_)
    if (freed.reached) reached.push_back(ticket);
  for (const Ticket ticket : reached) make_available(take_freed_block(ticket));
}

void OrderedPool::synchronized() {
  const std::scoped_lock lock(mutex_);
  promote_reached();
}

void OrderedPool::trim(std::size_t bytes_to_keep) {
  const std::scoped_lock lock(mutex_);
  promote_reached();
  trim_locked(bytes_to_keep);
}

void OrderedPool::trim_to_threshold() {
  const std::scoped_lock lock(mutex_);
  promote_reached();
  while (usage_.reserved > release_threshold_ && !available_.empty()) release_available(std::prev(available_.end()));
}

// From the largest down, each that can go.
void OrderedPool::trim_locked(std::size_t bytes_to_keep) {
  for (auto it = available_.end(); it != available_.begin() && usage_.reserved > bytes_to_keep;) {
    --it;
    if (usage_.reserved - it->first >= bytes_to_keep) it = release_available(it);
  }
}

OrderedPool::Available::iterator OrderedPool::release_available(Available::iterator block) {
  release({block->second, block->first});
  return available_.erase(block);
}

void OrderedPool::retire() {
  const std::scoped_lock lock(mutex_);
  retired_ = true;
  promote_reached();
  trim_locked(0);
}

std::uint64_t OrderedPool::release_threshold() const {
  const std::scoped_lock lock(mutex_);
  return release_threshold_;
}

void OrderedPool::set_release_threshold(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  release_threshold_ = bytes;
}

ReuseRules OrderedPool::reuse_rules() const {
  const std::scoped_lock lock(mutex_);
  return rules_;
}

void OrderedPool::set_reuse_rule(bool ReuseRules::* rule, bool value) {
  const std::scoped_lock lock(mutex_);
  rules_.*rule = value;
}

PoolUsage OrderedPool::usage() const {
  const std::scoped_lock lock(mutex_);
  return usage_;
}

void OrderedPool::reset_reserved_high() {
  const std::scoped_lock lock(mutex_);
  usage_.reserved_high = usage_.reserved;
}

void OrderedPool::reset_used_high() {
  const std::scoped_lock lock(mutex_);
  usage_.used_high = usage_.used;
}

}  // namespace softgpu::memory
