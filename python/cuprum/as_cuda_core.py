"""Serves ``cuda.core`` from cuprum: import this module, and programs written for cuda.core run on cuprum unchanged.

.. code-block:: python

    import cuprum.as_cuda_core  # before anything imports cuda.core
    from cuda.core import Device

The same for a whole script is ``python -m cuprum script.py``, and for a test run ``pytest -p cuprum.as_cuda_core``.

It works whether or not NVIDIA's cuda.core is installed, which stays untouched on disk; ``cuda.bindings`` and
``cuda.pathfinder`` remain NVIDIA's. Processes that multiprocessing starts are served, too. Names of cuda.core that
cuprum doesn't have raise ImportError or AttributeError that says so.

How: a finder at the head of ``sys.meta_path`` answers for ``cuda.core`` and all below it with modules that look their
names up in cuprum's. A public module such as ``cuda.core.graph`` is ``cuprum.graph``; private ones such as
``cuda.core._stream``, under which programs import public things, look in all of cuprum, and before that in what
``cuprum/_cuda_core`` has for them of cuda.core's own private names.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import cuprum

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["install", "is_installed", "uninstall"]

INTERFACE_VERSION = "1.2.0"
"""The version of cuda.core whose interface this is."""

ROOT = "cuda.core"

PUBLIC_MODULES = frozenset(
    "checkpoint graph system system.exceptions system.typing texture typing utils".split()
)

# Modules of cuda.core that are not public, but under which programs import what is.
PRIVATE_MODULES = frozenset(
    """
    _context _device _device_resources _dlpack _event _graph _graphics _host _kernel_arg_handler _launch_config
    _launcher _layout _linker _memory _memory._buffer _memory._copy_attributes _memory._copy_enums _memory._copy_ops
    _memory._device_memory_resource _memory._graph_memory_resource _memory._ipc _memory._legacy
    _memory._managed_buffer _memory._managed_location _memory._managed_memory_ops _memory._managed_memory_resource
    _memory._memory_pool _memory._peer_access_utils _memory._pinned_memory_resource _memory._virtual_memory_resource
    _memoryview _module _program _resource_handles _stream _tensor_map _utils _utils.cuda_utils _utils.pycompat
    _utils.version _version graph._adjacency_set_proxy graph._graph_builder graph._graph_definition graph._graph_node
    graph._subclasses utils._program_cache utils._program_cache._abc utils._program_cache._file_stream
    utils._program_cache._in_memory utils._program_cache._keys
    """.split()
)

TEXTURE_MODULES = frozenset(("texture._array", "texture._mipmapped_array", "texture._surface", "texture._texture"))

SYSTEM_MODULES = frozenset(("system._device", "system._nvml_context", "system._system", "system._system_events"))

SYSTEM_SOURCES = (
    "cuprum.system._device",
    "cuprum.system",
    "cuprum.system._events",
    "cuprum.system._nvml_context",
    "cuprum._cuda_core.nvml_names",
)

# Names of cuprum's modules that cuda.core has in other modules, or not at all.
ONLY_IN_CUPRUM = {
    ROOT: frozenset(
        """
        CUDAError CompileError ComputeCapability CopyOptions DeviceProperties LibraryError LinkError MappedImage
        NVRTCError NotSupportedError OutOfMemoryError StridedMemoryView TYPE_CHECKING args_viewable_as_strided_memory
        as_cuda_core default_stream
        """.split()
    ),
    f"{ROOT}.typing": frozenset(("MemcpyOverlapMode", "MemcpySrcAccessOrder")),
}

# What `from cuda.core import *` and its like give beside or without what cuprum's do.
ALSO_EXPORTED = {ROOT: ("TensorMapDescriptorOptions",)}
NOT_EXPORTED = {
    ROOT: ("__version__",),
    f"{ROOT}.system": ("typing",),
    f"{ROOT}.utils": ("StridedLayout", "view_as_array_interface", "view_as_cai"),
}

# In front of the name of a module of cuda.core: its __path__, which leads to no folder, but to Contents.
PLACE = "/cuda.core served by cuprum/"

# Where a private module's names are looked up.
EVERYWHERE = (
    "cuprum",
    "cuprum.typing",
    "cuprum._options",
    "cuprum.graph",
    "cuprum._cuda_core.program_keys",
    "cuprum.utils",
    "cuprum._compiler_utils",
    "cuprum._graphics",
    "cuprum._cuda_utils",
    "cuprum._views",
    "cuprum._memory_sets",
    "cuprum._tensor_map",
    "cuprum._core",
    "cuprum._ipc",
)


def install() -> None:
    """Serve cuda.core from here on. Does nothing when it is served already; raises ImportError when it is imported."""
    if is_installed():
        return
    imported = sys.modules.get(ROOT)
    if imported is not None:
        raise ImportError(
            f"cuda.core is imported already, from {getattr(imported, '__file__', None)}: import cuprum.as_cuda_core "
            "before it, or run the program as `python -m cuprum`",
            name=ROOT,
        )
    sys.meta_path.insert(0, _FINDER)
    sys.path_hooks.append(Contents)
    _serve_child_processes()


def uninstall() -> None:
    """Serve cuda.core no longer; names that were imported stay as they are."""
    if is_installed():
        sys.meta_path.remove(_FINDER)
        sys.path_hooks.remove(Contents)
    for name in [name for name, module in sys.modules.items() if isinstance(module, ServedModule)]:
        del sys.modules[name]
    parent = sys.modules.get("cuda")
    if isinstance(getattr(parent, "core", None), ServedModule):
        del parent.core  # type: ignore[union-attr]


def is_installed() -> bool:
    """Whether cuda.core is served by cuprum in this process."""
    return _FINDER in sys.meta_path


class ServedModule(ModuleType):
    """A module of cuda.core whose names come from cuprum's modules."""

    _sources: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            exported = self.__dict__[name] = self._exported()
            return exported
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        only_in_cuprum = ONLY_IN_CUPRUM.get(self.__name__, frozenset())
        sources = () if name in only_in_cuprum else self._sources
        for source in sources:
            module = _import_if_there(source)
            try:
                value = getattr(module, name)
            except AttributeError:
                continue
            if isinstance(value, ModuleType) and value.__name__.startswith("cuprum."):
                if sources_of(f"{self.__name__}.{name}") is None:
                    continue  # a module of cuprum's own
                return importlib.import_module(f"{self.__name__}.{name}")
            self.__dict__[name] = value
            return value
        if sources_of(f"{self.__name__}.{name}") is not None:  # all of cuda.core is there once it is imported
            return importlib.import_module(f"{self.__name__}.{name}")
        raise AttributeError(_refusal(self.__name__, name))

    def _exported(self) -> list[str]:
        """What a star imports: what it does from cuprum's module of this name, but for what cuda.core has otherwise."""
        public = f"cuprum{self.__name__[len(ROOT) :]}"
        if public not in self._sources:
            return [name for name in dir(self) if not name.startswith("_") and hasattr(self, name)]
        exported = importlib.import_module(public).__all__
        hidden = ONLY_IN_CUPRUM.get(self.__name__, frozenset()).union(NOT_EXPORTED.get(self.__name__, ()))
        return sorted({*exported, *ALSO_EXPORTED.get(self.__name__, ())} - hidden)

    def __dir__(self) -> list[str]:
        names = set(self.__dict__)
        for source in self._sources:
            names.update(dir(_import_if_there(source)))
        return sorted(names - {"_sources"} - ONLY_IN_CUPRUM.get(self.__name__, frozenset()))


