#!/usr/bin/env python3
"""usage: check_includes_test.py CHECK_INCLUDES: it accepts what the layers allow and names what they forbid."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK_INCLUDES = Path(sys.argv.pop(1))


class CheckIncludes(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, CHECK_INCLUDES, folder], capture_output=True, text=True)
            return result.returncode, result.stdout

    def assert_allowed(self, files):
        self.assertEqual(self.check(files)[0], 0)

    def assert_forbidden(self, files, *words):
        code, output = self.check(files)
        self.assertEqual(code, 1)
        for word in words:
            self.assertIn(word, output)

    def test_a_layer_may_include_what_it_is_built_on(self):
        self.assert_allowed({"softgpu/ptx/ast.hpp": "", "softgpu/lower/lower.cpp": '#include "softgpu/ptx/ast.hpp"\n'})

    def test_also_through_another_layer(self):
        self.assert_allowed({"softgpu/ptx/ast.hpp": "", "softgpu/api/module.cpp": '#include "softgpu/ptx/ast.hpp"\n'})

    def test_a_layer_may_not_include_what_is_above_it(self):
        self.assert_forbidden({"softgpu/lower/lower.hpp": "", "softgpu/ptx/parse.cpp": '\n#include "softgpu/lower/lower.hpp"\n'},
                              "softgpu/ptx/parse.cpp:2:", "not built on softgpu/lower")

    def test_the_two_libraries_do_not_know_each_other(self):
        self.assert_forbidden({"include/cuprum/device.hpp": "", "softgpu/runtime/device.cpp": "#include <cuprum/device.hpp>\n"},
                              "softgpu/runtime/device.cpp:1:")

    def test_llvm_is_for_the_compiler_only(self):
        self.assert_forbidden({"softgpu/exec/pool.cpp": '#include "llvm/IR/Module.h"\n'}, "llvm/IR/Module.h")
        self.assert_allowed({"softgpu/jit/session.cpp": '#include "llvm/IR/Module.h"\n'})

    def test_examples_see_the_public_headers_only(self):
        self.assert_forbidden({"src/support/log.hpp": "", "examples/tour.cpp": '#include "support/log.hpp"\n'}, "examples/tour.cpp:1:")

    def test_an_include_that_leads_nowhere_is_an_error(self):
        self.assert_forbidden({"softgpu/ptx/parse.cpp": '#include "softgpu/ptx/prase.hpp"\n'}, "no such file")

    def test_a_new_folder_needs_a_place_among_the_layers(self):
        self.assert_forbidden({"softgpu/new/thing.cpp": ""}, "no known layer")


if __name__ == "__main__":
    unittest.main()
