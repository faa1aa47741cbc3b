#!/usr/bin/env python3
"""Sums up a run of tools/cuda-core-tests.sh: a table by file on stdout, and the causes of failures in a Markdown file.

usage: cuda_core_report.py RESULTS REPORT
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS = ("passed", "failed", "errors", "skipped")
CRASHES = {
    134: "abort",
    139: "segmentation fault",
    136: "arithmetic fault",
    135: "bus error",
    124: "took too long",
    137: "killed",
}


@dataclass
class File:
    """The results of one file of tests."""

    name: str
    code: int
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)  # test, message
    crash: str = ""


def read(results: Path) -> list[File]:
    return [read_file(code, results) for code in sorted(results.glob("*.code"))]


def read_file(code: Path, results: Path) -> File:
    file = File(code.stem, int(code.read_text()))
    xml = results / f"{code.stem}.xml"
    log = (results / f"{code.stem}.log").read_text(errors="replace")
    if not xml.exists():  # pytest writes it when it ends
        file.crash = CRASHES.get(file.code, f"exit code {file.code}")
        last = re.findall(r"Fatal Python error.*|Current thread.*\n.*|^E .*", log, re.M) or log.splitlines()[-1:]
        file.failures.append(("(the whole file)", f"crash: {file.crash}: {' '.join(last[:2])[:300]}"))
        return file
    # A test that was run again is there once for each run: the last one counts.
    last = {
        f"{case.get('classname')}::{case.get('name')}": case
        for case in ElementTree.parse(xml).getroot().iter("testcase")
    }
    for test, case in last.items():
        outcome, message = outcome_of(case)
        file.counts[outcome] += 1
        if outcome in ("failed", "errors"):
            file.failures.append((test, message))
    return file


def outcome_of(case: ElementTree.Element) -> tuple[str, str]:
    for tag, outcome in (("failure", "failed"), ("error", "errors"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            return outcome, last_error(found)
    return "passed", ""


def last_error(found: ElementTree.Element) -> str:
    """The line that says what was raised, which pytest marks with an E."""
    lines = [line[1:].strip() for line in (found.text or "").splitlines() if line.startswith("E ")]
    for index, line in enumerate(lines):
        if "Regex pattern did not match" in line:
            return " ".join(["message", *lines[index + 1 : index + 3]])
        if re.match(r"[\w.]*(Error|Exception|Warning|Failed|Exit)\b", line):
            return line
    return lines[0] if lines else (found.get("message") or "no message")


def cause_of(message: str) -> str:
    """The message without what differs from test to test."""
    missing = re.search(r"([\w.]+) is served by cuprum [\w.]+ here, which has no '(\w+)'", message)
    if missing:
        return f"no {missing[1]}.{missing[2]}"
    attribute = re.search(
        r"type object '([\w.]+)' has no attribute '(\w+)'|'([\w.]+)' object has no attribute '(\w+)'", message
    )
    if attribute:
        return f"no attribute {attribute[1] or attribute[3]}.{attribute[2] or attribute[4]}"
    if message.startswith("message "):
        return message[:160]
    text = re.sub(r"0x[0-9a-fA-F]+", "0x…", message)
    text = re.sub(r"\d{2,}", "N", text)
    return text[:110]


def table(files: list[File]) -> str:
    width = max(len(file.name) for file in files)
    lines = [f"{'file':{width}}  " + "  ".join(f"{name:>7}" for name in COLUMNS) + "  crashed"]
    total: Counter[str] = Counter()
    for file in files:
        total.update(file.counts)
        counts = "  ".join(f"{file.counts[name]:7}" for name in COLUMNS)
        lines.append(f"{file.name:{width}}  {counts}  {file.crash}")
    crashed = sum(bool(file.crash) for file in files)
    lines.append(f"{'all':{width}}  " + "  ".join(f"{total[name]:7}" for name in COLUMNS) + f"  {crashed}")
    return "\n".join(lines)


def causes(files: list[File]) -> str:
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for file in files:
        for test, message in file.failures:
            found[cause_of(message)].append((file.name, test, message))
    lines = []
    for cause, cases in sorted(found.items(), key=lambda item: -len(item[1])):
        name, test, message = cases[0]
        where = Counter(case[0] for case in cases).most_common(3)
        spread = ", ".join(f"{file} {count}" for file, count in where)
        lines.append(f"- **{len(cases)}** {cause} ({spread})\n  {name} {test.split('.')[-1]}: `{message[:300]}`")
    return "\n".join(lines)


def main(results: Path, report: Path) -> None:
    files = read(results)
    if not files:
        raise SystemExit(f"no results in {results}")
    summary = table(files)
    print(summary)
    report.write_text(
        f"# NVIDIA's tests of cuda.core over cuprum\n\n```\n{summary}\n```\n\n## Causes\n\n{causes(files)}\n"
    )
    print(f"causes of failures: {report}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
