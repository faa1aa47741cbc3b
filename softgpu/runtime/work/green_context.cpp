#include "softgpu/runtime/work/green_context.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/waiting.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

// The seats that stand for them: one each while there are enough, else the same share of the seats. Parts that don't
// overlap have no seat in common, unless one is too small for a seat of its own.
std::shared_ptr<const exec::SeatSet> seats_of(const Context& context, const MultiprocessorSet& multiprocessors) {
  const auto all = static_cast<std::uint64_t>(context.device().multiprocessors());
  const std::uint64_t workers = std::min<std::uint64_t>(context.work().pool.workers(), all);
  const auto seat_at = [&](std::uint64_t number) { return (2 * number * workers + all) / (2 * all); };
  const auto seats = std::make_shared<exec::SeatSet>();
  multiprocessors.for_each_range([&](std::uint64_t first, std::uint64_t count) {
    const std::uint64_t begin = std::min(seat_at(first), workers - 1);
    const std::uint64_t end = std::max(seat_at(first + count), begin + 1);
    for (std::uint64_t seat = begin; seat < end; ++seat) seats->add(seat);
  });
  return seats;
}

}  // namespace

GreenContext::GreenContext(std::shared_ptr<Context> primary, MultiprocessorSet multiprocessors, PartitionRules rules)
    : context_(std::move(primary)),
      id_(next_context_id()),
      multiprocessors_(std::move(multiprocessors)),
      rules_(rules),
      seats_(seats_of(*context_, multiprocessors_)) {}

std::shared_ptr<GreenContext> GreenContext::create(std::shared_ptr<Context> primary, MultiprocessorSet multiprocessors,
                                                   PartitionRules rules) {
  const std::shared_ptr<GreenContext> green(new GreenContext(std::move(primary), std::move(multiprocessors), rules));
  green->default_stream_ = std::make_unique<Stream>(*green->context_, StreamKind::legacy, 0, green.get());
  return green;
}

std::shared_ptr<Stream> GreenContext::shared_default_stream() { return {shared_from_this(), default_stream_.get()}; }

void GreenContext::wait_idle() {
  // As in Context::wait_idle(): not one by one under the list's lock.
  std::vector<OpRef> pending;
  context_->streams().for_each_tail([&](Op& op, const StreamSet::Origin& origin) {
    if (origin.green == id_) pending.emplace_back(&op);
  });
  for (const OpRef& op : pending) wait_for(context_->work().pool, op->done_flag(), nullptr);
}

void GreenContexts::add(const std::shared_ptr<GreenContext>& green) {
  green->handle_ = handles_.add(green);
  green->context_handle_ = contexts_.add(green->context_);
  const std::scoped_lock lock(mutex_);
  by_context_.emplace(green->context_handle_, green);
  count_ = by_context_.size();
}

std::shared_ptr<GreenContext> GreenContexts::find(CUcontext converted) const {
  if (count_.load(std::memory_order_acquire) == 0) return nullptr;
  const std::scoped_lock lock(mutex_);
  const auto found = by_context_.find(converted);
  return found != by_context_.end() ? found->second : nullptr;
}

bool GreenContexts::remove(GreenContext& green) {
  green.set_destroyed();
  {
    const std::scoped_lock lock(mutex_);
    by_context_.erase(green.context_handle());
    count_ = by_context_.size();
  }
  contexts_.remove(green.context_handle());
  return handles_.remove(green.handle()) != nullptr;
}

unsigned GreenContexts::remove_all_of(const Context& context) {
  if (count_.load(std::memory_order_acquire) == 0) return 0;
  unsigned removed = 0;
  for (const auto& green : handles_.all())
    if (&green->context() == &context && remove(*green)) ++removed;
  return removed;
}

}  // namespace softgpu::runtime
