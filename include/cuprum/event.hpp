// Events: points in a stream that the host or another stream can wait for, and between which time can be measured.
//
//   Event start = stream.record({.timing_enabled = true});
//   launch(stream, config, kernel, data);
//   Event end = stream.record({.timing_enabled = true});
//   end.sync();
//   std::cout << end - start << " ms\n";
#pragma once

#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <functional>
#include <iosfwd>

namespace cuprum::inline CUPRUM_ABI {

class Context;
class Device;
class IPCEventDescriptor;

/// What an event is to be good for.
struct EventOptions {
  bool timing_enabled = false;  ///< time can be measured with it; costs a little
  bool blocking_sync = false;   ///< sync() sleeps instead of spinning
  bool ipc_enabled = false;     ///< can be shared with other processes; not together with timing, recorded only once
};

/// A cheap handle: copies share one CUDA event, which is released when the last copy goes or at close(). Threads may
/// share it. Made by Device::create_event and Stream::record.
class CUPRUM_API Event {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Event() = default;

  /// Wraps an event that somebody else owns and keeps alive. The driver doesn't tell its context and options, so it is
  /// taken for one of the current context with timing.
  static Event from_handle(CUevent_st* handle);

  /// Opens an event of another process. Throws InvalidArgument when it is of this process or on a device that this one
  /// does not see, DriverError when the driver does not know it, such as when the other process is gone.
  static Event from_ipc_descriptor(const IPCEventDescriptor& descriptor);

  /// For other processes, which can wait for the event as long as this one keeps it. Throws InvalidArgument unless it
  /// is ipc_enabled.
  IPCEventDescriptor ipc_descriptor() const;

  /// Blocks until the work before the latest record is done; at once when it was never recorded.
  /// Throws DriverError when that work failed.
  void sync() const;

  /// Whether the work before the latest record is done. Does not block. Throws as sync() does.
  bool is_done() const;

  /// As EventOptions said; true for a wrapped event, of which nobody knows.
  bool is_timing_enabled() const;
  /// As EventOptions said; false for a wrapped event.
  bool is_blocking_sync() const;
  /// As EventOptions said; true for one of another process.
  bool is_ipc_enabled() const;
  /// The device of its context.
  Device device() const;
  /// The context that it was made in.
  Context context() const;
  /// Null when it is closed or empty.
  CUevent_st* handle() const noexcept;

  /// Ends the event for all copies; later use throws InvalidArgument. Closing twice does nothing.
  void close();

  /// Milliseconds from `start` to `end`. Both must be open, timing-enabled, recorded and done, and of one context: else
  /// InvalidArgument says which of them is not fit, and why.
  friend CUPRUM_API float operator-(const Event& end, const Event& start);

  /// The same as a std::chrono duration, of any unit; one that counts in whole numbers is cut off as
  /// std::chrono::duration_cast does: end.since<std::chrono::microseconds>(start).
  template <typename Duration>
  Duration since(const Event& start) const {
    using Unit = typename Duration::period;
    const double milliseconds = static_cast<double>(*this - start);
    return Duration(
        static_cast<typename Duration::rep>(milliseconds * (static_cast<double>(Unit::den) / Unit::num / 1000)));
  }

  /// Whether both stand for the same CUDA event; a closed one equals its copies only.
  friend CUPRUM_API bool operator==(const Event& a, const Event& b) noexcept;

 private:
  friend struct detail::Access;
  friend struct std::hash<Event>;
  std::uint64_t identity() const noexcept;
  explicit Event(detail::Shared<detail::EventResource> shared) : shared_(std::move(shared)) {}
  detail::Shared<detail::EventResource> shared_;
};

/// Prints "event 0x55d0c8a0 on device 0".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Event& event);

}  // namespace cuprum::inline CUPRUM_ABI

/// By which CUDA event it stands for.
template <>
struct std::hash<cuprum::Event> {
  std::size_t operator()(const cuprum::Event& event) const noexcept {
    return std::hash<std::uint64_t>()(event.identity());
  }
};
