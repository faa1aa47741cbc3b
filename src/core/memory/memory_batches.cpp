#include <cuprum/error.hpp>
#include <cuprum/memory_batches.hpp>
#include <cuprum/stream.hpp>
#include <string_view>

#include "core/memory/buffer_resource.hpp"
#include "core/memory/copy.hpp"
#include "core/memory/location.hpp"
#include "core/memory/managed_memory.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::Kept;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

/// The ranges of a batch as the driver wants them.
struct Ranges {
  explicit Ranges(const BufferBatch& buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const Kept<detail::BufferResource>& buffer = kept.emplace_back(Access::keep(buffers[i]));
      pointers.push_back(buffer->pointer);
      sizes.push_back(buffer->size);
    }
  }
  std::vector<Kept<detail::BufferResource>> kept;
  std::vector<CUdeviceptr> pointers;
  std::vector<std::size_t> sizes;
};

/// Options, or places, with equal neighbours told once: the i-th holds from the range of number starts[i] on.
template <typename T>
struct Runs {
  template <typename Values, typename Convert>
  Runs(const Values& each, std::size_t count, Convert convert) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0 && each(i) == each(i - 1)) continue;
      values.push_back(convert(each(i)));
      starts.push_back(i);
    }
  }
  std::vector<T> values;
  std::vector<std::size_t> starts;
};

void check_not_empty(const BufferBatch& buffers, std::string_view what) {
  if (buffers.size() == 0) throw InvalidArgument(text(what, ": there is no buffer in the batch"));
}

void check_copies(const BufferBatch& srcs, const BufferBatch& dsts) {
  check_not_empty(srcs, "copy_batch");
  check_not_empty(dsts, "copy_batch");
  if (srcs.size() != dsts.size())
    throw InvalidArgument(text("copy_batch: ", srcs.size(), " sources, but ", dsts.size(), " destinations"));
  for (std::size_t i = 0; i < srcs.size(); ++i) {
    if (srcs[i].size() == dsts[i].size()) continue;
    throw InvalidArgument(text("copy_batch: copy number ", i, " is of ", srcs[i].size(), " bytes to a destination of ",
                               dsts[i].size(), " bytes: the sizes must be equal"));
  }
}

/// `options(i)` are those of the i-th copy.
template <typename OptionsOf>
void copy_all(const Stream& stream, const BufferBatch& srcs, const BufferBatch& dsts, const OptionsOf& options) {
  const std::size_t count = srcs.size();
  if (!driver::api().cuMemcpyBatchAsync.function) {
    for (std::size_t i = 0; i < count; ++i) {
      core::check_ordinary_copy_will_do(options(i), text("copy_batch: copy number ", i), "13.0");
    }
    for (std::size_t i = 0; i < count; ++i) {
      dsts[i].copy_from(srcs[i], stream);
    }
    return;
  }
  Ranges from(srcs);
  Ranges to(dsts);
  Runs<CUmemcpyAttributes> attributes(options, count, core::cu_attributes);
  const Kept<StreamResource> queue = Access::keep(stream);
  ContextGuard guard(queue->context());
  driver::call<&Api::cuMemcpyBatchAsync>(Doing{[&] { return text("copying ", count, " buffers on ", stream); }},
                                         to.pointers.data(), from.pointers.data(), from.sizes.data(), count,
                                         attributes.values.data(), attributes.starts.data(), attributes.values.size(),
                                         queue->handle);
}

void check_managed(const BufferBatch& buffers, std::string_view what) {
  check_not_empty(buffers, what);
  for (std::size_t i = 0; i < buffers.size(); ++i) core::require_managed(buffers[i], what);
}

void check_locations(const BufferBatch& buffers, const LocationBatch& locations, std::string_view what) {
  if (locations.is_one_for_all() || locations.size() == buffers.size()) return;
  throw InvalidArgument(text(what, ": ", buffers.size(), " buffers, but ", locations.size(),
                             " locations; give one for each or one for all"));
}

