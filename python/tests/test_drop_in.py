"""The drop-in: cuda.core served by cuprum. Each test is a process of its own, because imports are for a process."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
import softgpu

import cuprum

has_bindings = importlib.util.find_spec("cuda") is not None and importlib.util.find_spec("cuda.bindings") is not None
needs_bindings = pytest.mark.skipif(not has_bindings, reason="NVIDIA's cuda.bindings is not installed")

has_core = has_bindings and importlib.util.find_spec("cuda.core") is not None
needs_core = pytest.mark.skipif(not has_core, reason="NVIDIA's cuda.core is not installed")

PUBLIC_MODULES = ("checkpoint", "graph", "system", "texture", "typing", "utils")


def python(*arguments, code=0, **settings):
    """What Python prints when run with `arguments`, and cuprum where it is here; `code` is the exit code to expect."""
    folder = str(Path(cuprum.__file__).parents[1])
    path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "CUPRUM_DRIVER": softgpu.or_own_driver(), "PYTHONPATH": path, **settings.pop("env", {})}
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        **settings,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def served(source, **settings):
    """What `source` prints when cuprum serves cuda.core to it."""
    return python("-c", "import cuprum.as_cuda_core\n" + textwrap.dedent(source), **settings)


class TestImport:
    def test_public_names_are_cuprums(self):
        served("""
            import cuprum, cuprum.typing
            import cuda.core
            from cuda.core import Device, Stream, LaunchConfig, launch
            from cuda.core.typing import ObjectCodeFormatType
            assert Device is cuprum.Device and Stream is cuprum.Stream and launch is cuprum.launch
            assert cuda.core.LaunchConfig is LaunchConfig
            assert ObjectCodeFormatType is cuprum.typing.ObjectCodeFormatType
        """)

    def test_textures(self):
        served("""
            import cuprum.texture
            import cuda.core
            from cuda.core.texture import OpaqueArray, TextureObjectOptions
            from cuda.core.texture._texture import TextureObject, _normalize_address_modes
            assert OpaqueArray is cuprum.texture.OpaqueArray and TextureObject is cuprum.texture.TextureObject
            assert cuda.core.texture._array.OpaqueArray is OpaqueArray
            assert _normalize_address_modes("wrap") == ("wrap", "wrap", "wrap")
            assert TextureObjectOptions.__module__ == "cuprum.texture"
        """)

    def test_older_name_of_the_package(self):
        served("""
            import cuprum
            from cuda.core.experimental import Device, launch
            import cuda.core.experimental as experimental
            assert Device is cuprum.Device and experimental.launch is launch
        """)

    def test_private_modules(self):
        served("""
            import cuprum
            from cuda.core._stream import Stream, StreamOptions, default_stream, LEGACY_DEFAULT_STREAM, IsStreamType
            from cuda.core._event import Event, EventOptions
            from cuda.core._device import Device
            from cuda.core._utils.cuda_utils import CUDAError, NVRTCError, ComputeCapability, handle_return
            from cuda.core._launcher import launch
            from cuda.core import _device
            assert Stream is cuprum.Stream and CUDAError is cuprum.CUDAError and _device.Device is cuprum.Device
        """)

    def test_star_import_has_what_cuprum_has(self):
        served("""
            import cuprum
            from cuda.core import *
            assert Device is cuprum.Device
        """)

    def test_version_is_that_of_the_interface(self):
        assert served("import cuda.core; print(cuda.core.__version__)") == "1.2.0\n"

    def test_module_attributes_are_served_modules(self):
        served("""
            import cuda.core
            assert cuda.core.typing.__name__ == "cuda.core.typing", cuda.core.typing
            import cuda.core.typing as typing
            assert cuda.core.typing is typing
            assert "Device" in dir(cuda.core)
            assert cuda.core._event.Event is cuda.core.Event  # without importing it
        """)

    def test_is_undone(self):
        served("""
            import sys
            import cuda.core
            from cuprum import as_cuda_core
            as_cuda_core.uninstall()
            assert not as_cuda_core.is_installed() and "cuda.core" not in sys.modules
            as_cuda_core.install()
            from cuda.core import Device
        """)


class TestMissingNames:
    def test_from_import_says_who_serves(self):
        output = served("from cuda.core import Nothing", code=1)
        assert "ImportError: cuda.core is served by cuprum" in output
        assert "has no 'Nothing'" in output

    def test_attribute_says_who_serves(self):
        output = served("import cuda.core; cuda.core.Nothing", code=1)
        assert "AttributeError: cuda.core is served by cuprum" in output

    @pytest.mark.parametrize("module", ["cuda.core.nothing", "cuda.core._nothing", "cuda.core.as_cuda_core"])
    def test_module_says_who_serves(self, module):
        assert "ImportError: cuda.core is served by cuprum" in served(f"import {module}", code=1)

    def test_can_be_asked_for(self):
        served("""
            import cuda.core
            assert not hasattr(cuda.core, "Nothing")
            assert getattr(cuda.core, "Nothing", 3) == 3
            try:
                from cuda.core._stream import Nothing
            except ImportError as error:
                assert "cuda.core._stream" in str(error)
            else:
                raise AssertionError
        """)


class TestContents:
    def test_modules_can_be_walked(self):
        served("""
            import pkgutil
            import cuda.core
            names = [module.name for module in pkgutil.walk_packages(cuda.core.__path__, "cuda.core.")]
            assert {"cuda.core.graph", "cuda.core.system.typing", "cuda.core._stream", "cuda.core._memory._buffer"} <= set(names)
            assert len(set(names)) == len(names)
            for name in names:
                try:
                    __import__(name)
                except ModuleNotFoundError as error:  # what explains the errors of NVIDIA's bindings needs those
                    assert error.name == "cuda.bindings" and "explanations" in name, name
            import cuda.core.graph
            assert "_graph_node" in [module.name for module in pkgutil.iter_modules(cuda.core.graph.__path__)]
            assert not list(pkgutil.iter_modules(cuda.core.typing.__path__))
        """)

    def test_other_folders_are_found_as_before(self):
        served("""
            import importlib, pkgutil, email, sys
            from cuda.core import Device
            importlib.invalidate_caches()
            assert "mime" in [module.name for module in pkgutil.iter_modules(email.__path__)]
            import cuprum.as_cuda_core
            cuprum.as_cuda_core.uninstall()
            assert cuprum.as_cuda_core.Contents not in sys.path_hooks
        """)

    @needs_core
    @pytest.mark.parametrize("module", ["cuda.core", *(f"cuda.core.{name}" for name in PUBLIC_MODULES)])
    def test_stars_import_what_they_do_there(self, module):
        names = f"import importlib; print(sorted(importlib.import_module({module!r}).__all__))"
        assert served(names) == python("-c", names)


class TestBesideNvidia:
    def test_without_any_package_cuda(self):
        # -S: no site-packages, so no package `cuda` from anywhere.
        source = "import cuprum.as_cuda_core; from cuda.core import Device; import cuda; print(list(cuda.__path__))"
        assert python("-S", "-c", source) == "[]\n"

    @needs_bindings
    def test_bindings_stay_nvidias(self):
        served("""
            from cuda.bindings import driver
            import cuda.pathfinder
            from cuda.core import Device
            assert "cuprum" not in driver.__file__
            import cuda
            assert cuda.bindings.driver is driver
        """)

    @needs_bindings
    def test_bindings_share_the_driver(self):
        served("""
            from cuda.bindings import driver
            from cuda.core import Device
            from cuda.core._utils.cuda_utils import handle_return
            handle_return(driver.cuInit(0))
            device = Device(0)
            device.set_current()
            context = handle_return(driver.cuCtxGetCurrent())
            assert int(context) == int(device.context.handle) != 0
            assert handle_return(driver.cuDeviceGetCount()) == len(Device.get_all_devices())
        """)

    @needs_bindings
    def test_handle_return_raises(self):
        served("""
            from cuda.bindings import driver
            from cuda.core._utils.cuda_utils import CUDAError, handle_return
            assert handle_return((driver.CUresult.CUDA_SUCCESS,)) is None
            assert handle_return((driver.CUresult.CUDA_SUCCESS, 3)) == 3
            assert handle_return((driver.CUresult.CUDA_SUCCESS, 3, 4)) == (3, 4)
            try:
                handle_return((driver.CUresult.CUDA_ERROR_INVALID_VALUE,))
            except CUDAError as error:
                assert str(error).startswith("CUDA_ERROR_INVALID_VALUE: "), str(error)
            else:
                raise AssertionError
            try:
                handle_return((1,))
            except RuntimeError as error:
                assert "Unknown error type" in str(error)
            else:
                raise AssertionError
        """)

    @needs_bindings
    def test_helpers_that_tests_import(self):
        served("""
            from cuda.core import Linker, _linker
            from cuda.core._program import _can_load_generated_ptx
            from cuda.core._utils.version import binding_version, driver_version
            assert _linker._decide_nvjitlink_or_driver() is (Linker.which_backend() == "driver")
            assert _can_load_generated_ptx() in (True, False)
            assert binding_version() >= (12, 0, 0) and driver_version() >= (12, 0, 0)
        """)

    def test_too_late(self, tmp_path):
        package = tmp_path / "cuda" / "core"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        source = "import cuda.core, cuprum.as_cuda_core"
        output = python(
            "-S", "-c", source, code=1, env={"PYTHONPATH": f"{tmp_path}:{Path(cuprum.__file__).parents[1]}"}
        )
        assert f"cuda.core is imported already, from {package}" in output

    def test_an_installed_cuda_core_is_not_used(self, tmp_path):
        package = tmp_path / "cuda" / "core"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise RuntimeError('NVIDIA')")
        (tmp_path / "cuda" / "other.py").write_text("name = 'kept'")
        source = "import cuprum.as_cuda_core; from cuda.core import Device; from cuda.other import name; print(name)"
        assert python("-c", source, env={"PYTHONPATH": f"{tmp_path}:{Path(cuprum.__file__).parents[1]}"}) == "kept\n"


class TestRunner:
    def test_script(self, tmp_path):
        (tmp_path / "beside.py").write_text("value = 7")
        script = tmp_path / "script.py"
        script.write_text(
            "import sys, beside, cuprum\nfrom cuda.core import Device\nassert Device is cuprum.Device\n"
            "print(__name__, sys.argv[1:], beside.value, __file__ == sys.argv[0])"
        )
        assert python("-m", "cuprum", str(script), "-x", "--softgpu") == "__main__ ['-x', '--softgpu'] 7 True\n"

    def test_module(self, tmp_path):
        (tmp_path / "program.py").write_text("import sys\nfrom cuda.core import Device\nprint(__name__, sys.argv[1:])")
        assert python("-m", "cuprum", "-m", "program", "a", cwd=tmp_path) == "__main__ ['a']\n"

    def test_code(self):
        source = "import sys; from cuda.core import Device; print(__name__, sys.argv)"
        assert python("-m", "cuprum", "-c", source, "a") == "__main__ ['-c', 'a']\n"

    def test_folder(self, tmp_path):
        (tmp_path / "beside.py").write_text("value = 7")
        (tmp_path / "__main__.py").write_text(
            "import sys, beside\nfrom cuda.core import Device\nprint(__name__, sys.argv, beside.value)"
        )
        assert python("-m", "cuprum", str(tmp_path), "a") == f"__main__ ['{tmp_path}', 'a'] 7\n"

    def test_a_script_finds_itself_wherever_it_goes(self, tmp_path):
        source = "import os; from cuda.core import Device; os.chdir('/'); print(os.path.isfile(__file__)); 1 / 0"
        (tmp_path / "script.py").write_text(source)
        output = python("-m", "cuprum", "script.py", code=1, cwd=tmp_path)
        assert output.startswith("True\n")
        assert source in output  # the traceback shows the line, too

    def test_zip_file(self, tmp_path):
        program = tmp_path / "program.pyz"
        with zipfile.ZipFile(program, "w") as file:
            file.writestr("beside.py", "value = 7")
            file.writestr(
                "__main__.py", "import sys, beside\nfrom cuda.core import Device\nprint(__file__, sys.argv, beside.value)"
            )
        printed = f"{program}/__main__.py ['program.pyz', 'a'] 7\n"
        assert python("-m", "cuprum", "program.pyz", "a", cwd=tmp_path) == printed

    def test_compiled_script(self, tmp_path):
        (tmp_path / "script.py").write_text("from cuda.core import Device\nprint(__name__)")
        compiled = py_compile.compile(str(tmp_path / "script.py"), str(tmp_path / "script.pyc"))
        assert python("-m", "cuprum", compiled) == "__main__\n"

    def test_standard_input(self):
        source = "import sys; from cuda.core import Device; print(__name__, sys.argv)"
        assert python("-m", "cuprum", "-", "a", input=source) == "__main__ ['-', 'a']\n"

    def test_exit_code(self):
        python("-m", "cuprum", "-c", "raise SystemExit(5)", code=5)

    def test_traceback_begins_in_the_script(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text("def f():\n    1 / 0\nf()\n")
        output = python("-m", "cuprum", str(script), code=1)
        assert output.startswith(f'Traceback (most recent call last):\n  File "{script}", line 3')
        assert output.endswith("ZeroDivisionError: division by zero\n")

    def test_what_is_no_python_is_shown_alone(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text("x = (")
        assert python("-m", "cuprum", str(script), code=1).startswith(f'  File "{script}", line 1\n')

    @softgpu.needed
    def test_softgpu_with_devices(self):
        source = "import os; from cuda.core import Device; print(len(Device.get_all_devices()))"
        assert python("-m", "cuprum", "--softgpu", "--devices", "3", "-c", source) == "3\n"
        assert python("-m", "cuprum", "--softgpu", "--devices=2", "-c", source) == "2\n"

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            ([], "nothing to run"),
            (["-m"], "nothing to run"),
            (["--quickly", "x.py"], "unknown option '--quickly'"),
            (["--devices", "none", "x.py"], "takes a number"),
            (["/proc/self/fd"], "can't find '__main__.py' in the folder '/proc/self/fd'"),
            (["no-program.zip"], "can't find '__main__.py' in the zip file 'no-program.zip'"),
            (["/no/such/file.py"], "can't open '/no/such/file.py': No such file"),
        ],
    )
    def test_wrong_use(self, arguments, reason, tmp_path):
        zipfile.ZipFile(tmp_path / "no-program.zip", "w").close()
        output = python("-m", "cuprum", *arguments, code=2, cwd=tmp_path)
        assert output.startswith("usage: python -m cuprum")
        assert reason in output

    def test_help_and_version(self):
        assert python("-m", "cuprum", "--help").startswith("usage: python -m cuprum")
        assert python("-m", "cuprum", "--version") == f"cuprum {cuprum.__version__}\n"

    @pytest.mark.parametrize("method", ["spawn", "forkserver"])
    def test_child_processes_are_served(self, method, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(
            textwrap.dedent(f"""
            import multiprocessing
            from cuda.core import StreamOptions

            def work(options):
                import cuda.core, cuprum
                assert cuda.core.Device is cuprum.Device
                return options.priority

            if __name__ == "__main__":
                with multiprocessing.get_context({method!r}).Pool(1) as pool:
                    print(pool.map(work, [StreamOptions(priority=-1)]))
            """)
        )
        assert python("-m", "cuprum", str(script)) == "[-1]\n"


def test_as_a_pytest_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from cuda.core import Device\nimport cuprum\ndef test(): assert Device is cuprum.Device\n"
    )
    output = python("-m", "pytest", "-q", "-p", "cuprum.as_cuda_core", "-p", "no:cacheprovider", str(tmp_path))
    assert "1 passed" in output
