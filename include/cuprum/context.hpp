// Contexts: what streams, events and loaded code of a device live in. Most programs need only the device's primary
// context, which Device uses by itself; a context of one's own keeps a library's streams and failures apart.
//
//   Context context = device.create_context();
//   Stream stream = context.create_stream();      // belongs to it, whatever is current
//   std::optional<Context> before = device.set_current(context);
//
// A context that is given a part of the device is a green context: see <cuprum/device_resources.hpp>.
#pragma once

#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/stream.hpp>
#include <functional>
#include <iosfwd>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class Device;

/// How a thread passes the time when it waits for the device.
enum class ContextScheduling {
  automatic,      ///< the driver decides by the number of processors and contexts
  spin,           ///< fastest, keeps a processor busy
  yield,          ///< spins, but lets other threads run
  blocking_sync,  ///< sleeps
};

/// For Device::create_context.
struct ContextOptions {
  ContextScheduling scheduling = ContextScheduling::automatic;  ///< how threads wait
  bool sync_memory_operations = false;  ///< copies that may return early never do (CU_CTX_SYNC_MEMOPS)
  /// The part of the device that it is to have, which makes it a green context. A green context shares memory, code and
  /// the other options with the primary context, so those can't be given too. Empty: the whole device.
  std::vector<DeviceResource> resources = {};
};

/// A cheap handle: copies share one CUDA context. A context made by Device::create_context is destroyed when the last
/// handle is gone or closed, nothing made in it is left (streams, events, buffers that are yet to be freed on one of
/// its streams), and no thread has it from Device::set_current. Primary and foreign contexts are left to their owners.
/// Threads may share it.
class CUPRUM_API Context {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Context() = default;

  /// Null when it is closed or empty.
  CUctx_st* handle() const noexcept;

  /// Whether it was given a part of the device: see ContextOptions::resources.
  bool is_green() const;

  /// What it was given; all of the device for other contexts than green ones.
  DeviceResources resources() const;

  /// The device that it is on.
  Device device() const;

  /// A stream in this context, which need not be current. Throws InvalidArgument when the priority is outside what the
  /// device has, and for a blocking stream in a green context.
  Stream create_stream(const StreamOptions& options = {}) const;

  /// Gives it up for all copies; later use throws InvalidArgument. Closing twice does nothing. What was made in it
  /// stays usable, and the CUDA context stays with it. Throws InvalidArgument while it is current on the calling
  /// thread.
  void close();

  /// Whether both stand for the same CUDA context; a closed one equals its copies only.
  friend CUPRUM_API bool operator==(const Context& a, const Context& b) noexcept;

 private:
  friend struct detail::Access;
  friend struct std::hash<Context>;
  explicit Context(detail::Shared<detail::ContextResource> shared) : shared_(std::move(shared)) {}
  std::uint64_t identity() const noexcept;
  detail::Shared<detail::ContextResource> shared_;
};

/// Prints "context 0x55d0c8a0 of device 0".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Context& context);

}  // namespace cuprum::inline CUPRUM_ABI

/// By which CUDA context it stands for.
template <>
struct std::hash<cuprum::Context> {
  std::size_t operator()(const cuprum::Context& context) const noexcept {
    return std::hash<std::uint64_t>()(context.identity());
  }
};
