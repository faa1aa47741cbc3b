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
#include <cuprum/detail/foreign_stream.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/event.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <utility>

namespace cuprum::inline CUPRUM_ABI {

class Context;
class Device;
class DeviceResources;
class Stream;
namespace graph {
class GraphBuilder;
}

/// Something of another library that offers a CUDA stream: it has a member function cuda_stream(), or it converts to
/// CUstream (cudaStream_t is the same type), or it has stream(), handle(), value() or get() that return one. A
/// CUstream, rmm::cuda_stream_view, c10::cuda::CUDAStream and cuda::stream_ref do. So do a std::shared_ptr and a
/// std::unique_ptr to such a thing.
template <typename T>
concept IsStreamType = detail::OffersStream<T> && !std::same_as<std::remove_cvref_t<T>, Stream>;

/// For Device::create_stream and Context::create_stream.
struct StreamOptions {
  bool nonblocking = true;           ///< does not synchronise with the legacy default stream
  std::optional<int> priority = {};  ///< lower numbers come first; the device's lowest priority when not given
};

/// A cheap handle: copies share one CUDA stream, which is released when the last copy goes or at close(). Releasing
/// does not wait: work that was queued still runs. Threads may share a stream. Made by Device::create_stream and
/// Context::create_stream.
///
/// A stream belongs to the context it was made in, and what is queued on it happens there, whatever is current. Only
/// the default streams are different: they are names, and each use means the stream that has this name in the context
/// that is current then (device 0's primary context when none is).
class CUPRUM_API Stream {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Stream() = default;

  /// CUDA's legacy default stream. What is queued on it waits for all earlier work on the context's blocking streams
  /// (not nonblocking), and their later work waits for it.
  static Stream legacy_default();

  /// CUDA's default stream of the calling thread: each thread means another stream by it. It synchronises with the
  /// legacy default stream as blocking streams do, and with nothing else.
  static Stream per_thread_default();

  /// Wraps a stream that somebody else owns. The stream stays theirs: close() only lets go of it. It must stay valid as
  /// long as a copy of the result, or a buffer that is to be freed on it, is there; `owner` is kept as long to see to
  /// that. 0 and 1 are the legacy default stream, 2 is that of the thread. Throws DriverError for what is no stream.
  static Stream from_handle(CUstream_st* handle, std::shared_ptr<const void> owner = {});

  /// Wraps the stream of a foreign object, and keeps the object: a copy of it, or itself when it is moved in.
  template <IsStreamType Foreign>
  static Stream from_foreign(Foreign&& object) {
    CUstream_st* handle = detail::offered_stream(object);
    return from_handle(handle, detail::keep_foreign(std::forward<Foreign>(object)));
  }

  /// Blocks until all work queued so far is done. Throws DriverError when some of it failed: such an error can come
  /// from any earlier asynchronous call on the device.
  void sync() const;

  /// Whether all work queued so far is done. Does not block. Throws as sync() does.
  bool is_done() const;

  /// Makes work queued from now on wait for the latest record of `event`, which may be of another context or device.
  /// Does not block; the event may be closed or recorded again right after. An event that was never recorded is not
  /// waited for.
  void wait(const Event& event) const;

  /// Makes work queued from now on wait for what is queued on `other` now; it may be of another context or device. Does
  /// not block; the other stream may be closed right after.
  void wait(const Stream& other) const;

  /// The same for a foreign object's stream. The object is needed only during the call.
  template <IsStreamType Foreign>
  void wait(const Foreign& other) const {
    wait(from_handle(detail::offered_stream(other)));
  }

  /// Puts `event` after all work queued so far, and returns it. Recording again moves it; who waits for the earlier
  /// record already is not affected. Throws InvalidArgument when the event is of another context than the stream, or
  /// shared between processes: those are recorded once, when they are made.
  Event record(const Event& event) const;

  /// The same with a new event, made in the stream's context.
  Event record(const EventOptions& options = {}) const;

  /// Calls `function` on a thread of the driver when all work queued so far is done; later work waits until it returns.
  /// It must not use CUDA, through the library or otherwise (so it must not drop the last handle of something), nor
  /// wait for what needs other work of the device. What it throws goes to the log hook. When work before it failed, it
  /// is not called. It is destroyed later, with what it owns, by a thread that waits for a stream, an event or a
  /// device, or makes a host call; so it may own buffers and streams.
  void host_call(std::function<void()> function) const;

  /// Keeps `owner` until all work queued so far is done, such as that of page-locked memory which a copy reads. While
  /// the stream is being captured, the graph keeps it. It is released as what host_call() is given.
  void keep(std::shared_ptr<const void> owner) const;

  /// A builder that captures what is queued on this stream: see <cuprum/graph/builder.hpp>.
  graph::GraphBuilder create_graph_builder() const;

  /// Whether it does not synchronise with the legacy default stream, as the driver says.
  bool is_nonblocking() const;
  /// Lower numbers come first.
  int priority() const;

  /// A number that no other stream of the process has had or will have.
  unsigned long long id() const;
  /// The device of its context().
  Device device() const;

  /// The context it belongs to; for a default stream, the one that its work would go to now.
  Context context() const;
  /// What its context() was given of the device: all, unless that is a green one.
  DeviceResources resources() const;
  /// Null when it is closed or empty.
  CUstream_st* handle() const noexcept;

  /// Ends the stream for all copies; later use throws InvalidArgument. Closing twice does nothing. The CUDA stream is
  /// released when nothing needs it any more: buffers that are to be freed on it, prepared launches, calls on other
  /// threads. A default stream is nobody's: closing lets go of this handle only.
  void close();

  /// Whether both stand for the same CUDA stream, which for default streams means the same name, whatever the device;
  /// a closed one equals its copies only.
  friend CUPRUM_API bool operator==(const Stream& a, const Stream& b) noexcept;

 private:
  friend struct detail::Access;
  friend struct std::hash<Stream>;
  explicit Stream(detail::Shared<detail::StreamResource> shared) : shared_(std::move(shared)) {}
  std::uint64_t identity() const noexcept;
  detail::Shared<detail::StreamResource> shared_;
};

/// The default stream to use when nobody says which: the legacy one, or that of the thread when the environment
/// variable CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM has a number other than 0, as cuda.core has it. The variable is
/// looked at each time.
CUPRUM_API Stream default_stream();

/// Prints "stream 0x55d0c8a0 on device 0", or which default stream it is.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Stream& stream);

}  // namespace cuprum::inline CUPRUM_ABI

/// By which CUDA stream it stands for.
template <>
struct std::hash<cuprum::Stream> {
  std::size_t operator()(const cuprum::Stream& stream) const noexcept {
    return std::hash<std::uint64_t>()(stream.identity());
  }
};
