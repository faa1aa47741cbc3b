"""Runs the snippets of one document under the drop-in, one after the other; prints what became of each as JSON.

usage: run_seed.py DOCUMENT
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path

import seed_stand_ins
import stand_ins
from seed_text import snippets_of

import cuprum.as_cuda_core  # noqa: F401


def main(path: Path) -> None:
    stand_ins.install()
    names: dict[str, object] = {"__name__": "__main__"}
    results = []
    for index, snippet in enumerate(snippets_of(path.read_text())):
        code = seed_stand_ins.prepared(path.stem, index, snippet.code, names)
        results.append({"heading": snippet.heading, **run(code, f"<{path.stem} {index}>", names)})
    print(json.dumps(results))


def run(code: str, name: str, names: dict[str, object]) -> dict[str, str]:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), names)
    except BaseException:
        return {"error": traceback.format_exc(limit=-3) + f"\n--- of\n{code}", "output": printed.getvalue()}
    return {"error": "", "output": printed.getvalue()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
