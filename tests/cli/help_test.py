"""--help, --version, the man page, colours, and what is said to a command line that makes no sense."""

import os
import pty
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from cli import CommandTest

MAN_PAGE = Path(os.environ["SOURCE"], "docs", "man", "cuprum.1")


class Help(CommandTest):
    def verbs(self):
        return re.findall(r"^  (\w+) ", self.run_cuprum("--help").stdout, re.MULTILINE)

    def test_lists_the_verbs(self):
        result = self.run_cuprum("--help")
        self.assertEqual(result.returncode, 0)
        self.assertLessEqual({"doctor", "info", "exec"}, set(self.verbs()))

    def test_without_a_verb_helps_and_fails(self):
        result = self.run_cuprum()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("usage: cuprum VERB", result.stderr)

    def test_every_verb_has_help(self):
        for verb in self.verbs():
            for option in ("--help", "-h"):
                result = self.run_cuprum(verb, option)
                self.assertEqual(result.returncode, 0)
                self.assertTrue(result.stdout.startswith(f"usage: cuprum {verb}"))
                self.assertIn("Exit codes:", result.stdout)

    def test_says_its_version(self):
        result = self.run_cuprum("--version")
        self.assertRegex(result.stdout, r"^cuprum \d+\.\d+\.\d+\n$")

    def test_refuses_what_it_does_not_know(self):
        result = self.run_cuprum("docter")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no verb 'docter'; there are doctor info top exec", result.stderr)
        result = self.run_cuprum("doctor", "--jsno")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no option '--jsno'; there are --json", result.stderr)

    def test_notices_that_its_output_is_lost(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([os.environ["CUPRUM"], "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("could not be written", result.stderr)


class ManPage(CommandTest):
    def test_is_what_the_command_says_of_itself(self):
        self.assertEqual(MAN_PAGE.read_text(encoding="utf-8"), self.run_cuprum("--man-page").stdout,
                         f"write it anew: cuprum --man-page > {MAN_PAGE}")

    def test_has_every_option_of_the_help(self):
        text = MAN_PAGE.read_text(encoding="utf-8").replace("\\-", "-")
        for verb in ("doctor", "info", "exec"):
            section = text.split(f".SH CUPRUM {verb.upper()}")[1].split(".SH")[0]
            for option in re.findall(r"^  (--\S+)", self.run_cuprum(verb, "--help").stdout, re.MULTILINE):
                self.assertIn(f".B {option}", section)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_is_well_formed(self):
        result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", MAN_PAGE], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Colours(CommandTest):
    def on_a_terminal(self, **variables):
        """What `cuprum info` writes to a terminal."""
        ours, theirs = pty.openpty()
        environment = os.environ | {"CUPRUM_DRIVER": "softgpu", "TERM": "xterm"} | variables
        with subprocess.Popen([os.environ["CUPRUM"], "info"], env=environment, stdout=theirs) as process:
            os.close(theirs)
            output = b""
            try:
                while part := os.read(ours, 4096):
                    output += part
            except OSError:  # the other side is closed
                pass
            process.wait()
        os.close(ours)
        return output.decode()

    def test_are_for_terminals_only(self):
        self.assertIn("\x1b[1m", self.on_a_terminal(NO_COLOR=""))
        self.assertNotIn("\x1b", self.run_cuprum("info").stdout)

    def test_can_be_switched_off(self):
        self.assertNotIn("\x1b", self.on_a_terminal(NO_COLOR="1"))
        self.assertNotIn("\x1b", self.on_a_terminal(TERM="dumb"))


if __name__ == "__main__":
    unittest.main()
