"""Programs: what they are made of, what they are compiled to, and what the compiler is told."""

import gc
import io
import os
import pathlib
import re
import threading
import warnings
import weakref

import pytest

from cuprum import CompileError, CUDAError, Device, NVRTCError, ObjectCode, Program, ProgramOptions
from cuprum.typing import CompilerBackendType, ObjectCodeFormatType, SourceCodeType
from cuprum.utils import InMemoryProgramCache

KERNEL = 'extern "C" __global__ void set(int* place) { *place = VALUE; }'
PLAIN = 'extern "C" __global__ void plain() {}'
TEMPLATE = "template <typename T> __global__ void scale(T* data, T by) { data[threadIdx.x] *= by; }"


@pytest.fixture(autouse=True)
def current_device(device):
    return device


@pytest.fixture
def ptx():
    return Program(PLAIN, "c++").compile("ptx").code.decode()


def test_errors_quote_sources_that_are_no_utf8():
    program = Program(b"// caf\xe9\nint main( { caf\xe9 }", "c++")
    with pytest.raises(CompileError) as caught:
        program.compile("ptx")
    assert "error" in caught.value.log
    assert "caf\udce9" in caught.value.source


class TestMaking:
    @pytest.mark.parametrize("code_type", ["c++", "C++", SourceCodeType.CXX])
    @pytest.mark.parametrize("convert", [str, str.encode, lambda text: bytearray(text.encode())])
    def test_takes_sources_and_their_types(self, code_type, convert):
        program = Program(convert(PLAIN), code_type)
        assert program.backend is CompilerBackendType.NVRTC
        assert isinstance(program.compile("ptx"), ObjectCode)

    @pytest.mark.parametrize("bad", ["FORTRAN", "", None, 3])
    def test_refuses_other_types(self, bad):
        with pytest.raises(RuntimeError, match=r"^Unsupported code_type='.*' \(supported_code_types=\('c\+\+', 'ptx'"):
            Program(PLAIN, bad)

    @pytest.mark.parametrize("code_type", list(SourceCodeType))
    @pytest.mark.parametrize("bad", [None, 12345, 2.5, ["text"], memoryview(b"x")])
    def test_refuses_what_is_no_source(self, code_type, bad):
        with pytest.raises(TypeError, match="must be provided as str, bytes, or bytearray"):
            Program(bad, code_type)

    def test_refuses_an_empty_source(self):
        with pytest.raises(ValueError, match="is empty"):
            Program("", "c++")

    @pytest.mark.parametrize("options", [{"name": "named"}, ProgramOptions(name="named")])
    def test_takes_options_as_object_and_as_dict(self, options):
        assert Program(PLAIN, "c++", options).compile("ptx").name == "named"
        assert Program(PLAIN, "c++", options=options).compile("ptx").name == "named"

    def test_refuses_other_options(self):
        with pytest.raises(TypeError, match="did you mean 'debug'"):
            Program(PLAIN, "c++", {"debugg": True})
        with pytest.raises(TypeError, match="The Program options must be provided as"):
            Program(PLAIN, "c++", 3)

    @pytest.mark.parametrize("code_type, name", [("c++", "NVRTC"), ("ptx", "PTX")])
    def test_extra_sources_are_for_nvvm(self, code_type, name):
        with pytest.raises(ValueError, match=f"extra_sources is not supported by the {name} backend"):
            Program("x", code_type, {"extra_sources": [("name", b"data")]})

    def test_weak_references(self):
        program = Program(PLAIN, "c++")
        gone = weakref.ref(program)
        del program
        gc.collect()
        assert gone() is None


