#include "core/stream/default_streams.hpp"

#include <array>
#include <atomic>
#include <cstdlib>

#include "support/environment.hpp"

namespace cuprum::core {

using detail::Access;
using detail::Closable;
using detail::StreamResource;

namespace {

/// What all handles of a default stream share.
struct DefaultStream {
  DefaultStream(CUstream name, const ContextChoice& context) : resource(context, name, StreamResource::Permanent()) {}

  StreamResource resource;
  Closable<StreamResource> shared{std::shared_ptr<StreamResource>(std::shared_ptr<void>(), &resource)};
};

Stream handle_of(DefaultStream& stream) {
  return Access::wrap<Stream>(
      std::shared_ptr<Closable<StreamResource>>(std::shared_ptr<void>(), &stream.shared));  // owns nothing
}

/// Those of one name by their device, made when they are first asked for.
class DefaultStreams {
 public:
  explicit DefaultStreams(CUstream name) : name_(name) {}

  DefaultStream* of(int device) {
    std::atomic<DefaultStream*>& place = streams_[static_cast<std::size_t>(device)];
    DefaultStream* known = place.load(std::memory_order_acquire);
    if (known) return known;
    auto made = std::make_unique<DefaultStream>(name_, ContextChoice::current_of(device));
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
  static DefaultStream& legacy = *new DefaultStream(CU_STREAM_LEGACY, ContextChoice::current());
  static DefaultStream& per_thread = *new DefaultStream(CU_STREAM_PER_THREAD, ContextChoice::current());
  return handle_of(name == CU_STREAM_PER_THREAD ? per_thread : legacy);
}

Stream default_stream(CUstream name, int device) {
  static DefaultStreams& legacy = *new DefaultStreams(CU_STREAM_LEGACY);
  static DefaultStreams& per_thread = *new DefaultStreams(CU_STREAM_PER_THREAD);
  if (device >= DefaultStreams::most_devices)
    return Access::make<Stream>(std::make_shared<StreamResource>(ContextChoice::current_of(device), name));
  return handle_of(*(name == CU_STREAM_PER_THREAD ? per_thread : legacy).of(device));
}

detail::Shared<StreamResource> closed_stream() {
  static Closable<StreamResource>& closed = *new Closable<StreamResource>;
  return {std::shared_ptr<void>(), &closed};
}

CUstream usual_default_stream() {
  const std::optional<std::string> chosen = support::environment("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
  const bool per_thread = chosen && std::strtol(chosen->c_str(), nullptr, 10) != 0;
  return per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

std::shared_ptr<StreamResource> settled(const std::shared_ptr<StreamResource>& stream) {
  if (stream->context().is_fixed()) return stream;
  return std::make_shared<StreamResource>(stream->context().resolve(), stream->handle);
}

std::shared_ptr<StreamResource> reachable(const std::shared_ptr<StreamResource>& stream) {
  if (stream->handle != CU_STREAM_PER_THREAD || stream->maker == std::this_thread::get_id()) return stream;
  return std::make_shared<StreamResource>(stream->context(), CU_STREAM_LEGACY);
}

}  // namespace cuprum::core
