#!/usr/bin/env python3
"""usage: check_names.py ROOT: every name and file that the project's pages mention is there.

A name is a word in code type that looks like one of ours (CamelCase, snake_case, UPPER_CASE); it must occur in the
sources. A file is a word with a folder or an ending; it must lie at that path, or below the page's folder or the part
that the page is about.
"""

import re
import subprocess
import sys
from pathlib import Path

CODE = re.compile(r"^```.*?^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\b(?:[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Za-z][a-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+)\b")
FILE = re.compile(r"(?<![\w<$~/.*}-])(?:[\w.-]+/)*[\w-]+\.(?:cpp|hpp|h|def|py|sh|md|cmake|map|in|txt|json|1)\b(?![/*<])")
SOURCES = ("include", "src", "softgpu", "python", "tools", "tests", "bench", "examples", "cmake", "check", "tour",
           "CMakeLists.txt", "CMakePresets.json")

# Other people's programs, whose names are theirs.
FOREIGN_PAGES = {"docs/guide/other-programs.md"}
# Names of CUDA, LLVM, Linux and of libraries that we compare with, which our sources have no reason to contain.
FOREIGN_NAMES = set("""
GenericUniformityInfo pidfd_getfd
find_nvidia_binary_utility load_nvidia_dynamic_lib locate_bitcode_lib locate_nvidia_header_directory locate_static_lib
cuda_async_memory_resource device_buffer device_uvector do_allocate do_deallocate host_invokable kernel_launch
launch_config_builder make_unique_span module_t pinned_host_memory_resource scoped_override_t
set_current_device_resource set_stream manylinux_2_36
""".split())
FOREIGN_FILES = {"cuda.h"}


def tracked(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if listing.returncode == 0:
        return [name for name in listing.stdout.split("\0") if name]
    return [str(path.relative_to(root)) for part in (".", *SOURCES) for path in (root / part).rglob("*") if path.is_file()]


def words_of_sources(root, files):
    words = set()
    for name in files:
        words.add(Path(name).stem)
        if name.split("/")[0] in SOURCES and not name.endswith(".md"):
            words.update(re.findall(r"\w+", (root / name).read_text(encoding="utf-8", errors="ignore")))
    return words


def spans(page):
    return [match[1] for match in CODE.finditer(page.read_text(encoding="utf-8")) if match[1]]


def missing_names(page, known):
    return sorted({name for span in spans(page) for name in NAME.findall(span)
                   if name not in known and name not in FOREIGN_NAMES})


def missing_files(page, files):
    def is_there(mentioned):
        return mentioned in FOREIGN_FILES or any(name == mentioned or name.endswith("/" + mentioned) for name in files)
    return sorted({mentioned for span in spans(page) for mentioned in FILE.findall(span) if not is_there(mentioned)})


def main():
    root = Path(sys.argv[1]).resolve()
    files = tracked(root)
    known = words_of_sources(root, files)
    pages = [name for name in files if name.endswith(".md") and name not in FOREIGN_PAGES and name != "CHANGELOG.md"]
    complaints = []
    for name in pages:
        page = root / name
        complaints += [f"{name}: nothing is called {word}" for word in missing_names(page, known)]
        complaints += [f"{name}: there is no file {word}" for word in missing_files(page, files)]
    print("\n".join(complaints) if complaints else f"{len(pages)} pages name only what there is")
    sys.exit(1 if complaints or not pages else 0)


if __name__ == "__main__":
    main()