class TestCompiling:
    @pytest.mark.parametrize("target", ["cubin", "CUBIN", ObjectCodeFormatType.PTX, "ltoir"])
    def test_targets(self, target):
        code = Program(PLAIN, "c++").compile(target)
        assert code.code_type == target.lower()
        assert isinstance(code.code, bytes)
        assert code.name == "default_program"
        if code.code_type != "ltoir":
            assert code.get_kernel("plain").num_arguments == 0

    @pytest.mark.parametrize("bad", ["invalid", "fatbin", "object", "", None, 3])
    def test_refuses_other_targets(self, bad):
        with pytest.raises(ValueError, match=r'Unsupported target_type=".*" for NVRTC \(supported: '):
            Program(PLAIN, "c++").compile(bad)

    @pytest.mark.parametrize("names", [("scale<float>", "scale<int>"), ["scale<float>", "scale<int>"]])
    def test_name_expressions(self, names):
        code = Program(TEMPLATE, "c++").compile("cubin", name_expressions=names)
        assert set(code.symbol_mapping) == set(names)
        assert all(isinstance(symbol, bytes) for symbol in code.symbol_mapping.values())
        assert [one.size for one in code.get_kernel("scale<float>").arguments_info] == [8, 4]
        assert code.get_kernel("scale<int>").name == code.symbol_mapping["scale<int>"].decode()

    @pytest.mark.parametrize("bad", ["scale<float>", None, 3, {"scale<float>"}])
    def test_refuses_what_are_no_name_expressions(self, bad):
        with pytest.raises(TypeError, match="name_expressions must be a tuple or list"):
            Program(TEMPLATE, "c++").compile("cubin", bad)
        with pytest.raises(TypeError, match="each of name_expressions must be a str or bytes"):
            Program(TEMPLATE, "c++").compile("cubin", [3])

    def test_errors_have_the_log(self):
        with pytest.raises(NVRTCError, match="compilation log") as caught:
            Program("__global__ void f() { oops; }", "c++", {"name": "bad.cu"}).compile("ptx")
        assert isinstance(caught.value, CompileError)
        assert isinstance(caught.value, CUDAError)
        assert 'identifier "oops" is undefined' in caught.value.log
        assert "bad.cu" in caught.value.log
        assert "oops" in caught.value.source
        assert any("arch" in option for option in caught.value.options)

    def test_writes_logs(self):
        logs = io.StringIO()
        program = Program(f'#warning "look here"\n{PLAIN}', "c++")
        program.compile("ptx", logs=logs)
        assert "look here" in logs.getvalue()
        silent = io.StringIO()
        Program(PLAIN, "c++").compile("ptx", logs=silent)
        assert silent.getvalue() == ""

    def test_what_a_log_raises_comes_out(self):
        class Full:
            def write(self, text):
                raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            Program(f'#warning "look here"\n{PLAIN}', "c++").compile("ptx", logs=Full())

    @pytest.mark.parametrize("bad", [3, "file", []])
    def test_refuses_what_is_no_log(self, bad):
        with pytest.raises(TypeError, match=r"logs must be an object with write\(text\)"):
            Program(PLAIN, "c++").compile("ptx", logs=bad)

    def test_threads_compile_one_program(self, results_of_threads):
        program = Program(PLAIN, "c++")
        results = results_of_threads(lambda: program.compile("ptx").code)
        assert len(results) == 4
        assert len(set(results)) == 1

    def test_may_be_closed_while_it_is_compiled(self):
        for _ in range(5):
            program = Program(PLAIN, "c++")
            cache = InMemoryProgramCache()
            results = []

            def compile_it(program=program, cache=cache, results=results):
                Device(0).set_current()
                try:
                    results.append(program.compile("ptx", cache=cache).code_type)
                except (RuntimeError, ValueError) as error:
                    results.append(str(error))

            thread = threading.Thread(target=compile_it)
            thread.start()
            program.close()
            thread.join()
            assert results[0] == "ptx" or "closed" in results[0]

    def test_precompiled_headers(self, tmp_path):
        program = Program(PLAIN, "c++", {"create_pch": tmp_path / "header.pch"})
        assert program.pch_status is None
        program.compile("ptx")
        assert program.pch_status in ("created", "not_attempted", "failed")
        plain = Program(PLAIN, "c++")
        plain.compile("ptx")
        assert plain.pch_status is None

    def test_closes(self):
        program = Program(PLAIN, "c++")
        assert repr(program) == "<Program backend='NVRTC'>"
        assert int(program.handle) != 0
        program.close()
        program.close()
        assert program.handle is None
        with pytest.raises((RuntimeError, ValueError), match="closed"):
            program.compile("ptx")


class TestPtx:
    def test_is_compiled_by_the_linker(self, ptx):
        program = Program(ptx, "PTX", {"name": "of ptx"})
        assert program.backend in ("nvJitLink", "driver")
        assert int(program.handle) != 0
        code = program.compile("cubin")
        assert code.name == "of ptx"
        code.get_kernel("plain")

    def test_options_of_the_linker(self, ptx):
        for options in ({"max_register_count": 32}, {"debug": True}, {"lineinfo": True}, {"fma": True}):
            assert len(Program(ptx, "ptx", options).compile("cubin").code) > 0

    def test_refuses_other_targets(self, ptx):
        with pytest.raises(ValueError, match='Unsupported target_type="ltoir"'):
            Program(ptx, "ptx").compile("ltoir")

    def test_ignores_what_is_about_cxx(self, ptx):
        options = {"pch": True, "create_pch": "p", "fdevice_time_trace": "t", "include_path": "i", "use_libdevice": True}
        assert Program(ptx, "ptx", options).compile("cubin", ["name<int>"]).code_type == "cubin"

    def test_bad_ptx_is_refused_with_the_log(self):
        with pytest.raises(CompileError) as caught:
            Program(".version 7.0\n.target sm_70\nnonsense", "ptx").compile("cubin")
        assert caught.value.log

    def test_numba_debug_is_ignored_with_a_warning(self, ptx):
        with pytest.warns(UserWarning, match="numba_debug is ignored for code_type='ptx'") as caught:
            program = Program(ptx, "ptx", ProgramOptions(numba_debug=True))
        assert caught[0].filename == __file__
        program.compile("cubin")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Program(ptx, "ptx", ProgramOptions(numba_debug=False))


