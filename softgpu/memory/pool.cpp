#include "softgpu/memory/pool.hpp"

#include <algorithm>
#include <utility>

namespace softgpu::memory {
namespace {

// A free block serves a smaller request when little is lost, and little more than asked for becomes accessible.
std::size_t largest_fit(std::size_t bytes) { return bytes + bytes / 8; }

}  // namespace

Pool::Pool(std::shared_ptr<Heap> heap, std::size_t limit) : heap_(std::move(heap)), limit_(limit) {}

Pool::~Pool() {
  for (const auto& [base, bytes] : in_use_) heap_->release(base, bytes);
  for (const auto& [bytes, base] : available_) heap_->release(base, bytes);
  for (const auto& [ticket, waiting] : waiting_) heap_->release(waiting.block.base, waiting.block.bytes);
}

std::byte* Pool::allocate(std::size_t bytes, Stream stream) {
  const std::size_t wanted = round_up(bytes, kPageBytes);
  if (wanted < bytes) throw OutOfMemory();
  const std::scoped_lock lock(mutex_);
  Block block = take_reusable(wanted, stream);
  if (block.base == nullptr) {
    if (limit_ != 0 && wanted > limit_ - std::min<std::size_t>(limit_, usage_.reserved)) throw OutOfMemory();
    block = {heap_->allocate(wanted), wanted};
    usage_.reserved += wanted;
    usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  }
  in_use_.emplace(block.base, block.bytes);
  usage_.used += block.bytes;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
  return block.base;
}

void Pool::adopt(std::byte* base, std::size_t bytes) {
  const std::size_t whole = round_up(bytes, kPageBytes);
  const std::scoped_lock lock(mutex_);
  in_use_.emplace(base, whole);
  usage_.reserved += whole;
  usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  usage_.used += whole;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
}

Pool::Block Pool::take_reusable(std::size_t bytes, Stream stream) {
  const auto mine = waiting_by_stream_.lower_bound({stream, bytes});
  if (mine != waiting_by_stream_.end() && mine->first.first == stream && mine->first.second <= largest_fit(bytes)) {
    const auto oldest = mine->second.begin();
    const Block block = oldest->second;
    waiting_.erase(oldest->first);
    mine->second.erase(oldest);
    if (mine->second.empty()) waiting_by_stream_.erase(mine);
    return block;
  }
  const auto any = available_.lower_bound(bytes);
  if (any == available_.end() || any->first > largest_fit(bytes)) return {};
  const Block block{any->second, any->first};
  available_.erase(any);
  return block;
}

Pool::Block Pool::take_block_in_use(std::byte* base) {
  const auto node = in_use_.extract(base);
  if (node.empty()) return {};
  usage_.used -= node.mapped();
  return {base, node.mapped()};
}

Pool::Ticket Pool::free(std::byte* base, Stream stream) {
  const std::scoped_lock lock(mutex_);
  const Block block = take_block_in_use(base);
  const Ticket ticket = next_ticket_++;
  if (block.base == nullptr) return ticket;
  waiting_.emplace(ticket, Waiting{block, stream});
  waiting_by_stream_[{stream, block.bytes}].emplace(ticket, block);
  return ticket;
}

void Pool::reached(Ticket ticket) {
  const std::scoped_lock lock(mutex_);
  const auto node = waiting_.extract(ticket);
  if (node.empty()) return;  // used again in the meantime
  const auto& [block, stream] = node.mapped();
  const auto of_stream = waiting_by_stream_.find({stream, block.bytes});
  of_stream->second.erase(ticket);
  if (of_stream->second.empty()) waiting_by_stream_.erase(of_stream);
  make_available(block);
}

void Pool::free_now(std::byte* base) {
  const std::scoped_lock lock(mutex_);
  const Block block = take_block_in_use(base);
  if (block.base != nullptr) make_available(block);
}

void Pool::make_available(Block block) { available_.emplace(block.bytes, block.base); }

void Pool::trim(std::size_t bytes_to_keep) {
  const std::scoped_lock lock(mutex_);
  while (usage_.reserved > bytes_to_keep && !available_.empty()) {
    const auto largest = std::prev(available_.end());
    heap_->release(largest->second, largest->first);
    usage_.reserved -= largest->first;
    available_.erase(largest);
  }
}

void Pool::trim_to_threshold() { trim(release_threshold()); }

std::uint64_t Pool::release_threshold() const {
  const std::scoped_lock lock(mutex_);
  return release_threshold_;
}

void Pool::set_release_threshold(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  release_threshold_ = bytes;
}

PoolUsage Pool::usage() const {
  const std::scoped_lock lock(mutex_);
  return usage_;
}

void Pool::reset_reserved_high() {
  const std::scoped_lock lock(mutex_);
  usage_.reserved_high = usage_.reserved;
}

void Pool::reset_used_high() {
  const std::scoped_lock lock(mutex_);
  usage_.used_high = usage_.used;
}

}  // namespace softgpu::memory