template <auto Entry>
void queue_to_locations(const BufferBatch& buffers, const LocationBatch& locations, const Stream& stream,
                        const char* doing) {
  Ranges ranges(buffers);
  Runs<CUmemLocation> places([&](std::size_t i) -> const Location& { return locations[i]; }, buffers.size(),
                             core::cu_location);
  const Kept<StreamResource> queue = Access::keep(stream);
  ContextGuard guard(queue->context());
  driver::call<Entry>(Doing{[&] { return text(doing, ' ', buffers.size(), " managed buffers on ", stream); }},
                      ranges.pointers.data(), ranges.sizes.data(), buffers.size(), places.values.data(),
                      places.starts.data(), places.values.size(), 0ull, queue->handle);
}

}  // namespace

// Not in the header, which would make every file that includes it compile them.
BufferBatch::BufferBatch(std::initializer_list<Buffer> buffers) {
  for (const Buffer& buffer : buffers) items_.push_back(&buffer);
}

LocationBatch::LocationBatch(const Location& one) : items_{one}, is_one_for_all_(true) {}

LocationBatch::LocationBatch(std::initializer_list<Location> each) : items_(each) {}

void copy_batch(const Stream& stream, const BufferBatch& srcs, const BufferBatch& dsts, const CopyOptions& options) {
  check_copies(srcs, dsts);
  core::check_takes_attributes(stream, "copy_batch");
  copy_all(stream, srcs, dsts, [&](std::size_t) -> const CopyOptions& { return options; });
}

void copy_batch(const Stream& stream, const BufferBatch& srcs, const BufferBatch& dsts,
                std::span<const CopyOptions> options) {
  check_copies(srcs, dsts);
  if (options.size() != srcs.size())
    throw InvalidArgument(text("copy_batch: ", srcs.size(), " copies, but ", options.size(), " options"));
  core::check_takes_attributes(stream, "copy_batch");
  copy_all(stream, srcs, dsts, [&](std::size_t i) -> const CopyOptions& { return options[i]; });
}

void prefetch_batch(const Stream& stream, const BufferBatch& buffers, const LocationBatch& locations) {
  check_not_empty(buffers, "prefetch_batch");
  check_locations(buffers, locations, "prefetch_batch");
  check_managed(buffers, "prefetch_batch");
  if (driver::api().cuMemPrefetchBatchAsync.function)
    return queue_to_locations<&Api::cuMemPrefetchBatchAsync>(buffers, locations, stream, "prefetching");
  for (std::size_t i = 0; i < buffers.size(); ++i) core::prefetch(buffers[i], locations[i], stream);
}

void discard_batch(const Stream& stream, const BufferBatch& buffers) {
  check_managed(buffers, "discard_batch");
  core::discard(buffers, stream);
}

void discard_prefetch_batch(const Stream& stream, const BufferBatch& buffers, const LocationBatch& locations) {
  check_not_empty(buffers, "discard_prefetch_batch");
  check_locations(buffers, locations, "discard_prefetch_batch");
  check_managed(buffers, "discard_prefetch_batch");
  core::discard_prefetch(buffers, locations, stream);
}

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

void discard(const BufferBatch& buffers, const Stream& stream) {
  Ranges ranges(buffers);
  const Kept<StreamResource> queue = Access::keep(stream);
  ContextGuard guard(queue->context());
  driver::call<&Api::cuMemDiscardBatchAsync>(
      Doing{[&] { return text("discarding ", buffers.size(), " managed buffers on ", stream); }},
      ranges.pointers.data(), ranges.sizes.data(), buffers.size(), 0ull, queue->handle);
}

void discard_prefetch(const BufferBatch& buffers, const LocationBatch& locations, const Stream& stream) {
  queue_to_locations<&Api::cuMemDiscardAndPrefetchBatchAsync>(buffers, locations, stream, "discarding and prefetching");
}

}  // namespace cuprum::core