class TestNvvm:
    IR = """target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @empty() {{ ret void }}
!nvvm.annotations = !{{!0}}
!0 = !{{void ()* @empty, !"kernel", i32 1}}
!nvvmir.version = !{{!1}}
!1 = !{{i32 {version}, i32 0, i32 3, i32 1}}
"""

    @pytest.fixture(scope="class")
    def source(self):
        for version in (2, 1):
            text = self.IR.format(version=version)
            try:
                Program(text, "nvvm").compile("ptx")
            except CompileError:
                continue
            return text
        pytest.skip("no libNVVM that reads this IR")

    @pytest.mark.parametrize("convert", [str, str.encode, lambda text: bytearray(text.encode())])
    def test_compiles(self, source, convert):
        program = Program(convert(source), "nvvm")
        assert program.backend is CompilerBackendType.NVVM
        assert int(program.handle) != 0
        assert program.compile("ptx").get_kernel("empty").num_arguments == 0
        assert program.compile("ltoir").code_type == "ltoir"

    def test_targets(self, source):
        with pytest.raises(ValueError, match='Unsupported target_type="cubin" for NVVM'):
            Program(source, "nvvm").compile("cubin")

    @pytest.mark.parametrize("target", ["ptx", "ltoir"])
    def test_options(self, source, target):
        options = ProgramOptions(
            ftz=True, prec_sqrt=False, fma=True, device_code_optimize=True, link_time_optimization=True
        )
        assert Program(source, "nvvm", options).compile(target).code_type == target

    def test_options_that_it_has_not(self, source):
        program = Program(source, "nvvm", {"lineinfo": True})
        with pytest.raises(CUDAError, match="not supported by NVVM backend.*lineinfo"):
            program.compile("ptx")

    def test_bad_ir_is_refused_with_the_log(self):
        with pytest.raises(CompileError) as caught:
            Program("nonsense", "nvvm").compile("ptx")
        assert caught.value.log

    def test_bad_ir_is_an_error_of_nvidias_bindings_too(self):
        nvvm = pytest.importorskip("cuda.bindings.nvvm")
        with pytest.raises(nvvm.nvvmError) as caught:
            Program("nonsense", "nvvm").compile("ptx")
        assert isinstance(caught.value, CompileError)
        assert caught.value.log

    def test_extra_sources(self, source):
        helper = source.replace("@empty", "@other")
        program = Program(source, "nvvm", {"extra_sources": [("text", helper), ("bytes", helper.encode())][:1]})
        assert {"empty", "other"} <= set(program.compile("ptx").kernel_names)


