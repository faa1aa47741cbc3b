#include "core/stream/default_streams.hpp"

namespace cuprum::core {

using detail::StreamResource;

std::shared_ptr<StreamResource> settled(const std::shared_ptr<StreamResource>& stream) {
  if (stream->context().is_fixed()) return stream;
  return std::make_shared<StreamResource>(stream->context().resolve(), stream->handle);
}

std::shared_ptr<StreamResource> reachable(const std::shared_ptr<StreamResource>& stream) {
  if (stream->handle != CU_STREAM_PER_THREAD || stream->maker == std::this_thread::get_id()) return stream;
  return std::make_shared<StreamResource>(stream->context(), CU_STREAM_LEGACY);
}

}  // namespace cuprum::core
