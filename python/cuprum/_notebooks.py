"""What notebooks show of objects in the place of their repr."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Device
    from ._errors import CompileError


def device_table(device: Device) -> str:
    """The properties of a device that one looks for first, as HTML.

    >>> from cuprum import Device
    >>> device_table(Device()).startswith("<table><caption>Device 0: ")
    True
    """
    properties = device.properties
    rows: list[tuple[str, Any]] = [
        ("compute capability", "{}.{}".format(*device.compute_capability)),
        ("multiprocessors", properties.multiprocessor_count),
        ("threads of a multiprocessor", properties.max_threads_per_multiprocessor),
        ("threads of a block", properties.max_threads_per_block),
        ("shared memory of a block", _bytes(properties.max_shared_memory_per_block_optin)),
        ("registers of a block", properties.max_registers_per_block),
        ("L2 cache", _bytes(properties.l2_cache_size)),
        ("clock", f"{properties.clock_rate / 1000:,.0f} MHz"),
        ("PCI bus", device.pci_bus_id),
        ("UUID", device.uuid),
    ]
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table><caption>Device {device.device_id}: {html.escape(device.name)}</caption>{cells}</table>"


def compile_error(error: CompileError) -> str:
    """What the compiler said, below the lines of the source around the first error, as HTML.

    >>> from cuprum import CompileError
    >>> error = CompileError("k.cu does not compile")
    >>> error.source, error.log = "> 1 | int a = <b>;", "k.cu(1): error"
    >>> compile_error(error)
    '<b>CompileError: k.cu does not compile</b><pre>&gt; 1 | int a = &lt;b&gt;;</pre><pre>k.cu(1): error</pre>'
    """
    first_line = str(error).partition("\n")[0]
    parts = "".join(f"<pre>{html.escape(text, quote=False)}</pre>" for text in (error.source, error.log) if text)
    return f"<b>{type(error).__name__}: {html.escape(first_line, quote=False)}</b>{parts}"


def _bytes(number: int) -> str:
    """A size with the largest unit that keeps it a whole number.

    >>> _bytes(99 << 10), _bytes(50 << 20), _bytes(1000)
    ('99 KiB', '50 MiB', '1000 bytes')
    """
    for bits, unit in ((20, "MiB"), (10, "KiB")):
        if number and number % (1 << bits) == 0:
            return f"{number >> bits} {unit}"
    return f"{number} bytes"
