"""cuprum doctor, on this machine and on this machine made wrong in one way after the other."""

import os
import unittest

from cli import CommandTest, fake


class Doctor(CommandTest):
    def assert_finds(self, report, severity, identifier, what, advice):
        for finding in report["findings"]:
            if finding["id"] == identifier and what in finding["what"] and advice in finding["advice"]:
                self.assertEqual(finding["severity"], severity)
                return
        self.fail(f"no finding {identifier} with {what!r} and {advice!r} among {report['findings']}")

    def test_tells_what_there_is(self):
        report, code = self.doctor()
        self.assertEqual(code, 0)
        self.assertTrue(report["tour_runs"])
        self.assertEqual(report["tour"]["driver"], "softgpu")
        self.assertEqual(report["softgpu"]["devices"][0]["architecture"], "90")
        self.assertGreaterEqual(report["softgpu"]["version"], 13000)
        nvrtc = report["nvrtc"]
        self.assertTrue(os.path.samefile(os.path.dirname(nvrtc["library"]["path"]), os.path.dirname(nvrtc["builtins"])))
        self.assertEqual(nvrtc["library"]["how"], "CUDA_HOME")
        self.assertIn(90, nvrtc["architectures"])
        self.assertTrue(nvrtc["header_folders"])
        programs, kernels = report["caches"]
        self.assertEqual((programs["path"], kernels["path"]), (f"{self.folder}/cache/cuprum", f"{self.folder}/cache/softgpu"))
        self.assertEqual((programs["bytes"], programs["limit"]), (0, 1 << 30))  # the tour tries the compiler itself
        linker = next(library for library in report["libraries"] if library["name"] == "nvJitLink")
        self.assertEqual(linker["cuda_version"], nvrtc["library"]["cuda_version"])
        self.assertTrue(report["headers"])

    def test_reads_well_on_paper(self):
        self.place(None, "programs", "entry").write_text("x" * 2048)
        result = self.run_cuprum("doctor", CUPRUM_CACHE_DIR=self.folder / "programs")
        self.assertEqual(result.returncode, 0, result.stdout)
        for words in ("Drivers", "in use", "Compiler", "libnvrtc", "CUPRUM_DRIVER=softgpu", "programs, 2.0 KiB in 1 files, at most 1.0 GiB",
                      "The tour runs"):
            self.assertIn(words, result.stdout)
        self.assertNotIn("\x1b", result.stdout)

    def test_without_a_driver(self):
        report, code = self.doctor(CUPRUM_SOFTGPU_PATH="/no/such/libcuda.so.1")
        self.assertEqual(code, 1)
        self.assertFalse(report["tour_runs"])
        self.assert_finds(report, "error", "no-driver", "there is no /no/such/libcuda.so.1", "CUPRUM_SOFTGPU=ON")
        result = self.run_cuprum("doctor", CUPRUM_SOFTGPU_PATH="/no/such/libcuda.so.1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("The tour does not run", result.stdout)

    def test_with_an_unknown_driver(self):
        report, code = self.doctor(CUPRUM_DRIVER="amd")
        self.assertEqual(code, 1)
        self.assert_finds(report, "error", "unknown-driver", "'amd'", "auto, nvidia or softgpu")

    def test_without_a_compiler(self):
        report, code = self.doctor(CUPRUM_NVRTC="/no/such/libnvrtc.so")
        self.assertEqual(code, 1)
        self.assert_finds(report, "error", "no-nvrtc", "CUPRUM_NVRTC is '/no/such/libnvrtc.so'", "pip install")

    def test_with_a_driver_that_is_older_than_the_compiler(self):
        driver = self.place(fake("CUDA"), "driver", "libcuda.so.1")
        report, code = self.doctor(CUPRUM_DRIVER="nvidia", LD_LIBRARY_PATH=driver.parent)
        self.assertEqual(code, 1)
        self.assertEqual(report["nvidia"]["version"], 12040)
        self.assert_finds(report, "error", "ptx-newer-than-driver", "the driver takes CUDA 12.4", "nvidia-cuda-nvrtc==12.4.*")

    def test_with_another_compiler_in_ld_library_path(self):
        other = self.place(fake("NVRTC"), "old", "libnvrtc.so.13")
        self.place(fake("NOTHING"), "old", "libnvrtc-builtins.so.13.0")
        report, code = self.doctor(LD_LIBRARY_PATH=other.parent)
        self.assertEqual(code, 0)
        self.assert_finds(report, "warning", "linker-path-shadows", f"programs that link to nvrtc get {other}", "LD_LIBRARY_PATH")

    def test_with_a_runtime_in_ld_library_path_before_the_toolkit_s(self):
        other = self.place(fake("NOTHING"), "old", "libcudart.so.13")
        report, _ = self.doctor(CUDA_HOME=None, LD_LIBRARY_PATH=other.parent)
        runtime = next(library for library in report["libraries"] if library["name"] == "cudart")
        self.assertEqual(runtime["path"], str(other))
        if not runtime["shadowed"]:
            self.skipTest("there is no toolkit in the usual folders")
        self.assert_finds(report, "warning", "linker-path-shadows", f"LD_LIBRARY_PATH puts {other} before", "LD_LIBRARY_PATH")

    def test_where_every_program_gets_softgpu(self):
        softgpu = os.path.dirname(self.doctor()[0]["softgpu"]["path"])
        report, _ = self.doctor(LD_LIBRARY_PATH=softgpu)
        self.assert_finds(report, "note", "softgpu-for-all", "LD_LIBRARY_PATH has its folder", f"take {softgpu} out")

    def test_with_several_things_wrong_that_do_no_harm(self):
        """An old linker, a library that crashes, variables that lead nowhere, two toolkits, a cache that is no folder."""
        file = self.place(None, "file")
        report, code = self.doctor(CUPRUM_NVJITLINK=fake("NVJITLINK"), CUPRUM_NVVM=fake("CRASH"), CONDA_PREFIX="/no/such/conda",
                                   CUDA_PATH=self.folder, SOFTGPU_CACHE_DIR=file / "cache", CUPRUM_CACHE_DIR="off")
        self.assertEqual(code, 0)
        self.assert_finds(report, "warning", "older-than-nvrtc", "nvJitLink 12.2", "install nvJitLink")
        self.assert_finds(report, "warning", "library-unusable", "it crashed", "install it anew")
        self.assert_finds(report, "warning", "variable-names-nothing", "CONDA_PREFIX is '/no/such/conda'", "unset CONDA_PREFIX")
        self.assert_finds(report, "warning", "two-toolkits", f"CUDA_PATH is {self.folder}", "the same toolkit")
        self.assert_finds(report, "warning", "cache-unusable", "file is not a folder", "writable")
        self.assertEqual((report["caches"][0]["path"], report["caches"][0]["problem"]), ("", ""))

    def wheel(self):
        """A virtual environment with a wheel of NVRTC 13.0 and nothing else of CUDA."""
        packages = ("venv", "lib", "python3.11", "site-packages", "nvidia", "cu13")
        nvrtc = self.place(fake("NVRTC"), *packages, "lib", "libnvrtc.so.13")
        self.place(fake("NOTHING"), *packages, "lib", "libnvrtc-builtins.so.13.0")
        return nvrtc

    def test_with_wheels_and_a_toolkit(self):
        nvrtc = self.wheel()
        include = nvrtc.parents[1] / "include"
        include.mkdir()
        (include / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
        (include / "cuda_fp16.h").touch()
        report, _ = self.doctor(VIRTUAL_ENV=self.folder / "venv")
        self.assertEqual(report["nvrtc"]["library"]["via"], "wheel")
        self.assert_finds(report, "warning", "wheels-and-toolkit-mixed", "nvJitLink", "pip install nvidia-nvjitlink==13.0.*")

    def test_with_a_compiler_that_has_no_headers(self):
        report, _ = self.doctor(CUPRUM_NVRTC=self.wheel())
        self.assert_finds(report, "warning", "no-headers", "has no cuda_fp16.h", "CUDA 13.0")

    def test_with_a_stub_for_a_driver(self):
        stub = self.place(fake("NOTHING"), "stubs", "libcuda.so.1")
        report, code = self.doctor(LD_LIBRARY_PATH=stub.parent)
        self.assertEqual(code, 0)  # softgpu was asked for, so it does no harm
        self.assert_finds(report, "warning", "driver-is-a-stub", str(stub), "out of LD_LIBRARY_PATH")


if __name__ == "__main__":
    unittest.main()
