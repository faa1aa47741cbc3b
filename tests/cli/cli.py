"""What the tests of the `cuprum` command share: running it in an environment that says only what the test says."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

# Whatever decides what is found must come from the test.
DECIDING = ("CUPRUM_", "CUDA_", "SOFTGPU_", "CONDA_", "LD_")


def fake(name):
    """The library that stands for NVIDIA's; see tests/cli and tests/unit/toolchain."""
    return Path(os.environ["FAKE_" + name])


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_cuprum(self, *arguments, cwd=None, **variables):
        """Runs it on softgpu with the project's toolkit, unless `variables` say otherwise (None unsets one)."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(DECIDING) and name not in ("VIRTUAL_ENV", "NO_COLOR")}
        environment.update(CUPRUM_DRIVER="softgpu", CUDA_HOME=os.environ["CUDA_HOME"],
                           XDG_CACHE_HOME=str(self.folder / "cache"), SOFTGPU_RUNTIME_DIR=str(self.folder / "softgpu"))
        environment.update({name: str(value) for name, value in variables.items() if value is not None})
        for name, value in variables.items():
            if value is None:
                environment.pop(name, None)
        return subprocess.run([os.environ["CUPRUM"], *arguments], env=environment, cwd=cwd, capture_output=True, text=True,
                              check=False)

    def doctor(self, **variables):
        """The report of doctor --json, and its exit code."""
        result = self.run_cuprum("doctor", "--json", **variables)
        self.assertEqual(result.stderr, "")
        return json.loads(result.stdout), result.returncode

    def place(self, library, *parts):
        """Puts a library, or an empty file, at a path below the test's folder."""
        path = self.folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        if library:
            shutil.copy(library, path)
        else:
            path.touch()
        return path
