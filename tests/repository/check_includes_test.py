#!/usr/bin/env python3
"""usage: check_includes_test.py CHECK_INCLUDES: it accepts what the layers allow and names what they forbid."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK_INCLUDES = Path(sys.argv.pop(1))


class CheckIncludes(unittest.TestCase):
    def check(self, files, tool):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, tool, folder], capture_output=True, text=True)
            return result.returncode, result.stdout

    def assert_allowed(self, files):
        self.assertEqual(self.check(files, CHECK_INCLUDES), (0, f"{len(files)} files keep to the layers\n"))

    def assert_forbidden(self, files, *words, tool=CHECK_INCLUDES):
        code, output = self.check(files, tool)
        self.assertEqual(code, 1)
        for word in words:
            self.assertIn(word, output)

    def test_a_folder_may_include_what_is_named_for_it(self):
        self.assert_allowed({"softgpu/ptx/ast.hpp": "", "softgpu/lower/lower.cpp": '#include "softgpu/ptx/ast.hpp"\n'})

    def test_but_not_what_that_includes_in_turn(self):
        self.assert_forbidden({"softgpu/ptx/ast.hpp": "", "softgpu/api/code/module.cpp": '#include "softgpu/ptx/ast.hpp"\n'},
                              "softgpu/api/code/module.cpp:1:", "softgpu/ptx is not among what softgpu/api/code may include")

    def test_a_folder_may_not_include_what_is_above_it(self):
        self.assert_forbidden({"softgpu/lower/lower.hpp": "", "softgpu/ptx/parse.cpp": '\n#include "softgpu/lower/lower.hpp"\n'},
                              "softgpu/ptx/parse.cpp:2:", "softgpu/lower is not among")

    def test_the_folders_of_one_part_have_an_order_too(self):
        self.assert_allowed({"softgpu/runtime/work/op.hpp": "",
                             "softgpu/runtime/graphs/graph.cpp": '#include "softgpu/runtime/work/op.hpp"\n'})
        self.assert_forbidden({"softgpu/runtime/graphs/graph.hpp": "",
                               "softgpu/runtime/work/op.cpp": '#include "softgpu/runtime/graphs/graph.hpp"\n'},
                              "softgpu/runtime/work/op.cpp:1:")
        self.assert_forbidden({"softgpu/runtime/driver.hpp": "",
                               "softgpu/runtime/memory/copy.cpp": '#include "softgpu/runtime/driver.hpp"\n'},
                              "softgpu/runtime is not among what softgpu/runtime/memory may include")

    def test_a_subfolder_that_is_not_named_belongs_to_its_folder(self):
        self.assert_allowed({"include/cuprum/detail/export.hpp": "",
                             "src/support/log.cpp": "#include <cuprum/detail/export.hpp>\n"})

    def test_the_two_libraries_do_not_know_each_other(self):
        self.assert_forbidden({"include/cuprum/device.hpp": "",
                               "softgpu/runtime/base/device.cpp": "#include <cuprum/device.hpp>\n"},
                              "softgpu/runtime/base/device.cpp:1:")

    def test_llvm_is_for_the_compiler_only(self):
        self.assert_forbidden({"softgpu/exec/pool.cpp": '#include "llvm/IR/Module.h"\n'}, "llvm/IR/Module.h")
        self.assert_allowed({"softgpu/jit/session.cpp": '#include "llvm/IR/Module.h"\n'})

    def test_examples_see_the_public_headers_only(self):
        self.assert_forbidden({"src/support/log.hpp": "", "examples/tour.cpp": '#include "support/log.hpp"\n'}, "examples/tour.cpp:1:")

    def test_an_include_that_leads_nowhere_is_an_error(self):
        self.assert_forbidden({"softgpu/ptx/parse.cpp": '#include "softgpu/ptx/prase.hpp"\n'}, "no such file")

    def test_a_new_folder_needs_a_place_among_the_layers(self):
        self.assert_forbidden({"softgpu/new/thing.cpp": ""}, "no known layer")
        self.assert_forbidden({"softgpu/runtime/new/thing.cpp": ""}, "no known layer")

    def test_the_table_has_no_way_back(self):
        text = CHECK_INCLUDES.read_text(encoding="utf-8")
        cycle = text.replace('"softgpu/runtime/base": [', '"softgpu/runtime/base": ["softgpu/runtime/graphs", ')
        self.assertNotEqual(cycle, text)
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder, "tool.py")
            tool.write_text(cycle, encoding="utf-8")
            self.assert_forbidden({"softgpu/ptx/ast.hpp": ""}, "softgpu/runtime/graphs, which does not come before it", tool=tool)


if __name__ == "__main__":
    unittest.main()
