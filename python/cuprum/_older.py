"""Names that methods and properties had in versions of cuda.core before 1.0, so that older programs go on.

Older names of options are in ``cuprum._options``, those of the package (``cuda.core.experimental``) in
``cuprum.as_cuda_core``.
"""

from __future__ import annotations

from . import _core

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from typing import Any

# By class: older name, present name, and whether what is a property now was a method then.
RENAMED = {
    "Buffer": [("get_ipc_descriptor", "ipc_descriptor", True)],
    "Event": [("get_ipc_descriptor", "ipc_descriptor", True)],
    "DeviceMemoryResource": [("get_allocation_handle", "allocation_handle", True)],
    "PinnedMemoryResource": [("get_allocation_handle", "allocation_handle", True)],
    "LaunchConfig": [("cooperative_launch", "is_cooperative", False)],
    "GraphBuilder": [("add_child", "embed", False), ("if_cond", "if_then", False)],
    "GraphDefinition": [
        ("alloc", "allocate", False),
        ("free", "deallocate", False),
        ("record_event", "record", False),
        ("wait_event", "wait", False),
        ("if_cond", "if_then", False),
    ],
}


def add_older_names() -> None:
    """Give the classes their older names, too."""
    for name, renamed in RENAMED.items():
        cls = getattr(_core, name, None)
        for older, present, was_method in renamed:
            if hasattr(cls, present) and not hasattr(cls, older):
                setattr(cls, older, _getter(present) if was_method else getattr(cls, present))
    linker = getattr(_core, "Linker", None)
    if linker is not None and not hasattr(linker, "backend"):
        linker.backend = property(lambda self: type(self).which_backend(), doc="Older spelling of which_backend().")


def _getter(present: str) -> Any:
    def get(self: Any) -> Any:
        return getattr(self, present)

    get.__doc__ = f"Older spelling of the property {present}."
    return get


add_older_names()
