#!/usr/bin/env python3
"""usage: reference_test.py ROOT: tools/reference/make.sh takes headers whose public names have comments, and names the others."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))

# Everything that a header may have without a word of its own.
DOCUMENTED = """
/// A thing.
class Thing {
 public:
  /// An empty one.
  Thing() = default;
  Thing(const Thing&) = default;
  Thing(Thing&& other) noexcept = default;
  Thing& operator=(const Thing&) = default;
  ~Thing();
  /// In bytes.
  int size() const;
  /// By size.
  friend bool operator==(const Thing& a, const Thing& b);
  friend auto operator<=>(const Thing&, const Thing&) = default;

 private:
  friend struct Other;
  enum class Side { left, right };
  int size_;
};

/// A choice.
enum class Choice {
  one,  ///< of them
};
"""

AFTER = """
/// By size.
template <>
struct std::hash<cuprum::Thing> {
  std::size_t operator()(const cuprum::Thing& thing) const noexcept;
};
"""

LIST = "// A list.\n\n{words}CUPRUM_DEVICE_PROPERTY(int, speed, SPEED)\n\n#undef CUPRUM_DEVICE_PROPERTY\n"


class Reference(unittest.TestCase):
    def make(self, text, list_words="/// In miles.\n"):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "tools/reference", Path(folder, "tools/reference"))
            Path(folder, "CMakeLists.txt").write_text("project(cuprum VERSION 1.0)\n", encoding="utf-8")
            headers = Path(folder, "include/cuprum")
            for name in ("graph", "detail"):
                (headers / name).mkdir(parents=True)
            (headers / "detail/library_api.hpp").write_text("", encoding="utf-8")
            (headers / "graph/graph.hpp").write_text("", encoding="utf-8")
            (headers / "detail/device_properties.def").write_text(LIST.format(words=list_words), encoding="utf-8")
            (headers / "thing.hpp").write_text(
                f"/// All of it.\nnamespace cuprum::inline CUPRUM_ABI {{\n{text}\n}}\n{AFTER}", encoding="utf-8")
            result = subprocess.run(["bash", "tools/reference/make.sh", Path(folder, "out")], cwd=folder,
                                    capture_output=True, text=True)
            return result.returncode, result.stdout + result.stderr

    def test_names_with_comments_pass(self):
        code, output = self.make(DOCUMENTED)
        self.assertEqual(code, 0, output)

    def test_a_name_without_one_is_named(self):
        for declaration, name in (("class New;\nclass New { public: /** It. */ int f(); };", "New"),
                                  ("int added(int number);", "added"),
                                  ("using Number = int;", "Number"),
                                  ("/// It.\nstruct S {\n  int field;\n};", "field"),
                                  ("/// It.\nstruct S {\n  /// It.\n  int f();\n  int f(int overload);\n};", "int overload"),
                                  ("enum class Kind { first };", "Kind"),
                                  ("/// It.\nenum class Kind {\n  first,  ///< of them\n  second,\n};", "Kind::second"),
                                  ("/// It.\nstruct S {\n  friend bool operator<(S a, S b);\n};", "S::operator<")):
            with self.subTest(name):
                code, output = self.make(DOCUMENTED + declaration)
                self.assertNotEqual(code, 0)
                self.assertIn(name, output)

    def test_functions_that_a_list_makes_need_one_each(self):
        text = DOCUMENTED + """
/// What it is like.
class Properties {
 public:
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) type name() const;
#include <cuprum/detail/device_properties.def>
};
"""
        code, output = self.make(text)
        self.assertEqual(code, 0, output)
        code, output = self.make(text, list_words="")
        self.assertNotEqual(code, 0)
        self.assertIn("speed", output)


if __name__ == "__main__":
    unittest.main()
