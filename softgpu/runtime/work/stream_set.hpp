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
  void add(Stream& stream) {
    const std::scoped_lock lock(mutex_);
    streams_.push_back(&stream);
  }

  void remove(Stream& stream) {
    const std::scoped_lock lock(mutex_);
    std::erase(streams_, &stream);
    std::erase_if(orphans_, [](const Orphan& orphan) { return orphan.op->done(); });
    if (OpRef last = stream.tail(); last && !last->done())
      orphans_.push_back({std::move(last), stream.kind(), stream.id(), stream.position()});
  }

  // Calls visit(Op&, stream, position) with the last Op of every stream that is ordered against the legacy one.
  template <typename Visit>
  void for_each_blocking_tail(Visit&& visit) {
    for_each_tail([&](Op& op, StreamKind kind, std::uint64_t stream, std::uint64_t position) {
      if (kind == StreamKind::blocking) visit(op, stream, position);
    });
  }

  template <typename Visit>
  void for_each_tail(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (const Stream* stream : streams_) {
      const std::uint64_t position = stream->position();  // before the tail: that may be later, not earlier
      if (const OpRef last = stream->tail(); last && !last->done())
        visit(*last, stream->kind(), stream->id(), position);
    }
    for (const Orphan& orphan : orphans_)
      if (!orphan.op->done()) visit(*orphan.op, orphan.kind, orphan.stream, orphan.position);
  }

  // Whether it is a stream that the legacy one waits for.
  bool is_blocking(std::uint64_t id) const {
    const std::scoped_lock lock(mutex_);
    return std::any_of(streams_.begin(), streams_.end(), [&](const Stream* stream) {
      return stream->id() == id && stream->kind() == StreamKind::blocking;
    });
  }

 private:
  struct Orphan {
    OpRef op;
    StreamKind kind;
    std::uint64_t stream, position;
  };
  mutable std::mutex mutex_;
  std::vector<Stream*> streams_;
  std::vector<Orphan> orphans_;
};

}  // namespace softgpu::runtime
