"""Names that methods and properties had in versions of cuda.core before 1.0, so that older programs go on.

Older names of options are in ``cuprum._options``, those of the package (``cuda.core.experimental``) in
``cuprum.as_cuda_core``.
"""

from __future__ import annotations

from . import _core

# By class: older name and present name. Properties that were methods then are in the bindings.
RENAMED = {
    "LaunchConfig": [("cooperative_launch", "is_cooperative")],
    "GraphBuilder": [("add_child", "embed"), ("if_cond", "if_then")],
    "GraphDefinition": [
        ("alloc", "allocate"),
        ("free", "deallocate"),
        ("record_event", "record"),
        ("wait_event", "wait"),
        ("if_cond", "if_then"),
    ],
}


def add_older_names() -> None:
    """Give the classes their older names, too."""
    for name, renamed in RENAMED.items():
        cls = getattr(_core, name, None)
        for older, present in renamed:
            if hasattr(cls, present) and not hasattr(cls, older):
                setattr(cls, older, getattr(cls, present))
    linker = getattr(_core, "Linker", None)
    if linker is not None and not hasattr(linker, "backend"):
        linker.backend = property(lambda self: type(self).which_backend(), doc="Older spelling of which_backend().")


add_older_names()