def _refusal(module: str, name: str) -> str:
    return f"{module} is served by cuprum {cuprum.__version__} here, which has no {name!r} in it"


def _import_if_there(name: str) -> ModuleType | None:
    """The module, or None where this version of cuprum has none of that name."""
    module = sys.modules.get(name)
    if module is not None:
        return module
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "cuda":
            return _namespace_if_needed()
        if fullname != ROOT and not fullname.startswith(ROOT + "."):
            if fullname == "cuda.bindings":
                _share_driver()
            return None
        sources = sources_of(fullname)
        if sources is None:
            parent, _, name = fullname.rpartition(".")
            # Not ModuleNotFoundError: `from cuda.core import name` would replace that by a message that says less.
            raise ImportError(_refusal(parent, name), name=fullname)
        spec = ModuleSpec(fullname, _LOADER, origin=cuprum.__file__, is_package=True)
        spec.submodule_search_locations = [PLACE + fullname]
        return spec


class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ServedModule(spec.name)
        module._sources = sources_of(spec.name) or ()
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = cuprum.__file__
        file = private_file(module.__name__)
        if file is not None:
            code = SourceFileLoader(module.__name__, str(file)).get_code(module.__name__)
            exec(code, module.__dict__)  # type: ignore[arg-type]
            return
        first = _import_if_there(module._sources[0])  # type: ignore[attr-defined]
        module.__doc__ = first.__doc__
        if module.__name__ in (ROOT, f"{ROOT}.experimental", f"{ROOT}._version"):
            module.__version__ = INTERFACE_VERSION  # type: ignore[attr-defined]
        if module.__name__ == ROOT:
            from cuprum._cuda_core import members

            members.add()
        if module.__name__ == f"{ROOT}._device":
            import threading

            module._tls = threading.local()  # type: ignore[attr-defined]


