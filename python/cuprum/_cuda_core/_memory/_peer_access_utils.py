"""Which devices gain and lose access to a pool when a set of devices is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class PeerAccessPlan:
    """The devices that shall have access, and the difference from those that have it: numbers in rising order."""

    target_ids: tuple[int, ...]
    to_add: tuple[int, ...]
    to_remove: tuple[int, ...]


def plan_peer_access_update(
    owner_device_id: int,
    current_peer_ids: Iterable[int],
    requested_devices: Iterable[Any],
    *,
    resolve_device_id: Callable[[Any], int],
    can_access_peer: Callable[[int], bool],
) -> PeerAccessPlan:
    """How to come from the devices that have access to those that are asked for; the owner always has it."""
    wanted = {resolve_device_id(device) for device in requested_devices} - {owner_device_id}
    refused = [str(number) for number in sorted(wanted) if not can_access_peer(number)]
    if refused:
        raise ValueError(f"Device {owner_device_id} cannot access peer(s): {', '.join(refused)}")
    current = set(current_peer_ids)
    return PeerAccessPlan(*(tuple(sorted(ids)) for ids in (wanted, wanted - current, current - wanted)))
