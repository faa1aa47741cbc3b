"""The linker."""

import inspect
import pickle
import threading
import weakref

import pytest

from cuprum import (
    CUDAError,
    Device,
    LaunchConfig,
    Linker,
    LinkerOptions,
    LinkError,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    launch,
)
from cuprum.typing import CompilerBackendType

KERNEL = 'extern __device__ int f(int); extern "C" __global__ void k(int* p) { *p = f(*p); }'
FUNCTION = "__device__ int f(int x) { return x + 1; }"
RELOCATABLE = {"relocatable_device_code": True}

needs_nvjitlink = pytest.mark.skipif(Linker.which_backend() != "nvJitLink", reason="nvJitLink is not installed")


@pytest.fixture(autouse=True)
def current_device(device):
    return device


@pytest.fixture(scope="module")
def codes():
    Device(0).set_current()
    return [Program(source, "c++", RELOCATABLE).compile("ptx") for source in (KERNEL, FUNCTION)]


class TestLinking:
    def test_links(self, codes):
        linked = Linker(*codes).link("cubin")
        assert isinstance(linked, ObjectCode)
        assert linked.name == "<default linker>"
        assert linked.get_kernel("k").num_arguments == 1
        assert isinstance(linked.code, bytes)

    def test_can_be_pickled(self, codes):
        linked = Linker(*codes).link("cubin")
        copy = pickle.loads(pickle.dumps(linked))
        assert (copy.code, copy.code_type, copy.name) == (linked.code, linked.code_type, linked.name)

    def test_can_be_pickled_with_all_its_modules(self, codes, device, stream):
        """Of several modules of PTX: softgpu, which runs PTX alone, runs the copy, too."""
        copy = pickle.loads(pickle.dumps(Linker(*codes).link("cubin")))
        memory = PinnedMemoryResource().allocate(4, stream=stream)
        memory.fill(b"\x05\x00\x00\x00", stream=stream)
        launch(stream, LaunchConfig(1, block=1), copy.get_kernel("k"), memory)
        stream.sync()
        assert bytes(memory) == b"\x06\x00\x00\x00"

    def test_knows_the_names_of_all(self):
        template = "template <typename T> __global__ void t(T* p) { *p = 0; }"
        code = Program(template, "c++", RELOCATABLE).compile("ptx", ["t<float>"])
        linked = Linker(code, Program(FUNCTION, "c++", RELOCATABLE).compile("ptx")).link("cubin")
        assert linked.get_kernel("t<float>").num_arguments == 1

    def test_takes_code_that_was_given(self, codes, tmp_path):
        path = tmp_path / "function.ptx"
        path.write_bytes(codes[1].code)
        linked = Linker(ObjectCode.from_ptx(codes[0].code), ObjectCode.from_ptx(path)).link("cubin")
        assert linked.get_kernel("k").num_arguments == 1

    @needs_nvjitlink
    def test_link_time_optimization(self):
        codes = [Program(source, "c++").compile("ltoir") for source in (KERNEL, FUNCTION)]
        linked = Linker(*codes, options={"link_time_optimization": True, "ptx": True}).link("ptx")
        assert linked.code_type == "ptx"
        linked.get_kernel("k")

    def test_may_be_done_twice(self, codes):
        linker = Linker(*codes)
        assert linker.link("cubin").code == linker.link("cubin").code

    def test_errors_have_the_log(self, codes):
        linker = Linker(codes[0], options={"name": "half"})
        with pytest.raises(LinkError, match="half") as caught:
            linker.link("cubin")
        assert isinstance(caught.value, CUDAError)
        assert isinstance(caught.value, RuntimeError)
        assert "_Z1fi" in caught.value.log
        assert "_Z1fi" in linker.get_error_log()
        linker.close()
        assert "_Z1fi" in linker.get_error_log()

    @needs_nvjitlink
    def test_errors_are_those_of_nvidias_bindings_too(self, codes):
        nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
        with pytest.raises(nvjitlink.nvJitLinkError, match="_Z1fi") as caught:
            Linker(codes[0]).link("cubin")
        assert isinstance(caught.value, LinkError)
        assert caught.value.log
        with pytest.raises(nvjitlink.nvJitLinkError, match="ptx needs link_time_optimization") as caught:
            Linker(codes[0], options={"ptx": True})
        assert isinstance(caught.value, ValueError)

    def test_threads_take_turns(self, codes, results_of_threads):
        linker = Linker(*codes)
        results = results_of_threads(lambda: linker.link("cubin").code)
        assert len(results) == 4
        assert len(set(results)) == 1
        Linker(*codes).link("cubin")


