#!/usr/bin/env python3
"""Checks every #include against the layers of the project (docs/design/layers.md).

usage: tools/check_includes.py [ROOT]

Prints a line per forbidden include, as a compiler prints errors, and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

# What the files of a folder may include, besides each other: files of these folders, which all come before it. Only what
# is named here, not what those include in turn. A folder stands for what is in it and, unless they are named
# themselves, its subfolders.
MAY_INCLUDE = {
    "include/cuprum": [],
    "src/support": ["include/cuprum"],
    "src/driver_abi": ["include/cuprum"],
    "src/device_image": [],
    "src/driver": ["src/driver_abi", "src/support", "include/cuprum"],
    "src/toolchain": ["src/driver_abi", "src/support", "include/cuprum"],
    "src/core/base": ["src/driver", "src/support", "include/cuprum"],
    "src/core/checkpoint": ["src/driver", "src/support", "include/cuprum"],
    "src/core/ipc": ["src/core/base", "src/support", "include/cuprum"],
    "src/core/stream": ["src/core/ipc", "src/core/base", "src/driver", "src/support", "include/cuprum"],
    "src/core/memory": ["src/core/stream", "src/core/ipc", "src/core/base", "src/driver", "src/support", "include/cuprum"],
    "src/core/texture": ["src/core/memory", "src/core/stream", "src/core/base", "src/driver", "src/support", "include/cuprum"],
    "src/core/graphics": ["src/core/memory", "src/core/stream", "src/core/base", "src/driver", "src/support", "include/cuprum"],
    "src/core/code": ["src/core/memory", "src/core/base", "src/driver", "src/device_image", "src/support", "include/cuprum"],
    "src/core/launch": ["src/core/code", "src/core/stream", "src/core/base", "src/driver", "src/support", "include/cuprum"],
    "src/core/graph": ["src/core/launch", "src/core/code", "src/core/memory", "src/core/stream", "src/core/base", "src/driver",
                       "src/support", "include/cuprum"],
    "src/core/program_cache": ["src/core/code", "src/core/base", "src/support", "include/cuprum"],
    "src/core/compile": ["src/core/program_cache", "src/core/code", "src/core/base", "src/driver", "src/device_image",
                         "src/support", "include/cuprum"],
    "src/core/system": ["src/support", "include/cuprum"],
    "src/core/views": ["src/core/memory", "src/core/stream", "src/core/base", "src/driver", "src/support", "include/cuprum"],
    "src/core": ["src/core/compile", "src/core/graph", "src/core/graphics", "src/core/texture", "src/core/code", "src/core/memory", "src/core/stream",
                 "src/core/base", "src/driver", "src/support", "include/cuprum"],
    "softgpu/abi": [],
    "softgpu/ptx": [],
    "softgpu/memory": [],
    "softgpu/opengl": [],
    "softgpu/texture": ["softgpu/abi"],
    "softgpu/usage": [],
    "softgpu/exec": ["softgpu/usage", "softgpu/texture", "softgpu/abi"],
    "softgpu/simt": ["softgpu/abi"],
    "softgpu/lower/values": ["softgpu/ptx"],
    "softgpu/lower/module": ["softgpu/lower/values", "softgpu/ptx", "softgpu/abi"],
    "softgpu/lower/function": ["softgpu/lower/module", "softgpu/lower/values", "softgpu/ptx", "softgpu/abi"],
    "softgpu/lower/floating_point": ["softgpu/lower/function", "softgpu/lower/values"],
    "softgpu/lower/arithmetic": ["softgpu/lower/floating_point", "softgpu/lower/function", "softgpu/lower/values"],
    "softgpu/lower/memory": ["softgpu/lower/floating_point", "softgpu/lower/function", "softgpu/lower/values", "softgpu/ptx",
                             "softgpu/abi"],
    "softgpu/lower/control": ["softgpu/lower/function"],
    "softgpu/lower/threads": ["softgpu/lower/memory", "softgpu/lower/function", "softgpu/abi"],
    "softgpu/lower": ["softgpu/lower/threads", "softgpu/lower/control", "softgpu/lower/memory", "softgpu/lower/arithmetic",
                      "softgpu/lower/floating_point", "softgpu/lower/function", "softgpu/lower/module", "softgpu/ptx"],
    "softgpu/jit": ["softgpu/simt", "softgpu/lower", "softgpu/exec", "softgpu/ptx", "softgpu/abi"],
    "softgpu/runtime/base": ["softgpu/jit", "softgpu/memory", "softgpu/usage"],  # the compiler's settings are among the driver's
    "softgpu/runtime/work": ["softgpu/runtime/base", "softgpu/exec", "softgpu/memory", "softgpu/usage"],
    "softgpu/runtime/memory": ["softgpu/runtime/work", "softgpu/runtime/base", "softgpu/exec", "softgpu/texture",
                               "softgpu/memory", "softgpu/usage", "softgpu/abi"],
    "softgpu/runtime/code": ["softgpu/runtime/memory", "softgpu/runtime/work", "softgpu/runtime/base", "softgpu/jit",
                             "softgpu/exec", "softgpu/memory", "softgpu/ptx", "softgpu/abi", "src/device_image"],
    "softgpu/runtime/graphs": ["softgpu/runtime/code", "softgpu/runtime/memory", "softgpu/runtime/work",
                               "softgpu/runtime/base", "softgpu/exec", "softgpu/memory"],
    "softgpu/runtime/checkpoint": ["softgpu/runtime/memory", "softgpu/runtime/work", "softgpu/runtime/base", "softgpu/exec",
                                   "softgpu/memory", "softgpu/usage"],
    "softgpu/runtime/graphics": ["softgpu/runtime/memory", "softgpu/runtime/work", "softgpu/runtime/base", "softgpu/opengl",
                                 "softgpu/texture"],
    "softgpu/runtime": ["softgpu/runtime/checkpoint", "softgpu/runtime/graphics", "softgpu/runtime/graphs", "softgpu/runtime/code", "softgpu/runtime/memory", "softgpu/runtime/work",
                        "softgpu/runtime/base", "softgpu/memory", "softgpu/usage"],
    "softgpu/api/base": ["softgpu/runtime", "softgpu/runtime/work", "softgpu/runtime/base"],
    "softgpu/api/work": ["softgpu/api/base", "softgpu/runtime/graphs", "softgpu/runtime/memory", "softgpu/runtime/work",
                         "softgpu/runtime/base"],
    "softgpu/api/checkpoint": ["softgpu/api/base", "softgpu/runtime/checkpoint", "softgpu/runtime/base"],
    "softgpu/api/memory": ["softgpu/api/work", "softgpu/api/base", "softgpu/runtime/graphs", "softgpu/runtime/memory",
                           "softgpu/runtime/work", "softgpu/runtime/base"],
    "softgpu/api/code": ["softgpu/api/work", "softgpu/api/base", "softgpu/runtime/graphs", "softgpu/runtime/code",
                         "softgpu/runtime/memory", "softgpu/runtime/work", "softgpu/runtime/base"],
    "softgpu/api/graphs": ["softgpu/api/code", "softgpu/api/memory", "softgpu/api/work", "softgpu/api/base",
                           "softgpu/runtime/graphs", "softgpu/runtime/code", "softgpu/runtime/work"],
    "softgpu/api/graphics": ["softgpu/api/work", "softgpu/api/base", "softgpu/runtime/graphics", "softgpu/runtime/memory",
                             "softgpu/runtime/work", "softgpu/runtime/base"],
    "softgpu/nvml": ["softgpu/runtime/base", "softgpu/usage", "softgpu/jit"],  # the settings say what the devices are
    "softgpu/forward": ["src/device_image"],
    "examples": ["include/cuprum"],
    "bench": ["include/cuprum"],
    "python": ["include/cuprum"],
    "tools/cuprum": ["include/cuprum"],
}

# Headers of others, by the start of their name, and the folders that may include them, with all in those.
FOREIGN = {
    "llvm/": ["softgpu/lower", "softgpu/simt", "softgpu/jit"],
    "llvm-c/": [],
    "cuda.h": ["include/cuprum", "src/driver_abi", "src/driver", "src/core", "softgpu/runtime", "softgpu/api", "bench"],
    "cudaTypedefs.h": ["include/cuprum", "src/driver_abi", "src/driver", "softgpu/api", "bench"],
    "cudaProfiler": ["src/driver_abi", "src/driver", "softgpu/api"],
    "cudaGL": ["softgpu/api"],
    "cudaEGL": ["softgpu/api"],
    "GL/": ["softgpu/opengl", "examples"],
    "cuda_runtime": [],
    "dlpack/": ["src/core", "python"],
    "nlohmann/": ["tools/cuprum"],
    "xxhash.h": ["src/support"],
    "nvrtc.h": ["src/toolchain"],
    "nvJitLink.h": ["src/toolchain"],
    "nvvm.h": ["src/toolchain"],
    "nvml.h": ["src/toolchain"],
}

GENERATED_SUFFIX = ".inc"  # made by the build, so not found among the sources
SOURCE_SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    files = [file for layer in top_folders() for file in (root / layer).rglob("*") if file.suffix in SOURCE_SUFFIXES]
    if not files:
        sys.exit(f"no source files under {root}")
    complaints = [*check_table(), *(complaint for file in sorted(files) for complaint in check_file(root, file))]
    print("\n".join(complaints) if complaints else f"{len(files)} files keep to the layers")
    sys.exit(1 if complaints else 0)


def top_folders():
    return sorted({layer.split("/")[0] for layer in MAY_INCLUDE})


def check_table():
    """The table itself has an order: there is no way from a folder back to it."""
    known = set()
    for layer, others in MAY_INCLUDE.items():
        for other in others:
            if other not in known:
                yield f"tools/check_includes.py: {layer} may include {other}, which does not come before it in the table"
        known.add(layer)


def check_file(root, file):
    name = file.relative_to(root).as_posix()
    layer = layer_of(name)
    if layer is None:
        yield f"{name}:1: is in no known layer; add its folder to tools/check_includes.py"
        return
    text = file.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        reason = check_include(root, file, layer, match[1], match[2])
        if reason:
            line = text.count("\n", 0, match.start(1)) + 1
            yield f"{name}:{line}: {layer} may not include {match[2]}: {reason}"


def check_include(root, file, layer, quote, name):
    """Why this include is forbidden, or None."""
    for prefix, layers in FOREIGN.items():
        if name.startswith(prefix):
            return None if any(is_in(layer, other) for other in layers) else f"only {' and '.join(layers) or 'nobody'} may"
    target = find(root, file, name)
    if target is None:
        return "no such file in the project" if quote == '"' else None
    target_layer = layer_of(target)
    if target_layer == layer or target_layer in MAY_INCLUDE[layer]:
        return None
    return f"{target_layer or 'its folder'} is not among what {layer} may include"


def find(root, file, name):
    """The project's file that an include names, relative to the root; None for other headers."""
    for folder in (file.parent, root, root / "include", root / "src", root / "python"):
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return name if name.endswith(GENERATED_SUFFIX) and layer_of(name) else None


def layer_of(name):
    """The folder of the table that a file belongs to; None for a folder beside named ones that is not named itself."""
    folder = name.rpartition("/")[0]
    layer = max((layer for layer in MAY_INCLUDE if is_in(folder, layer)), key=len, default=None)
    has_named_subfolders = any(other != layer and is_in(other, layer) for other in MAY_INCLUDE) if layer else False
    return None if has_named_subfolders and folder != layer else layer


def is_in(folder, other):
    return folder == other or folder.startswith(other + "/")


if __name__ == "__main__":
    main()
