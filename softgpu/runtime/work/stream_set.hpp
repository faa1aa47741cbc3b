// The streams of a context, and what destroyed ones have left under way.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::runtime {

// Thread-safe.
class StreamSet {
 public:
  // Where an Op comes from.
  struct Origin {
    StreamKind kind;
    std::uint64_t stream, position;
    std::uint64_t green;  // as Stream::green_id()
  };

  void add(Stream& stream) {
    const std::scoped_lock lock(mutex_);
    streams_.push_back(&stream);
  }

  void remove(Stream& stream) {
    const std::scoped_lock lock(mutex_);
    std::erase(streams_, &stream);
    std::erase_if(orphans_, [](const Orphan& orphan) { return orphan.op->done(); });
    if (OpRef last = stream.tail(); last && !last->done())
      orphans_.push_back({std::move(last), origin_of(stream, stream.position())});
  }

  // Calls visit(Op&, stream, position) with the last Op of every stream that is ordered against the legacy one: that of
  // the context, or of the green context with this number.
  template <typename Visit>
  void for_each_blocking_tail(std::uint64_t green, Visit&& visit) {
    for_each_tail([&](Op& op, const Origin& origin) {
      if (origin.kind == StreamKind::blocking && origin.green == green) visit(op, origin.stream, origin.position);
    });
  }

  // Calls visit(Op&, const Origin&) with the last Op of every stream that has something to do.
  template <typename Visit>
  void for_each_tail(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (const Stream* stream : streams_) {
      const std::uint64_t position = stream->position();  // before the tail: that may be later, not earlier
      if (const OpRef last = stream->tail(); last && !last->done()) visit(*last, origin_of(*stream, position));
    }
    for (const Orphan& orphan : orphans_)
      if (!orphan.op->done()) visit(*orphan.op, orphan.origin);
  }

  // Whether it is a stream that the legacy one of the context, or of that green context, waits for.
  bool is_blocking(std::uint64_t id, std::uint64_t green) const {
    const std::scoped_lock lock(mutex_);
    return std::any_of(streams_.begin(), streams_.end(), [&](const Stream* stream) {
      return stream->id() == id && stream->kind() == StreamKind::blocking && stream->green_id() == green;
    });
  }

 private:
  struct Orphan {
    OpRef op;
    Origin origin;
  };
  static Origin origin_of(const Stream& stream, std::uint64_t position) {
    return {stream.kind(), stream.id(), position, stream.green_id()};
  }

  mutable std::mutex mutex_;
  std::vector<Stream*> streams_;
  std::vector<Orphan> orphans_;
};

}  // namespace softgpu::runtime