class Contents:
    """What pkgutil finds below a served module, through the module's __path__; it is imported as all of cuda.core is."""

    def __init__(self, path: str) -> None:
        if not path.startswith(PLACE):
            raise ImportError(f"{path} is no place of a module that cuprum serves")
        self._inner = path[len(f"{PLACE}{ROOT}.") :]

    def iter_modules(self, prefix: str = "") -> list[tuple[str, bool]]:
        """The names of the modules one level below, behind the prefix, and whether there is something below those."""
        above = f"{self._inner}." if self._inner else ""
        below = [name[len(above) :].split(".") for name in all_modules() if name.startswith(above)]
        packages = {parts[0] for parts in below if len(parts) > 1}
        return [(prefix + name, name in packages) for name in sorted({parts[0] for parts in below})]

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> None:
        """Nothing: the finder at the head of sys.meta_path has been asked before."""


_FINDER = _Finder()
_LOADER = _Loader()


def sources_of(fullname: str) -> tuple[str, ...] | None:
    """The modules of cuprum that hold the names of cuda.core's module `fullname`; None when cuprum has none."""
    inner = fullname[len(ROOT) + 1 :]
    experimental = inner == "experimental" or inner.startswith("experimental.")
    if experimental:  # as versions before 1.0 called cuda.core; there all graph types were in it
        inner = inner[len("experimental") + 1 :]
    if not inner:
        return ("cuprum", "cuprum.graph", "cuprum.utils") if experimental else ("cuprum",)
    if inner in SYSTEM_MODULES:
        return SYSTEM_SOURCES
    if inner in PRIVATE_MODULES or private_file(f"{ROOT}.{inner}") is not None:
        return EVERYWHERE
    if inner in TEXTURE_MODULES:
        return ("cuprum.texture", "cuprum._texture_options")
    if inner.startswith("_") or "._" in inner:
        return None
    if inner == "checkpoint":
        return ("cuprum.checkpoint", "cuprum._checkpoint_bindings")
    if inner == "utils":
        return ("cuprum._cuda_core.program_keys", "cuprum.utils")
    module = f"cuprum.{inner}"
    if _import_if_there(module) is None or not _is_public(inner):
        return None
    return (module,)


def all_modules() -> set[str]:
    """What is below cuda.core, named from there."""
    folder = Path(cuprum.__file__).with_name("_cuda_core")
    files = (file.relative_to(folder).with_suffix("").parts for file in folder.rglob("*.py"))
    names = {".".join(parts).removesuffix(".__init__") for parts in files}
    own = {name for name in names - {"__init__"} if private_file(f"{ROOT}.{name}") is not None}
    return own.union(PUBLIC_MODULES, PRIVATE_MODULES, SYSTEM_MODULES, TEXTURE_MODULES)


def private_file(fullname: str) -> Path | None:
    """The file of cuprum/_cuda_core that holds private names of cuda.core's module `fullname`, where there is one."""
    parts = fullname[len(ROOT) + 1 :].split(".")
    if not parts[-1].startswith("_") and parts[0] != "_utils":
        return None
    place = Path(cuprum.__file__).with_name("_cuda_core").joinpath(*parts)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _is_public(inner: str) -> bool:
    # cuprum has modules of its own beside those of cuda.core.
    return inner.partition(".")[0] in PUBLIC_MODULES


def _namespace_if_needed() -> ModuleSpec | None:
    """An empty package `cuda`, when there is none: neither NVIDIA's cuda.bindings nor anything else lives in one."""
    if PathFinder.find_spec("cuda") is not None:
        return None
    spec = ModuleSpec("cuda", None, is_package=True)
    spec.submodule_search_locations = []
    return spec


def _share_driver() -> None:
    """Load the driver and the NVML that cuprum uses, so that NVIDIA's cuda.bindings, which asks for libcuda.so.1 and
    libnvidia-ml.so.1, gets the same."""
    from cuprum import _core
    from cuprum._errors import CUDAError

    _core.driver_info()
    try:
        _core.SystemDevice.get_device_count()
    except CUDAError:
        pass  # a machine without NVML


def _serve_child_processes() -> None:
    """Have multiprocessing's new processes import this module before anything that was pickled for them."""
    from multiprocessing import forkserver, spawn

    if getattr(spawn.get_command_line, "serves_cuda_core", False):
        return
    original = spawn.get_command_line

    def get_command_line(**kwargs: Any) -> list[str]:
        command = original(**kwargs)
        if is_installed() and "-c" in command:
            where = command.index("-c") + 1
            folder = cuprum.__file__.rpartition("/cuprum/")[0]
            command[where] = (
                f"import sys; sys.path.append({folder!r}); import cuprum.as_cuda_core; sys.path.pop(); {command[where]}"
            )
        return command

    get_command_line.serves_cuda_core = True  # type: ignore[attr-defined]
    spawn.get_command_line = get_command_line
    # Not __main__, which Python imports before the others from 3.14 on; then each child does so by itself.
    preloaded = forkserver._forkserver._preload_modules  # type: ignore[attr-defined]
    preloaded[:] = [__name__, *(module for module in preloaded if module != "__main__")]


install()
