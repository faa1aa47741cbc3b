#!/usr/bin/env python3
"""usage: check_symbols.py LIBRARY libcuprum|softgpu|nvml|forward

Checks what a shared library exports. A symbol that leaks from LLVM or the standard library would be bound to the
copy that another library of the process brings.
"""

import re
import subprocess
import sys

# What may be exported, and what must be, by demangled name.
RULES = {
    # Functions and objects of the namespace, and for its exception types what C++ needs to catch them elsewhere; all
    # with the version of the interface.
    "libcuprum": (r"(?:(?:vtable|typeinfo|typeinfo name|VTT) for )?(?:non-virtual thunk to )?cuprum::v0_1::.*@@CUPRUM_0\.1|CUPRUM_0\.1",
                  ["cuprum::v0_1::Device::name() const@@CUPRUM_0.1", "CUPRUM_0.1"]),
    "forward": (r"dlm?open|dlsym|nvrtcGetCUBIN(Size)?|(__)?nvJitLink\w*", ["dlopen", "dlsym", "nvrtcGetCUBIN", "__nvJitLinkCreate_13_0"]),
    "nvml": (r"nvml[A-Z]\w*", ["nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetPowerUsage"]),
    "softgpu": (r"cu[A-Z]\w*", ["cuInit", "cuGetProcAddress_v2", "cuLaunchKernelEx", "cuMemAlloc_v2"]),
}


def exported(library):
    """Demangled names of the dynamic symbols that the library defines."""
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", "--demangle", "--format=posix", library],
                             check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        name = re.match(r"(.*?) [A-Za-z](?: [0-9a-f]+)*\s*$", line)[1]
        yield re.sub(r"\[abi:\w+\]", "", name)


def main():
    library, kind = sys.argv[1:]
    allowed, needed = RULES[kind]
    names = set(exported(library))
    leaks = sorted(name for name in names if not re.fullmatch(allowed, name))
    missing = [name for name in needed if name not in names]
    for name in leaks[:50]:
        print(f"exported, but should not be: {name}")
    for name in missing:
        print(f"should be exported, but is not: {name}")
    print(f"{len(names)} symbols, {len(leaks)} too many, {len(missing)} missing")
    sys.exit(1 if leaks or missing else 0)


if __name__ == "__main__":
    main()
