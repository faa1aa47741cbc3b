#!/usr/bin/env python3
"""usage: header_cost.py [--compiler CXX] [--headers] [--time [ROUNDS]]

What it costs to include all of <cuprum/cuprum.hpp>, against a file that includes <vector>, <string>, <memory>, <span> and
<functional>, which most programs have anyway.

Without --time: compares what the preprocessor makes of both, which depends on no load of the machine, and fails above a
limit. --headers also lists the headers that only cuprum.hpp brings, the largest first.

With --time: measures the processor time of compiling both, in turns, and prints the medians: once only checking syntax,
once at -O2. The goal is at most 1.5 times.
"""

import argparse
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = "".join(f"#include <{name}>\n" for name in ("vector", "string", "memory", "span", "functional"))
LIBRARY = "#include <cuprum/cuprum.hpp>\n"

SIZE_LIMIT = 1.25  # of preprocessed lines; compiling takes longer in about the same proportion
TIME_GOAL = 1.5


def compile_command(compiler, *flags):
    return [compiler, "-std=c++20", "-I", str(ROOT / "include"), "-x", "c++", *flags]


def preprocessed_lines(compiler, text):
    output = subprocess.run(compile_command(compiler, "-E", "-P", "-"), input=text, capture_output=True, text=True,
                            check=True).stdout
    return sum(1 for line in output.splitlines() if line.strip())


def included_files(compiler, text):
    output = subprocess.run(compile_command(compiler, "-M", "-"), input=text, capture_output=True, text=True,
                            check=True).stdout
    return set(re.findall(r"(/\S+)", output))


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def compare_sizes(compiler):
    baseline, library = (preprocessed_lines(compiler, text) for text in (BASELINE, LIBRARY))
    ratio = library / baseline
    print(f"preprocessed lines: {baseline} baseline, {library} with cuprum.hpp: {ratio:.2f} times (limit {SIZE_LIMIT})")
    return ratio <= SIZE_LIMIT


def list_headers(compiler):
    extra = included_files(compiler, LIBRARY) - included_files(compiler, BASELINE)
    sizes = {path: len(pathlib.Path(path).read_bytes().splitlines()) for path in extra}
    for path in sorted(sizes, key=sizes.get, reverse=True):
        print(f"{sizes[path]:7} {path}")


def compare_times(compiler, rounds):
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for name, text in (("baseline", BASELINE), ("library", LIBRARY)):
            sources[name] = pathlib.Path(folder) / f"{name}.cpp"
            sources[name].write_text(text)
        for title, flags in (("syntax only", ["-fsyntax-only"]), ("-O2", ["-O2", "-c", "-o", "/dev/null"])):
            times = {name: [] for name in sources}
            for _ in range(rounds):
                for name, source in sources.items():
                    times[name].append(processor_seconds(compile_command(compiler, *flags, str(source))))
            baseline, library = (statistics.median(times[name]) for name in ("baseline", "library"))
            print(f"{title:12} {baseline:.3f} s baseline, {library:.3f} s with cuprum.hpp: {library / baseline:.2f} times "
                  f"(goal {TIME_GOAL})")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0].removeprefix("usage: "), description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--headers", action="store_true")
    parser.add_argument("--time", type=int, nargs="?", const=15, default=0, metavar="ROUNDS")
    arguments = parser.parse_args()
    if arguments.time:
        compare_times(arguments.compiler, arguments.time)
        return 0
    if arguments.headers:
        list_headers(arguments.compiler)
    return 0 if compare_sizes(arguments.compiler) else 1


if __name__ == "__main__":
    sys.exit(main())
