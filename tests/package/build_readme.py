#!/usr/bin/env python3
"""usage: build_readme.py README FOLDER CMAKE [OPTION...]

Takes the program and the CMakeLists.txt that the README shows, word for word, and builds and runs them.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path


def code_blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main():
    readme, folder, cmake, *options = sys.argv[1:]
    text = Path(readme).read_text(encoding="utf-8")
    programs = [block for block in code_blocks(text, "cpp") if "int main()" in block]
    lists = [block for block in code_blocks(text, "cmake") if "find_package(cuprum" in block]
    if len(programs) != 1 or len(lists) != 1:
        sys.exit(f"{readme} should show one program and one CMakeLists.txt; it shows {len(programs)} and {len(lists)}")

    source = Path(folder)
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    (source / "CMakeLists.txt").write_text(lists[0], encoding="utf-8")
    executable, file = re.search(r"add_executable\((\w+) ([\w.]+)\)", lists[0]).groups()
    (source / file).write_text(programs[0], encoding="utf-8")

    build = source / "build"
    subprocess.run([cmake, "-S", source, "-B", build, *options], check=True)
    subprocess.run([cmake, "--build", build], check=True)
    subprocess.run([build / executable], check=True)


if __name__ == "__main__":
    main()
