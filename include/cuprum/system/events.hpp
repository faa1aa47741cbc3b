// Waiting for something to happen: see <cuprum/system.hpp>.
#pragma once

#include <chrono>
#include <cuprum/detail/export.hpp>
#include <cuprum/system/device.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::system {

/// Something that happened to a device.
struct EventData {
  Device device;                                ///< to which
  EventType event_type = EventType::none;       ///< what
  unsigned long long event_data = 0;            ///< the number of a critical error (Xid); 0 for other events
  std::optional<unsigned> gpu_instance_id;      ///< of a GPU that is divided (MIG)
  std::optional<unsigned> compute_instance_id;  ///< the same, of the part of that
};

/// What waits for events of a device. Cheap to copy; all copies share one. Threads may share it.
class CUPRUM_API DeviceEvents {
 public:
  /// The next event. Empty when there was none in that time.
  std::optional<EventData> wait(std::chrono::milliseconds timeout) const;

 private:
  friend class Device;
  DeviceEvents(const Device& device, const std::vector<EventType>& events);

  std::shared_ptr<void> set_;
};

/// Something that happened to the devices of a machine.
struct CUPRUM_API SystemEvent {
  SystemEventType event_type = SystemEventType::unbind;  ///< what
  unsigned gpu_id = 0;                                   ///< to which, by its place on PCI

  /// The device.
  Device device() const;
};

/// What waits for events of the machine. Cheap to copy; all copies share one.
class CUPRUM_API RegisteredSystemEvents {
 public:
  /// Waits for such events from now on.
  explicit RegisteredSystemEvents(const std::vector<SystemEventType>& events);

  /// The next events, `buffer_size` at most. Empty when there was none in that time.
  std::vector<SystemEvent> wait(std::chrono::milliseconds timeout, unsigned buffer_size = 1) const;

 private:
  std::shared_ptr<void> set_;
};

/// Waits for events of the machine from now on.
CUPRUM_API RegisteredSystemEvents register_events(const std::vector<SystemEventType>& events);

}  // namespace cuprum::inline CUPRUM_ABI::system
