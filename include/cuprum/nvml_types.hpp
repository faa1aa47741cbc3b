// Structs of NVML's C interface, beyond those of <cuprum/nvml.hpp> itself. Those with a `version` have it set already.
#pragma once

#include <cuprum/detail/export.hpp>

struct nvmlDevice_st;
struct nvmlEventSet_st;
struct nvmlSystemEventSet_st;

namespace cuprum::inline CUPRUM_ABI::nvml {

/// nvmlEventSet_t: what waits for events of devices.
using EventSet = ::nvmlEventSet_st*;
/// nvmlSystemEventSet_t: what waits for events of the machine.
using SystemEventSet = ::nvmlSystemEventSet_st*;

/// The branch of the driver: nvmlSystemDriverBranchInfo_t.
struct DriverBranch {
  unsigned version = sizeof(DriverBranch) | 1u << 24;  ///< of the struct
  char branch[80] = "";                                ///< such as "r580_00"
};

/// nvmlPciInfoExt_t: PciInfo with the class of the device.
struct PciInfoExt {
  unsigned version = sizeof(PciInfoExt) | 1u << 24;  ///< of the struct
  unsigned domain = 0;                               ///< its number
  unsigned bus = 0;                                  ///< 0 to 255
  unsigned device = 0;                               ///< 0 to 31
  unsigned device_id = 0;     ///< the device's number in the upper, the vendor's in the lower 16 bits
  unsigned subsystem_id = 0;  ///< that of the board, in the same way
  unsigned base_class = 0;    ///< of PCI's classes
  unsigned sub_class = 0;     ///< the same
  char bus_id[32] = "";       ///< "00000000:65:00.0"
};

/// nvmlClockOffset_t.
struct ClockOffset {
  unsigned version = sizeof(ClockOffset) | 1u << 24;  ///< of the struct
  int type = 0;                                       ///< a ClockType, as a question
  int pstate = 0;                                     ///< a performance state, as a question
  int offset = 0;                                     ///< in MHz
  int least = 0;                                      ///< that it can be
  int most = 0;                                       ///< that it can be
};

/// nvmlCoolerInfo_t.
struct CoolerInfo {
  unsigned version = sizeof(CoolerInfo) | 1u << 24;  ///< of the struct
  unsigned index = 0;                                ///< which cooler, as a question
  int signal_type = 0;                               ///< how it is controlled
  int target = 0;                                    ///< what it cools, a bit each
};

/// nvmlFanSpeedInfo_t.
struct FanSpeed {
  unsigned version = sizeof(FanSpeed) | 1u << 24;  ///< of the struct
  unsigned fan = 0;                                ///< which, as a question
  unsigned speed = 0;                              ///< turns per minute
};

/// nvmlTemperature_t.
struct Temperature {
  unsigned version = sizeof(Temperature) | 1u << 24;  ///< of the struct
  int sensor = 0;                                     ///< a TemperatureSensor, as a question
  int celsius = 0;                                    ///< degrees
};

/// nvmlMarginTemperature_t.
struct MarginTemperature {
  unsigned version = sizeof(MarginTemperature) | 1u << 24;  ///< of the struct
  int celsius = 0;                                          ///< degrees that are left
};

/// nvmlGpuThermalSettings_t.
struct ThermalSettings {
  /// One of its sensors.
  struct Sensor {
    int controller;   ///< what measures
    int default_min;  ///< degrees
    int default_max;  ///< degrees
    int current;      ///< degrees
    int target;       ///< what is measured
  };
  unsigned count = 0;      ///< how many there are
  Sensor sensors[3] = {};  ///< the first of them
};

/// nvmlDeviceAttributes_t.
struct DeviceAttributes {
  unsigned multiprocessors = 0;          ///< how many it has
  unsigned shared_copy_engines = 0;      ///< the same
  unsigned shared_decoders = 0;          ///< the same
  unsigned shared_encoders = 0;          ///< the same
  unsigned shared_jpeg_engines = 0;      ///< the same
  unsigned shared_ofas = 0;              ///< the same, of engines for optical flow
  unsigned gpu_instance_slices = 0;      ///< the same
  unsigned compute_instance_slices = 0;  ///< the same
  unsigned long long memory_mb = 0;      ///< MiB
};

/// nvmlC2cModeInfo_v1_t.
struct C2cModeInfo {
  unsigned enabled = 0;  ///< whether chips are coupled
};

/// nvmlRepairStatus_t.
struct RepairStatus {
  unsigned version = sizeof(RepairStatus) | 1u << 24;  ///< of the struct
  unsigned channel_pending = 0;                        ///< whether a repair of memory waits for a reset
  unsigned tpc_pending = 0;                            ///< the same, of multiprocessors
};

/// nvmlDeviceAddressingMode_t.
struct AddressingMode {
  unsigned version = sizeof(AddressingMode) | 1u << 24;  ///< of the struct
  unsigned value = 0;                                    ///< which
};

/// nvmlGpuDynamicPstatesInfo_t.
struct DynamicPstates {
  /// How busy a part of the device is.
  struct Utilization {
    unsigned is_present;     ///< whether there is this part
    unsigned percentage;     ///< how busy it is
    unsigned inc_threshold;  ///< from where on the clocks go up
    unsigned dec_threshold;  ///< below which they go down
  };
  unsigned flags = 0;               ///< none that mean anything
  Utilization utilization[8] = {};  ///< graphics, memory, video, bus, and four that are not used
};

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field_id = 0;       ///< which, as a question
  unsigned scope_id = 0;       ///< of what, as a question
  long long timestamp = 0;     ///< microseconds since 1970
  long long latency_usec = 0;  ///< how long it took
  int value_type = 0;          ///< which of the values below it is
  int result = 0;              ///< a Result
  /// The value.
  union {
    double real;                           ///< type 0
    unsigned unsigned_int;                 ///< 1
    unsigned long unsigned_long;           ///< 2
    unsigned long long unsigned_longlong;  ///< 3
    long long signed_longlong;             ///< 4
    int signed_int;                        ///< 5
    unsigned short unsigned_short;         ///< 6
  } value = {};
};