class TestLinker:
    def test_needs_code(self):
        with pytest.raises(ValueError, match="At least one ObjectCode object must be provided"):
            Linker()

    @pytest.mark.parametrize("bad", [None, 3, "code", b"code", []])
    def test_refuses_what_is_no_code(self, codes, bad):
        with pytest.raises(TypeError, match="links ObjectCode objects, not"):
            Linker(bad)
        with pytest.raises(TypeError, match="links ObjectCode objects, not"):
            Linker(*codes, bad)

    def test_refuses_code_that_is_none(self, tmp_path):
        with pytest.raises(CUDAError, match="No such file"):
            Linker(ObjectCode.from_cubin(tmp_path / "nowhere"))
        with pytest.raises((ValueError, CUDAError)):
            Linker(ObjectCode.from_cubin(b"nonsense"))

    @pytest.mark.parametrize("bad", ["invalid", "ltoir", "", None, 3])
    def test_refuses_other_targets(self, codes, bad):
        with pytest.raises(ValueError, match="Unsupported target type: "):
            Linker(*codes).link(bad)

    def test_options_are_keywords(self, codes):
        with pytest.raises(TypeError):
            Linker(*codes, LinkerOptions())
        with pytest.raises(TypeError, match="The Linker options must be provided as"):
            Linker(*codes, options=3)
        with pytest.raises(TypeError, match="did you mean 'verbose'"):
            Linker(*codes, options={"verbos": True})

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"verbose": True},
            {"max_register_count": 32},
            {"optimization_level": 3},
            {"debug": True},
            {"lineinfo": True},
            {"name": "other"},
        ],
    )
    def test_takes_options_as_object_and_as_dict(self, codes, options):
        for given in (options, LinkerOptions(**options)):
            linked = Linker(*codes, options=given).link("cubin")
            assert linked.name == options.get("name", "<default linker>")

    @needs_nvjitlink
    @pytest.mark.parametrize(
        "options",
        [
            {"time": True},
            {"ptxas_options": "-v"},
            {"ptxas_options": ["-v", "--verbose"]},
            {"kernels_used": ("k",)},
            {"split_compile": 0},
            {"ftz": True, "prec_div": False},
            {"no_cache": True},
        ],
    )
    def test_options_of_nvjitlink(self, codes, options):
        Linker(*codes, options=options).link("cubin").get_kernel("k")

    @pytest.mark.parametrize(
        "bad", [{"arch": 2.5}, {"max_register_count": "32"}, {"verbose": "yes"}, {"kernels_used": [3.5]}]
    )
    def test_refuses_wrong_types_with_the_name_of_the_option(self, codes, bad):
        with pytest.raises(TypeError, match=rf"^LinkerOptions\.{next(iter(bad))} must be "):
            Linker(*codes, options=bad)

    def test_refuses_values_that_are_none(self, codes):
        for bad in ({"arch": "99"}, {"optimization_level": 7}, {"max_register_count": 0}, {"ptx": True}):
            with pytest.raises((ValueError, CUDAError)):
                Linker(*codes, options=bad)

    def test_logs(self, codes):
        linker = Linker(*codes)
        linker.link("cubin")
        info, error = linker.get_info_log(), linker.get_error_log()
        assert isinstance(info, str)
        assert error == ""
        assert int(linker.handle) != 0
        linker.close()
        linker.close()
        assert linker.handle is None
        assert (linker.get_info_log(), linker.get_error_log()) == (info, error)
        with pytest.raises((RuntimeError, ValueError), match="closed"):
            linker.link("cubin")

    def test_says_who_links(self):
        assert Linker.which_backend() in (CompilerBackendType.NVJITLINK, CompilerBackendType.DRIVER)
        assert isinstance(Linker.which_backend(), CompilerBackendType)
        assert isinstance(inspect.getattr_static(Linker, "which_backend"), classmethod)

    def test_is_given_up_on_another_thread(self, codes):
        for _ in range(10):
            linker = Linker(*codes)
            thread = threading.Thread(target=linker.close)
            thread.start()
            thread.join()
        Linker(*codes).link("cubin")

    def test_weak_references(self, codes):
        linker = Linker(*codes)
        assert weakref.ref(linker)() is linker


class TestOptions:
    @needs_nvjitlink
    def test_as_nvjitlink_reads_them(self):
        options = LinkerOptions(arch="sm_80", debug=True, ftz=True, max_register_count=32)
        assert options.as_bytes("nvJitLink") == [b"-arch=sm_80", b"-maxrregcount=32", b"-g", b"-ftz=true"]
        assert LinkerOptions(arch="sm_80", kernels_used="a", ptxas_options=["-v"]).as_bytes() == [
            b"-arch=sm_80",
            b"-kernels-used=a",
            b"-Xptxas=-v",
        ]

    @pytest.mark.parametrize("backend", ["invalid", "driver"])
    def test_no_other_linker_has_such_a_form(self, backend):
        with pytest.raises(ValueError, match="only supports 'nvjitlink' backend"):
            LinkerOptions(arch="sm_80").as_bytes(backend)

    def test_numba_debug_is_ignored_with_a_warning(self, codes):
        with pytest.warns(DeprecationWarning, match="numba_debug"):
            options = LinkerOptions(numba_debug=True)
        Linker(*codes, options=options).link("cubin")
