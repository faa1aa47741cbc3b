// Streams: ordered queues of work for a device.
//
//   Stream upload = device.create_stream();
//   Stream compute = device.create_stream();
//   data.copy_from(host, upload);
//   compute.wait(upload);                   // what follows on `compute` sees the copy
//   launch(compute, config, kernel, data);
//   compute.sync();
#pragma once

#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/event.hpp>
#include <iosfwd>
#include <optional>

namespace cuprum {

class Device;

struct StreamOptions {
  bool nonblocking = true;           ///< does not synchronise with the legacy default stream
  std::optional<int> priority = {};  ///< lower numbers come first; the device's lowest priority when not given
};

/// A cheap handle: copies share one CUDA stream, which is released when the last copy goes or at close(). Releasing
/// does not wait: work that was queued still runs. Threads may share a stream, except that close() must not run while
/// another thread uses it. Made by Device::create_stream.
class CUPRUM_API Stream {
 public:
  /// Wraps a stream that somebody else owns and keeps alive; 0, 1 and 2 are CUDA's default streams of the current
  /// context.
  static Stream from_handle(CUstream_st* handle);

  /// Blocks until all work queued so far is done. Throws DriverError when some of it failed: such an error can come
  /// from any earlier asynchronous call on the device.
  void sync() const;

  /// Makes work queued from now on wait for the latest record of `event`. Does not block; the event may be closed right
  /// after. An event that was never recorded is not waited for.
  void wait(const Event& event) const;

  /// Makes work queued from now on wait for what is queued on `other` now. Does not block.
  void wait(const Stream& other) const;

  /// Puts `event` after all work queued so far, and returns it. Recording again moves it.
  Event record(const Event& event) const;

  /// The same with a new event.
  Event record(const EventOptions& options = {}) const;

  bool is_nonblocking() const;
  int priority() const;
  Device device() const;
  CUstream_st* handle() const;

  /// Releases the stream for all copies; later use throws InvalidArgument. Closing twice does nothing. Buffers that are
  /// to be freed on this stream keep the CUDA stream alive until they are.
  void close();

  friend bool operator==(const Stream& a, const Stream& b) { return a.handle() == b.handle(); }

 private:
  friend struct detail::Access;
  explicit Stream(detail::Shared<detail::StreamResource> shared) : shared_(std::move(shared)) {}
  detail::Shared<detail::StreamResource> shared_;
};

CUPRUM_API std::ostream& operator<<(std::ostream& out, const Stream& stream);

}  // namespace cuprum
