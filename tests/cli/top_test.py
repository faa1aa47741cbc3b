"""cuprum top shows devices and processes: once for scripts, again and again on a terminal."""

import json
import os
import pty
import re
import select
import subprocess
import time
import unittest

from cli import CommandTest, fake


class Top(CommandTest):
    def test_shows_it_once_for_scripts(self):
        for option in ("--once", None):  # the output is no terminal
            result = self.run_cuprum("top", *([option] if option else []), SOFTGPU_DEVICES=2, SOFTGPU_MEMORY="512M")
            self.assertEqual(result.returncode, 0, result.stderr)
            for words in ("CUDA 13.0", "Device 0: Cuprum softgpu", "Device 1:", "0 bytes of 512.0 MiB", "no process uses a device"):
                self.assertIn(words, result.stdout)
            self.assertNotIn("\033", result.stdout)

    def test_tells_programs(self):
        report = json.loads(self.run_cuprum("top", "--json").stdout)
        device = report["devices"][0]
        self.assertEqual((device["memory_used_bytes"], device["gpu_utilization_percent"]), (0, 0))
        self.assertIsNone(device["power_milliwatts"])
        self.assertEqual(report["processes"], [])

    def test_shows_processes(self):
        """Of a library that knows a hundred of them."""
        text = self.run_cuprum("top", CUPRUM_NVML=fake("GPU_STATE")).stdout
        for words in ("17 %", "1.0 GiB of 4.0 GiB", "41 °C", "123 W"):
            self.assertIn(words, text)
        self.assertRegex(text, r"(?m)^ +0 +1000 .* 1\.0 MiB  /usr/bin/train$")
        self.assertEqual(len(re.findall(r"(?m)^ +0 +10\d\d ", text)), 100)

    def test_says_why_there_is_nothing_to_ask(self):
        result = self.run_cuprum("top", CUPRUM_SOFTGPU_PATH="/no/such/libcuda.so.1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such/libnvidia-ml.so.1", result.stderr)

    def test_refuses_what_makes_no_sense(self):
        for interval in ("soon", "5", "-1", "99"):
            result = self.run_cuprum("top", "--once", "--interval", interval)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"--interval is '{interval}'; it takes a number from 100", result.stderr)

    def test_draws_again_and_again_until_q_is_pressed(self):
        ours, theirs = pty.openpty()
        environment = {**os.environ, "CUPRUM_DRIVER": "softgpu", "TERM": "xterm", "SOFTGPU_RUNTIME_DIR": str(self.folder / "softgpu")}
        process = subprocess.Popen([os.environ["CUPRUM"], "top", "--interval", "100"], stdin=theirs, stdout=theirs, env=environment)
        os.close(theirs)
        seen = ""
        end = time.monotonic() + 60
        while seen.count("Device 0:") < 3 and time.monotonic() < end:
            if select.select([ours], [], [], 1)[0]:
                seen += os.read(ours, 65536).decode()
        os.write(ours, b"q")
        self.assertGreaterEqual(seen.count("Device 0:"), 3)
        rest = ""
        while "\033[?1049l" not in rest and time.monotonic() < end:
            if select.select([ours], [], [], 1)[0]:
                rest += os.read(ours, 65536).decode()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertIn("\033[?1049h", seen)  # a screen of its own,
        self.assertIn("\033[?1049l", rest)  # which it leaves
        os.close(ours)


if __name__ == "__main__":
    unittest.main()
