"""cuprum top shows devices and processes: once for scripts, again and again on a terminal."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
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

    def test_shows_names_of_processes_as_text(self):
        holder = "import ctypes, sys; cuda = ctypes.CDLL(sys.argv[1]); context = ctypes.c_void_p(); cuda.cuInit(0); "
        holder += "cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0); print('ready', flush=True); sys.stdin.read()"
        folder = str(self.folder / "softgpu")
        environment = {**os.environ, "SOFTGPU_RUNTIME_DIR": folder}
        command = ["a\n\033[31mb", "-c", holder, os.environ["SOFTGPU"]]
        with subprocess.Popen(command, executable=sys.executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
            process.stdout.readline()
            once = self.run_cuprum("top", "--once", SOFTGPU_RUNTIME_DIR=folder).stdout
            info = self.run_cuprum("info", SOFTGPU_RUNTIME_DIR=folder).stdout
            report = json.loads(self.run_cuprum("top", "--json", SOFTGPU_RUNTIME_DIR=folder).stdout)
            process.stdin.close()
        self.assertRegex(once, rf"(?m)^ +0 +{process.pid} .* a\?\?\[31mb$")
        self.assertIn(f"{process.pid}  a??[31mb", info)
        self.assertEqual(report["processes"][0]["name"], "a\n\033[31mb")


class TopOnATerminal(CommandTest):
    def setUp(self):
        super().setUp()
        self.ours, self.theirs = pty.openpty()
        self.addCleanup(os.close, self.ours)
        self.seen = ""

    def start(self, **variables):
        environment = {**os.environ, "CUPRUM_DRIVER": "softgpu", "TERM": "xterm", "SOFTGPU_RUNTIME_DIR": str(self.folder / "softgpu"), **variables}
        command = [os.environ["CUPRUM"], "top", "--interval", "100"]
        process = subprocess.Popen(command, stdin=self.theirs, stdout=self.theirs, env=environment)
        os.close(self.theirs)
        return process

    def see(self, words, times=1):
        """What is drawn until the words are there so many times, from where it was looked at last."""
        end = time.monotonic() + 60
        seen = ""
        while seen.count(words) < times and time.monotonic() < end:
            if select.select([self.ours], [], [], 1)[0]:
                seen += os.read(self.ours, 65536).decode()
        self.assertGreaterEqual(seen.count(words), times)
        return seen

    def test_draws_again_and_again_until_q_is_pressed(self):
        process = self.start()
        self.assertIn("\033[?1049h", self.see("Device 0:", times=3))  # a screen of its own,
        os.write(self.ours, b"q")
        self.see("\033[?1049l")  # which it leaves
        self.assertEqual(process.wait(timeout=60), 0)

    def test_draws_no_more_lines_than_there_are(self):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", 9, 40, 0, 0))
        process = self.start(SOFTGPU_DEVICES="8")
        pictures = self.see("\033[J", times=2).split("\033[H")[1:]
        self.assertEqual(pictures[0].count("\n"), 8)
        self.assertIn("Device 0:", pictures[0])
        self.assertIn("more lines than the terminal has", pictures[0])
        os.write(self.ours, b"q")
        self.see("\033[?1049l")
        self.assertEqual(process.wait(timeout=60), 0)

    def test_gives_the_terminal_back_while_it_is_stopped(self):
        process = self.start()
        self.see("Device 0:")
        process.send_signal(signal.SIGTSTP)
        self.see("\033[?1049l")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
        process.send_signal(signal.SIGCONT)
        self.see("\033[?1049h")
        self.see("Device 0:")
        os.write(self.ours, b"q")
        self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