/// nvmlEventData_t.
struct EventData {
  ::nvmlDevice_st* device = nullptr;  ///< to which it happened
  unsigned long long type = 0;        ///< what happened
  unsigned long long data = 0;        ///< the Xid of a critical error
  unsigned gpu_instance_id = 0;       ///< of a GPU that is divided
  unsigned compute_instance_id = 0;   ///< of the part of that
};

/// nvmlSystemEventSetCreateRequest_t and nvmlSystemEventSetFreeRequest_t.
struct SystemEventSetRequest {
  unsigned version = sizeof(SystemEventSetRequest) | 1u << 24;  ///< of the struct
  SystemEventSet set = nullptr;                                 ///< the set
};

/// nvmlSystemRegisterEventRequest_t.
struct SystemRegisterEventRequest {
  unsigned version = sizeof(SystemRegisterEventRequest) | 1u << 24;  ///< of the struct
  unsigned long long types = 0;                                      ///< which
  SystemEventSet set = nullptr;                                      ///< for which
};

/// nvmlSystemEventData_v1_t.
struct SystemEventData {
  unsigned long long type = 0;  ///< what happened
  unsigned gpu_id = 0;          ///< to which, by its place on PCI
};

/// nvmlSystemEventSetWaitRequest_t.
struct SystemEventSetWaitRequest {
  unsigned version = sizeof(SystemEventSetWaitRequest) | 1u << 24;  ///< of the struct
  unsigned timeout_ms = 0;                                          ///< how long to wait
  SystemEventSet set = nullptr;                                     ///< for which
  SystemEventData* data = nullptr;                                  ///< where to
  unsigned data_size = 0;                                           ///< room there
  unsigned num_event = 0;                                           ///< how many there were
};

}  // namespace cuprum::inline CUPRUM_ABI::nvml
