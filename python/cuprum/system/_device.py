"""A device as NVML knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuprum._arguments import names_the_nearest_keyword, names_the_nearest_keywords
from cuprum._core import SystemDevice
from cuprum.system._choices import member
from cuprum.system._clock import ClockInfo, ClockOffsets, GpuDynamicPstatesInfo, GpuDynamicPstatesUtilization
from cuprum.system._cooling import CoolerInfo, FanInfo, Temperature, ThermalSensor, ThermalSettings
from cuprum.system._events import DeviceEvents, EventData
from cuprum.system._fields import FieldValue, FieldValues, as_pairs
from cuprum.system._links import NvlinkInfo, PciInfo
from cuprum.system._memory import BAR1MemoryInfo, DeviceAttributes, MemoryInfo, ProcessInfo, Utilization
from cuprum.system._parts import InforomInfo, MigInfo, RepairStatus
from cuprum.system.typing import (
    AddressingMode,
    AffinityScope,
    ClocksEventReasons,
    ClockType,
    DeviceArch,
    EventType,
    GpuP2PCapsIndex,
    GpuP2PStatus,
    GpuTopologyLevel,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import cuprum


def _unpack_bitmask(arr: Sequence[int]) -> list[int]:
    """The numbers of the bits that are set in words of 64."""
    return [64 * place + bit for place, word in enumerate(arr) for bit in range(64) if word >> bit & 1]


def _text(value: bytes | str, what: str) -> str:
    if not isinstance(value, (bytes, str)):
        raise TypeError(f"{what} must be a str or bytes, not {type(value).__name__}")
    return value.decode("ascii") if isinstance(value, bytes) else value


def _number(value: int, what: str) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    return value


def _handle_of(device: Device, what: str) -> SystemDevice:
    if not isinstance(device, Device):
        raise TypeError(f"{what} must be a Device of cuprum.system, not {type(device).__name__}")
    return device._device


@names_the_nearest_keywords
class Device:
    """A device to look at: who uses it, how busy, how hot. To use it, there is :class:`cuprum.Device`.

    Give one of its number, its UUID and its place on PCI. Every property asks NVML anew; what the device does not have
    raises :class:`~cuprum.system.NotSupportedError`.
    """

    def __init__(
        self, *, index: int | None = None, uuid: bytes | str | None = None, pci_bus_id: bytes | str | None = None
    ) -> None:
        given = sum(each is not None for each in (index, uuid, pci_bus_id))
        if given > 1:
            raise ValueError("Handle requires only one of `index`, `uuid`, or `pci_bus_id`.")
        if index is not None:
            if _number(index, "index") < 0:
                raise ValueError(f"index is {index}, and devices are counted from 0")
            self._device = SystemDevice.from_index(index)
        elif uuid is not None:
            self._device = SystemDevice.from_uuid(_text(uuid, "uuid"))
        elif pci_bus_id is not None:
            self._device = SystemDevice.from_pci_bus_id(_text(pci_bus_id, "pci_bus_id"))
        else:
            raise ValueError("Handle requires either a device `index`, `uuid`, or `pci_bus_id`.")

    @classmethod
    def _of(cls, device: SystemDevice) -> Device:
        made = cls.__new__(cls)
        made._device = device
        return made

    @property
    def _handle(self) -> int:
        return self._device.handle()

    def __repr__(self) -> str:
        return f"<Device {self.index} ({self.name})>"

    def __eq__(self, other: object) -> bool:
        return self._handle == other._handle if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._handle)

    @classmethod
    def get_device_count(cls) -> int:
        """How many there are."""
        return SystemDevice.get_device_count()

    @classmethod
    def get_all_devices(cls) -> Iterable[Device]:
        """All of them, by number."""
        for index in range(cls.get_device_count()):
            yield cls(index=index)

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> Iterable[Device]:
        """Those that are near a core of the host."""
        for device in SystemDevice.get_all_devices_with_cpu_affinity(_number(cpu_index, "cpu_index")):
            yield cls._of(device)

    def to_cuda_device(self) -> cuprum.Device:
        """The same device for those who use it; RuntimeError when the CUDA driver does not show it."""
        from cuprum import Device as CudaDevice

        wanted = self.uuid_without_prefix
        for device in CudaDevice.get_all_devices():
            if device.uuid == wanted:
                return device
        raise RuntimeError("No corresponding CUDA device found for this NVML device.")

    # ---- what it is ----

    @property
    def index(self) -> int:
        """NVML's number of it, which need not be CUDA's."""
        return self._device.index()

    @property
    def uuid(self) -> str:
        """As 'GPU-f81d4fae-7dec-41d0-a765-00a0c91e6bf6'."""
        return self._device.uuid()

    @property
    def uuid_without_prefix(self) -> str:
        """As cuprum.Device has it: without 'GPU-'."""
        return self._device.uuid()[4:]

    @property
    def pci_bus_id(self) -> str:
        """As '00000000:65:00.0'."""
        return self.pci_info.bus_id

    @property
    def numa_node_id(self) -> int:
        """The NUMA node of its memory."""
        return self._device.numa_node_id()

    @property
    def arch(self) -> DeviceArch:
        """The architecture, by age."""
        return DeviceArch(self._device.arch())

    @property
    def name(self) -> str:
        """As 'NVIDIA H200'."""
        return self._device.name()

    @property
    def brand(self) -> str:
        """As 'Tesla'; 'Unknown' for those without."""
        return self._device.brand()

    @property
    def serial(self) -> str:
        """As printed on the board."""
        return self._device.serial()

    @property
    def module_id(self) -> int:
        """Its place in a machine with several modules."""
        return self._device.module_id()

    @property
    def minor_number(self) -> int:
        """N of /dev/nvidiaN."""
        return self._device.minor_number()

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """As (9, 0)."""
        return self._device.cuda_compute_capability()

    @property
    def attributes(self) -> DeviceAttributes:
        """What it is made of."""
        return DeviceAttributes(*self._device.attributes())

    @property
    def is_c2c_enabled(self) -> bool:
        """Whether it is coupled to another chip."""
        return self._device.is_c2c_enabled()

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """Whether the driver keeps it initialised when nobody uses it. Setting it needs root's rights."""
        return self._device.is_persistence_mode_enabled()

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        self._device.set_persistence_mode_enabled(bool(enabled))

    @property
    def addressing_mode(self) -> AddressingMode | None:
        """How it reaches memory of the host; None when it doesn't."""
        mode = self._device.addressing_mode()
        return AddressingMode(mode) if mode is not None else None

    @property
    def is_display_connected(self) -> bool:
        """Whether a display is connected."""
        return self._device.is_display_connected()

    @property
    def is_display_active(self) -> bool:
        """Whether one is in use."""
        return self._device.is_display_active()

    @property
    def mig(self) -> MigInfo:
        """The parts it is divided into."""
        return MigInfo(self)

    @property
    def inforom(self) -> InforomInfo:
        """What is written on its board."""
        return InforomInfo(self._device)

    @property
    def repair_status(self) -> RepairStatus:
        """Repairs that wait for a reset."""
        return RepairStatus(*self._device.repair_status())

    # ---- who uses it ----

    @property
    def memory_info(self) -> MemoryInfo:
        """How much memory it has and uses."""
        return MemoryInfo(*self._device.memory_info())

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """The window to its memory."""
        return BAR1MemoryInfo(*self._device.bar1_memory_info())

    @property
    def utilization(self) -> Utilization:
        """How busy it is."""
        return Utilization(*self._device.utilization())

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """The processes that have a context on it."""
        return [ProcessInfo(self, *row) for row in self._device.compute_running_processes()]

    # ---- clocks ----

    def get_clock(self, clock_type: ClockType | str) -> ClockInfo:
        """One of its clocks."""
        return ClockInfo(self._device, clock_type)

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Whether clocks are raised by themselves: now, and by default."""
        return self._device.is_auto_boosted_clocks_enabled()

    @property
    def current_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """Why clocks are lower than they could be."""
        return [ClocksEventReasons(each) for each in self._device.current_clock_event_reasons()]

    @property
    def supported_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """The reasons that it can tell."""
        return [ClocksEventReasons(each) for each in self._device.supported_clock_event_reasons()]

    @property
    def performance_state(self) -> int | None:
        """0 (fastest) to 15; None when it is not known."""
        return self._device.performance_state()

    @property
    def supported_pstates(self) -> list[int]:
        """The performance states that it has."""
        return self._device.supported_pstates()

    @property
    def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo:
        """How busy its parts are."""
        rows = self._device.dynamic_pstates_info()
        return GpuDynamicPstatesInfo([GpuDynamicPstatesUtilization(*row) for row in rows])

    # ---- cooling ----

    @property
    def cooler(self) -> CoolerInfo:
        """What cools it."""
        return CoolerInfo(*self._device.cooler())

    @property
    def num_fans(self) -> int:
        """How many fans it has."""
        return self._device.num_fans()

    def get_fan(self, fan: int = 0) -> FanInfo:
        """One of its fans; ValueError for one that there is not."""
        number = _number(fan, "fan")
        if not 0 <= number < self.num_fans:
            raise ValueError(f"Fan index {fan} is out of range [0, {self.num_fans})")
        return FanInfo(self._device, number)

    @property
    def temperature(self) -> Temperature:
        """Its temperatures."""
        return Temperature(self._device)

    # ---- links and places ----

    @property
    def pci_info(self) -> PciInfo:
        """Its place on PCI; RuntimeError for a part of a device, which has none."""
        try:
            return PciInfo(self._device)
        except ValueError as error:
            raise RuntimeError("This device does not have PCI attributes") from error

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """One of its NVLinks."""
        number = _number(link, "link")  # asked of first: a device without NVLink can't tell how many it has
        count = self.get_nvlink_count()
        if not 0 <= number < count:
            raise ValueError(f"Link index {link} is out of range [0, {count})")
        return NvlinkInfo(self._device, number)

    def get_nvlink_count(self) -> int:
        """How many it has."""
        return self._device.get_nvlink_count()

    def get_nvlinks(self) -> Iterable[NvlinkInfo]:
        """All of them."""
        for link in range(self.get_nvlink_count()):
            yield NvlinkInfo(self._device, link)

    def get_topology_nearest_gpus(self, level: GpuTopologyLevel | str) -> Iterable[Device]:
        """The devices that have no more than `level` between them and this one."""
        for device in self._device.get_topology_nearest_gpus(member(GpuTopologyLevel, level, "topology level")):
            yield type(self)._of(device)

    def get_memory_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Nodes of memory that are near."""
        return self._device.get_memory_affinity(member(AffinityScope, scope, "affinity scope"))

    def get_cpu_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Cores that are near."""
        return self._device.get_cpu_affinity(member(AffinityScope, scope, "affinity scope"))

    def set_cpu_affinity(self) -> None:
        """Have this thread run on cores that are near."""
        self._device.set_cpu_affinity()

    def clear_cpu_affinity(self) -> None:
        """Let this thread run on all cores again."""
        self._device.clear_cpu_affinity()

    # ---- values by number, events ----

    def get_field_values(self, field_ids: list[int | tuple[int, int]]) -> FieldValues:
        """Values by number (:class:`~cuprum.system.typing.FieldId`), or pairs of that and what it is asked of."""
        return FieldValues([FieldValue(row) for row in self._device.get_field_values(as_pairs(field_ids))])

    def clear_field_values(self, field_ids: list[int | tuple[int, int]]) -> None:
        """Set those that count back to 0."""
        self._device.clear_field_values(as_pairs(field_ids))

    def register_events(self, events: EventType | str | list[EventType | str]) -> DeviceEvents:
        """Wait for such events from now on."""
        return DeviceEvents(self._device, events)

    def get_supported_event_types(self) -> list[EventType]:
        """What it can tell when it happens."""
        return [EventType(each) for each in self._device.get_supported_event_types()]


@names_the_nearest_keyword
def get_topology_common_ancestor(device1: Device, device2: Device) -> GpuTopologyLevel:
    """What two devices have in common."""
    return GpuTopologyLevel(
        _handle_of(device1, "device1").get_topology_common_ancestor(_handle_of(device2, "device2"))
    )


@names_the_nearest_keyword
def get_p2p_status(device1: Device, device2: Device, index: GpuP2PCapsIndex | str) -> GpuP2PStatus:
    """Whether one device may use the other in that way."""
    wanted = member(GpuP2PCapsIndex, index, "P2P caps index")
    return GpuP2PStatus(_handle_of(device1, "device1").get_p2p_status(_handle_of(device2, "device2"), wanted))


__all__ = [
    "BAR1MemoryInfo",
    "ClockInfo",
    "ClockOffsets",
    "CoolerInfo",
    "Device",
    "DeviceAttributes",
    "DeviceEvents",
    "EventData",
    "FanInfo",
    "FieldValue",
    "FieldValues",
    "GpuDynamicPstatesInfo",
    "GpuDynamicPstatesUtilization",
    "InforomInfo",
    "MemoryInfo",
    "MigInfo",
    "NvlinkInfo",
    "PciInfo",
    "ProcessInfo",
    "RepairStatus",
    "Temperature",
    "ThermalSensor",
    "ThermalSettings",
    "Utilization",
    "get_p2p_status",
    "get_topology_common_ancestor",
]
