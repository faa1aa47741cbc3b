// The streams of a context, and what destroyed ones have left under way.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "softgpu/runtime/stream.hpp"

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
    if (OpRef last = stream.tail(); last && !last->done()) orphans_.push_back({std::move(last), stream.kind()});
  }

  // Calls visit(Op&) with the last Op of every stream that is ordered against the legacy one.
  template <typename Visit>
  void for_each_blocking_tail(Visit&& visit) {
    for_each_tail([&](Op& op, StreamKind kind) {
      if (kind == StreamKind::blocking) visit(op);
    });
  }

  template <typename Visit>
  void for_each_tail(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (const Stream* stream : streams_)
      if (const OpRef last = stream->tail(); last && !last->done()) visit(*last, stream->kind());
    for (const Orphan& orphan : orphans_)
      if (!orphan.op->done()) visit(*orphan.op, orphan.kind);
  }

 private:
  struct Orphan {
    OpRef op;
    StreamKind kind;
  };
  std::mutex mutex_;
  std::vector<Stream*> streams_;
  std::vector<Orphan> orphans_;
};

}  // namespace softgpu::runtime