class TestOptions:
    @pytest.mark.parametrize(
        "macro, expected",
        [
            ("VALUE=7", [b"--define-macro=VALUE=7"]),
            (("VALUE", "7"), [b"--define-macro=VALUE=7"]),
            ([("VALUE", "7"), "OTHER"], [b"--define-macro=VALUE=7", b"--define-macro=OTHER"]),
            ((("VALUE", "7"), "OTHER"), [b"--define-macro=VALUE=7", b"--define-macro=OTHER"]),
            ([], []),
        ],
    )
    def test_macros(self, macro, expected):
        options = ProgramOptions(arch="sm_90", define_macro=macro)
        assert options.as_bytes("nvrtc") == [b"-arch=sm_90", *expected]
        if expected:
            Program(KERNEL, "c++", options).compile("ptx")

    @pytest.mark.parametrize("bad", [("ONLY",), ("NAME", 99), [42], [("ONLY",)], 42, {"A": "1"}, ("A", "B", "C")])
    def test_refuses_what_are_no_macros(self, bad):
        with pytest.raises(RuntimeError, match="Expected define_macro"):
            ProgramOptions(arch="sm_90", define_macro=bad).as_bytes("nvrtc")
        with pytest.raises(RuntimeError, match="Expected define_macro"):
            Program(PLAIN, "c++", {"define_macro": bad})

    @pytest.mark.parametrize(
        "given, expected",
        [
            ({"std": "c++17"}, [b"--std=c++17"]),
            ({"debug": True, "lineinfo": True}, [b"--device-debug", b"--generate-line-info"]),
            ({"debug": False}, []),
            ({"ftz": True, "prec_div": False}, [b"--ftz=true", b"--prec-div=false"]),
            ({"max_register_count": 32}, [b"--maxrregcount=32"]),
            ({"include_path": "a"}, [b"--include-path=a"]),
            ({"include_path": [pathlib.Path("a"), "b"]}, [b"--include-path=a", b"--include-path=b"]),
            ({"ptxas_options": ("-v", "-O2")}, [b"--ptxas-options=-v", b"--ptxas-options=-O2"]),
            ({"diag_error": 1, "diag_suppress": (2, 3)}, [b"--diag-error=1", b"--diag-suppress=2", b"--diag-suppress=3"]),
            ({"link_time_optimization": True}, [b"--dlink-time-opt"]),
            ({"fdevice_time_trace": pathlib.Path("t")}, [b"--fdevice-time-trace=t"]),
            ({"split_compile": True}, [b"--split-compile=1"]),
        ],
    )
    def test_as_nvrtc_reads_them(self, given, expected):
        assert ProgramOptions(arch="sm_90", **given).as_bytes("NVRTC") == [b"-arch=sm_90", *expected]

    def test_as_nvvm_reads_them(self):
        options = ProgramOptions(arch="sm_80", debug=True, ftz=True, numba_debug=True)
        assert options.as_bytes("nvvm")[0] == b"-arch=compute_80"
        assert {b"-g", b"-ftz=1", b"-numba-debug"} < set(options.as_bytes("nvvm"))
        assert b"-gen-lto" in ProgramOptions(arch="sm_80").as_bytes(CompilerBackendType.NVVM, "ltoir")
        with pytest.raises(CUDAError, match="not supported by NVVM backend"):
            ProgramOptions(arch="sm_80", lineinfo=True).as_bytes("nvvm")

    @pytest.mark.parametrize(
        "bad",
        [
            {"std": 2.5},
            {"name": ["n"]},
            {"debug": "false"},
            {"max_register_count": "32"},
            {"max_register_count": 2.5},
            {"include_path": 2.5},
            {"include_path": [None]},
            {"include_path": {"a"}},
            {"diag_error": "1"},
            {"diag_error": [2.5]},
            {"fdevice_time_trace": b"bytes"},
        ],
    )
    def test_refuses_wrong_types_with_the_name_of_the_option(self, bad):
        with pytest.raises(TypeError, match=rf"^ProgramOptions\.{next(iter(bad))} must be .*, or None, not "):
            Program(PLAIN, "c++", bad)

    def test_refuses_numbers_that_are_too_large(self):
        with pytest.raises(ValueError, match="the option max_register_count can't be 1099511627776"):
            Program(PLAIN, "c++", {"max_register_count": 2**40})

    def test_takes_lto_with_every_target(self):
        program = Program(PLAIN, "c++", {"link_time_optimization": True})
        assert [program.compile(target).code_type for target in ("ptx", "cubin", "ltoir")] == ["ptx", "cubin", "ltoir"]

    def test_not_to_optimize_is_no_option_of_nvrtc(self):
        assert Program(PLAIN, "c++", {"device_code_optimize": False}).compile("ptx")

    def test_the_compiler_is_told(self):
        text = Program(PLAIN, "c++", {"arch": "sm_80"}).compile("ptx").code.decode()
        assert ".target sm_80" in text
        with pytest.raises(CompileError):
            Program(KERNEL, "c++").compile("ptx")
        assert "42" in Program(KERNEL, "c++", {"define_macro": ("VALUE", "42")}).compile("ptx").code.decode()


class TestDebugSource:
    @pytest.mark.parametrize("option", ["debug", "lineinfo"])
    def test_is_a_file_as_long_as_the_program(self, option):
        program = Program(PLAIN, "c++", {option: True})
        path = program.compile("ptx").name
        assert re.fullmatch(r"test_program_plain_[a-z0-9_]{8}\.cu", os.path.basename(path))
        assert pathlib.Path(path).read_text() == PLAIN
        program.close()
        assert not os.path.exists(path)

    def test_goes_with_a_program_that_nobody_closed(self):
        program = Program(PLAIN, "c++", {"debug": True})
        path = program.compile("ptx").name
        assert os.path.exists(path)
        del program
        gc.collect()
        assert not os.path.exists(path)

    def test_a_name_of_its_own_is_kept(self, tmp_path):
        name = str(tmp_path / "mine.cu")
        assert Program(PLAIN, "c++", {"debug": True, "name": name}).compile("ptx").name == name
        assert not os.path.exists(name)

    def test_no_file_is_no_error(self, monkeypatch):
        def refuse(**_):
            raise OSError(30, "read-only")

        monkeypatch.setattr("tempfile.mkstemp", refuse)
        assert Program(PLAIN, "c++", {"debug": True}).compile("ptx").name == "default_program"
