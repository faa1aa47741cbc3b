#include "core/stream/default_streams.hpp"

#include <array>
#include <atomic>
#include <cstdlib>

#include "support/environment.hpp"

namespace cuprum::core {

using detail::Access;
using detail::Closable;
using detail::Kept;
using detail::StreamResource;

namespace {

/// What all handles of a default stream share.
using DefaultStream = Closable<StreamResource>;

std::unique_ptr<DefaultStream> make_default_stream(CUstream name, const ContextChoice& context) {
  return std::make_unique<DefaultStream>(DefaultStream::Permanent(), context, name, StreamResource::Permanent());
}

/// What a closed handle has in the place of one of these.
struct ClosedStream final : detail::SharedState {
  explicit ClosedStream(CUstream name) {
    set_handle(reinterpret_cast<std::uintptr_t>(name));
    close();
  }
  void release() noexcept override {}
};

/// Those of one name by their device, made when they are first asked for.
class DefaultStreams {
 public:
  explicit DefaultStreams(CUstream name) : name_(name) {}

  DefaultStream* of(int device) {
    std::atomic<DefaultStream*>& place = streams_[static_cast<std::size_t>(device)];
    DefaultStream* known = place.load(std::memory_order_acquire);
    if (known) return known;
    auto made = make_default_stream(name_, ContextChoice::current_of(device));
    if (place.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
    return known;
  }

  static constexpr int most_devices = 64;  // that a driver has

 private:
  const CUstream name_;
  std::array<std::atomic<DefaultStream*>, most_devices> streams_{};
};

}  // namespace

Stream default_stream(CUstream name) {
  static DefaultStream& legacy = *make_default_stream(CU_STREAM_LEGACY, ContextChoice::current()).release();
  static DefaultStream& per_thread = *make_default_stream(CU_STREAM_PER_THREAD, ContextChoice::current()).release();
  return Access::wrap<Stream>(name == CU_STREAM_PER_THREAD ? per_thread : legacy);
}

Stream default_stream(CUstream name, int device) {
  static DefaultStreams& legacy = *new DefaultStreams(CU_STREAM_LEGACY);
  static DefaultStreams& per_thread = *new DefaultStreams(CU_STREAM_PER_THREAD);
  if (device >= DefaultStreams::most_devices)
    return Access::make<Stream, StreamResource>(ContextChoice::current_of(device), name);
  return Access::wrap<Stream>(*(name == CU_STREAM_PER_THREAD ? per_thread : legacy).of(device));
}

detail::SharedState& closed_stream(CUstream name) {
  static ClosedStream& legacy = *new ClosedStream(CU_STREAM_LEGACY);  // never destroyed: it stays its own handle
  static ClosedStream& per_thread = *new ClosedStream(CU_STREAM_PER_THREAD);
  return name == CU_STREAM_PER_THREAD ? per_thread : legacy;
}

CUstream usual_default_stream() {
  const std::optional<std::string> chosen = support::environment("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
  const bool per_thread = chosen && std::strtol(chosen->c_str(), nullptr, 10) != 0;
  return per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

Kept<StreamResource> settled(Kept<StreamResource> stream) {
  if (stream->context().is_fixed()) return stream;
  return detail::make_kept<StreamResource>(stream->context().resolve(), stream->handle);
}

Kept<StreamResource> reachable(const Kept<StreamResource>& stream) {
  if (stream->handle != CU_STREAM_PER_THREAD || stream->maker == std::this_thread::get_id()) return stream;
  return detail::make_kept<StreamResource>(stream->context(), CU_STREAM_LEGACY);
}

Stream handle_of(const Kept<StreamResource>& stream) {
  return Access::make<Stream, StreamResource>(stream->context(), stream->handle,
                                              std::make_shared<const Kept<StreamResource>>(stream));
}

}  // namespace cuprum::core
