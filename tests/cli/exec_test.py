"""cuprum exec runs programs that know nothing of softgpu: C programs that get at NVRTC, nvJitLink and the driver in every
way there is. tests/foreign/exec has NVIDIA's own Python packages."""

import glob
import os
import subprocess
import unittest
from pathlib import Path

from cli import CommandTest, fake

SOFTGPU = Path(os.environ["SOFTGPU"])
CLIENT = Path(__file__).parent / "exec_client.c"
ALL_RUN = "compiled and run\nlinked and run\noptimised and run\n"


def library(name):
    """A library of the toolkit that the project is built with, such as libnvrtc.so.13."""
    for folder in ("lib64", "lib"):
        found = sorted(glob.glob(os.path.join(os.environ["CUDA_HOME"], folder, name + ".so.[0-9]*")))
        if found:
            return found[0]
    raise unittest.SkipTest(f"there is no {name} in {os.environ['CUDA_HOME']}")


class Exec(CommandTest):
    def compile(self, output, *arguments):
        subprocess.run([os.environ["CC"], "-g", "-o", self.folder / output, *map(str, arguments)], check=True, cwd=self.folder)
        return self.folder / output

    def run_client(self, program, *arguments, **variables):
        result = self.run_cuprum("exec", "--", program, *arguments, CUPRUM_DRIVER=None, cwd=self.folder, **variables)
        self.assertEqual((result.stdout, result.returncode), (ALL_RUN, 0), result.stderr)

    def test_passes_words_and_exit_code_on(self):
        result = self.run_cuprum("exec", "sh", "-c", 'echo "$CUPRUM_DRIVER $# $1 $2"; exit 7', "sh", "a b", "--json")
        self.assertEqual((result.stdout, result.returncode), ("softgpu 2 a b --json\n", 7))

    def test_keeps_what_else_is_to_be_loaded(self):
        result = self.run_cuprum("exec", "--", "sh", "-c", 'echo "$LD_LIBRARY_PATH $LD_PRELOAD"', LD_LIBRARY_PATH="/somewhere",
                                 LD_PRELOAD=fake("NOTHING"))
        self.assertRegex(result.stdout, f"^/.*softgpu:/somewhere {fake('NOTHING')}:/.*libsoftgpu-forward.so\n$")

    def test_says_what_can_not_be_run(self):
        for arguments, code, words in (
            ((), 125, "there is no program to run"),
            (("--fast", "true"), 125, "there is no option '--fast'"),
            (("/no/such/program",), 127, "/no/such/program: No such file"),
            ((str(self.place(None, "plain")),), 126, "Permission denied"),
        ):
            result = self.run_cuprum("exec", *arguments)
            self.assertEqual(result.returncode, code)
            self.assertIn(words, result.stderr)

    def test_says_when_softgpu_is_missing(self):
        result = self.run_cuprum("exec", "true", CUPRUM_SOFTGPU_PATH="/no/such/libcuda.so.1")
        self.assertEqual(result.returncode, 125)
        self.assertIn("there is no /no/such/libcuda.so.1", result.stderr)

    def linked(self, output, *arguments):
        """The client linked to the libraries, which it finds by itself but for the driver."""
        folder = os.path.dirname(library("libnvrtc"))
        return self.compile(output, "-DLINKED", *arguments, CLIENT, library("libnvrtc"), library("libnvJitLink"), SOFTGPU,
                            f"-Wl,-rpath,{folder}")

    def test_runs_a_program_that_is_linked_to_the_libraries(self):
        self.run_client(self.linked("linked"))

    def test_runs_a_program_that_opens_them_by_name(self):
        nvrtc, linker = library("libnvrtc"), library("libnvJitLink")
        self.run_client(self.compile("opened", CLIENT, "-ldl"), os.path.basename(nvrtc), os.path.basename(linker), "libcuda.so.1",
                        LD_LIBRARY_PATH=os.path.dirname(nvrtc))

    def test_runs_a_program_that_opens_them_by_path(self):
        """Also the driver, by the path of NVIDIA's, whether that is there or not."""
        self.run_client(self.compile("opened", CLIENT, "-ldl"), library("libnvrtc"), library("libnvJitLink"),
                        "/usr/lib/x86_64-linux-gnu/libcuda.so.1")

    def test_runs_a_plugin_that_is_linked_to_them(self):
        """A plugin's libraries are its own: the program that opens it doesn't see them."""
        plugin = self.linked("plugin.so", "-shared", "-fPIC", "-DENTRY=run_plugin")
        host = self.folder / "host.c"
        host.write_text("""#include <dlfcn.h>
            int main(int count, char** words) {
              void* plugin = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
              return plugin ? ((int (*)(int, char**))dlsym(plugin, "run_plugin"))(count, words) : 2;
            }""", encoding="utf-8")
        self.run_client(self.compile("host", host, "-ldl"), plugin)

    def test_runs_a_plugin_that_prefers_its_own_libraries(self):
        """With RTLD_DEEPBIND, a plugin's dlopen is the C library's. So the name for linking has to be found, too."""
        plugin = self.folder / "plugin.c"
        plugin.write_text("""#include <dlfcn.h>
            int run_plugin(void) {
              void* driver = dlopen("libcuda.so", RTLD_NOW);
              return driver && dlsym(driver, "cuInit") ? ((int (*)(unsigned))dlsym(driver, "cuInit"))(0) : 2;
            }""", encoding="utf-8")
        host = self.folder / "host.c"
        host.write_text("""#define _GNU_SOURCE
            #include <dlfcn.h>
            int main(int count, char** words) {
              void* plugin = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_DEEPBIND) : 0;
              return plugin ? ((int (*)(void))dlsym(plugin, "run_plugin"))() : 3;
            }""", encoding="utf-8")
        result = self.run_cuprum("exec", "--", self.compile("host", host, "-ldl"),
                                 self.compile("plugin.so", plugin, "-shared", "-fPIC", "-ldl"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def run_nvcc(self, *arguments):
        nvcc = Path(os.environ["CUDA_HOME"]) / "bin" / "nvcc"
        if not nvcc.exists():
            raise unittest.SkipTest(f"there is no {nvcc}")
        kernel = self.folder / "kernel.cu"
        kernel.write_text('extern "C" __global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x * threadIdx.x; }',
                          encoding="utf-8")
        result = self.run_cuprum("exec", "--", nvcc, *arguments, kernel, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_runs_what_nvcc_compiled(self):
        """To machine code alone, as programs do that call nvcc at run time."""
        client = self.compile("opened", CLIENT, "-ldl")
        libraries = library("libnvrtc"), library("libnvJitLink"), "libcuda.so.1"
        for arguments in (("-cubin", "-arch=sm_90"), ("--cubin", "-gencode", "arch=compute_90,code=sm_90", "-o", "kernel.cubin")):
            self.run_nvcc(*arguments)
            result = self.run_cuprum("exec", "--", client, *libraries, "kernel.cubin", cwd=self.folder)
            self.assertEqual((result.stdout, result.returncode), ("loaded and run\n", 0), result.stderr)

    def test_leaves_machine_code_alone_that_nvcc_works_on(self):
        """fatbinary would take the image for machine code."""
        self.run_nvcc("-fatbin", "-no-compress", "-gencode", "arch=compute_90,code=sm_90")
        image = (self.folder / "kernel.fatbin").read_bytes()
        self.assertEqual(image.count(b"\x50\xed\x55\xba"), 1)
        self.assertNotIn(b".visible", image)

    def test_without_it_machine_code_is_refused(self):
        """Which shows that the tests above test something."""
        program = self.linked("linked")
        result = subprocess.run([program], cwd=self.folder, capture_output=True, text=True, check=False,
                                env={"LD_LIBRARY_PATH": str(SOFTGPU.parent)})
        self.assertEqual(result.returncode, 1)
        self.assertIn("cuModuleLoadData", result.stdout)

    def test_says_once_that_the_runtime_is_out_of_reach(self):
        """When the runtime's table is asked for. Others ask for tables of theirs, and do without."""
        asks = self.folder / "asks.c"
        asks.write_text("""#include <dlfcn.h>
            #include <stdio.h>
            int main(void) {
              const unsigned char id[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                            0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9}, other[16] = {1};
              int (*get_table)(const void**, const void*) = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetExportTable");
              for (int i = 0; i < 3; ++i) {
                const void* table = id;
                int code = get_table(&table, i == 0 ? other : id);
                fprintf(stderr, "%d %d\\n", code, table == 0);
              }
            }""", encoding="utf-8")
        result = self.run_cuprum("exec", "--", self.compile("asks", asks, "-ldl"))
        self.assertRegex(result.stderr, r"^500 1\nsoftgpu: .*CUDA runtime \(cudart\) can't initialise.*\n500 1\n500 1\n$")

    def test_does_not_come_between_a_caller_and_the_loader(self):
        """RTLD_NEXT is counted from the library that asks, and a library's own search path is for what it opens."""
        order = self.folder / "order.c"
        order.write_text("""#define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #ifdef VALUE
            int value(void) { return VALUE; }
            #else
            int ask_next(void) { return ((int (*)(void))dlsym(RTLD_NEXT, "value"))(); }
            int finds_its_own(void) { return dlopen("libprivate.so", RTLD_NOW) != 0; }
            #endif
            """, encoding="utf-8")
        main = self.folder / "main.c"
        main.write_text("""#define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            int value(void), ask_next(void), finds_its_own(void);
            int main(void) {
              printf("%d %d %d %d\\n", value(), ask_next(), finds_its_own(), dlsym(RTLD_DEFAULT, "nvrtcGetCUBIN") != 0);
            }""", encoding="utf-8")
        shared = ("-shared", "-fPIC")
        (self.folder / "private").mkdir()
        self.compile("private/libprivate.so", *shared, "-DVALUE=3", order)
        self.compile("liba.so", *shared, "-DVALUE=1", order)
        self.compile("libb.so", *shared, order, "-Wl,-rpath,$ORIGIN/private")
        self.compile("libc2.so", *shared, "-DVALUE=2", order)
        program = self.compile("main", main, "-Wl,--no-as-needed", "liba.so", "libb.so", "libc2.so", "-ldl", "-Wl,-rpath,$ORIGIN")
        self.assertEqual(self.run_cuprum("exec", program).stdout, "1 2 1 0\n")


if __name__ == "__main__":
    unittest.main()
