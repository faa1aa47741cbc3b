#!/usr/bin/env python3
"""Checks every #include against the layers of the project (docs/design/layers.md).

usage: tools/check_includes.py [ROOT]

Prints a line per forbidden include, as a compiler prints errors, and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

# A folder may include its own files and those of the folders it is built on, directly or through others.
BUILT_ON = {
    "include/cuprum": [],
    "src/support": ["include/cuprum"],
    "src/driver_abi": ["include/cuprum"],
    "src/device_image": [],
    "src/driver": ["src/driver_abi", "src/support"],
    "src/toolchain": ["src/driver_abi", "src/support"],
    "src/core": ["src/driver", "src/toolchain", "src/device_image"],
    "softgpu/abi": [],
    "softgpu/ptx": [],
    "softgpu/memory": [],
    "softgpu/texture": ["softgpu/abi"],
    "softgpu/exec": ["softgpu/abi", "softgpu/texture"],
    "softgpu/simt": ["softgpu/abi"],
    "softgpu/lower": ["softgpu/ptx", "softgpu/abi"],
    "softgpu/jit": ["softgpu/simt", "softgpu/lower", "softgpu/exec"],  # exec says what compiled code looks like to it
    "softgpu/runtime": ["softgpu/exec", "softgpu/texture", "softgpu/memory", "softgpu/jit", "src/device_image"],
    "softgpu/api": ["softgpu/runtime"],
    "softgpu/forward": ["src/device_image"],
    "examples": ["include/cuprum"],
    "bench": ["include/cuprum"],
    "python": ["include/cuprum"],
    "tools/cuprum": ["include/cuprum"],
}

# Headers of others, by the start of their name, and the folders that may include them.
FOREIGN = {
    "llvm/": ["softgpu/lower", "softgpu/simt", "softgpu/jit"],
    "llvm-c/": [],
    "cuda.h": ["include/cuprum", "src/driver_abi", "src/driver", "src/core", "softgpu/runtime", "softgpu/api", "bench"],
    "cudaTypedefs.h": ["include/cuprum", "src/driver_abi", "src/driver", "softgpu/api", "bench"],
    "cudaProfiler": ["src/driver_abi", "src/driver", "softgpu/api"],
    "cuda_runtime": [],
    "dlpack/": ["src/core"],
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
    complaints = [complaint for file in sorted(files) for complaint in check_file(root, file)]
    print("\n".join(complaints) if complaints else f"{len(files)} files keep to the layers")
    sys.exit(1 if complaints else 0)


def top_folders():
    return sorted({layer.split("/")[0] for layer in BUILT_ON})


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
            return None if layer in layers else f"only {' and '.join(layers) or 'nobody'} may"
    target = find(root, file, name)
    if target is None:
        return "no such file in the project" if quote == '"' else None
    target_layer = layer_of(target)
    if target_layer == layer or target_layer in reachable(layer):
        return None
    return f"{layer} is not built on {target_layer}"


def find(root, file, name):
    """The project's file that an include names, relative to the root; None for other headers."""
    for folder in (file.parent, root, root / "include", root / "src"):
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return name if name.endswith(GENERATED_SUFFIX) and layer_of(name) else None


def layer_of(name):
    return next((layer for layer in BUILT_ON if name.startswith(layer + "/")), None)


def reachable(layer, seen=frozenset()):
    found = set()
    for below in BUILT_ON[layer]:
        if below not in seen:
            found |= {below} | reachable(below, seen | {layer})
    return found


if __name__ == "__main__":
    main()
