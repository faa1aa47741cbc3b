"""Private names of cuda.core that the drop-in serves. Each test is a process of its own: imports are for a process."""

from __future__ import annotations

import pytest
from test_drop_in import needs_bindings, served


class TestModules:
    def test_names_that_a_file_lacks_are_cuprums(self):
        served("""
            import cuprum
            from cuda.core._launch_config import LaunchConfig, _to_native_launch_config
            from cuda.core._memory._copy_ops import CopyOptions, Buffer
            assert LaunchConfig is cuprum.LaunchConfig and Buffer is cuprum.Buffer
        """)

    def test_what_is_set_in_a_module_is_what_its_functions_see(self):
        served("""
            from cuda.core._utils import enum_explanations_helpers as helpers
            table = {7: "seven"}
            helpers._binding_version = lambda: (13, 1, 0)
            assert helpers.get_best_available_explanations(None, lambda: table) is table
            helpers._binding_version = lambda: (13, 2, 0)
            assert isinstance(helpers.get_best_available_explanations(None, table), helpers.DocstringBackedExplanations)
        """)

    def test_all_of_memory(self):
        served("""
            import cuprum
            names = {}
            exec("from cuda.core._memory import *", names)
            assert names["Buffer"] is cuprum.Buffer and "CopyOptions" not in names
        """)

    def test_what_only_cuprum_has_at_its_head_is_not_cuda_cores(self):
        served("""
            import cuda.core, cuda.core.typing, cuda.core.utils
            assert not hasattr(cuda.core, "CUDAError") and "CUDAError" not in dir(cuda.core)
            assert not hasattr(cuda.core, "StridedMemoryView") and hasattr(cuda.core.utils, "StridedMemoryView")
            assert not hasattr(cuda.core.typing, "MemcpyOverlapMode")
        """)


class TestExplanations:
    @pytest.mark.parametrize(
        ("markup", "plain"),
        [
            (" one\n  two ", "one two"),
            ("see\n:py:obj:`~.cuInit()`, :term:`device`", "see cuInit(), device"),
            ("**bold** and *thin*", "bold and thin"),
            ("multi- part -whole - end", "multi-part-whole - end"),
        ],
    )
    def test_markup_goes(self, markup, plain):
        served(f"""
            from cuda.core._utils.enum_explanations_helpers import clean_enum_member_docstring as clean
            assert clean({markup!r}) == {plain!r} and clean(None) is None
        """)

    @needs_bindings
    def test_errors_of_the_driver_are_explained(self):
        said = served("""
            from cuda.bindings import driver
            from cuda.core._utils import cuda_utils
            code = driver.CUresult.CUDA_ERROR_INVALID_VALUE
            try:
                cuda_utils.handle_return((code,))
            except cuda_utils.CUDAError as error:
                print(error)
                known = cuda_utils.DRIVER_CU_RESULT_EXPLANATIONS.get(int(code))
                assert known is None or str(error) == f"{code.name}: {known}"
        """)
        assert said.startswith("CUDA_ERROR_INVALID_VALUE: ")


class TestGraphEntry:
    def test_makes_the_first_nodes(self):
        served("""
            from cuda.core import Device
            from cuda.core.graph import GraphDefinition, GraphNode
            Device().set_current()
            graph, other = GraphDefinition(), GraphDefinition()
            entry = graph._entry
            assert isinstance(entry, GraphNode) and repr(entry) == "<GraphNode entry>"
            assert entry.type is None and entry.handle is None and entry.pred == set() == entry.succ
            assert entry == graph._entry != other._entry and hash(entry) == hash(graph._entry)
            called = []
            node = entry.callback(lambda: called.append(1))
            assert node.pred == set() and graph.nodes() == {node} and entry.graph == graph
            stream = Device().create_stream()
            graph.instantiate().launch(stream)
            stream.sync()
            assert called == [1]
            assert entry.join(node).pred == {node} and entry.join().pred == set()
        """)


class TestOptions:
    @needs_bindings
    def test_of_the_drivers_linker(self):
        served("""
            import warnings
            from cuda.bindings import driver
            from cuda.core import LinkerOptions
            keys = driver.CUjit_option
            values, names = LinkerOptions(arch="sm_90", max_register_count=32, debug=True)._prepare_driver_options()
            options = dict(zip(names, values))
            assert options[keys.CU_JIT_MAX_REGISTERS] == 32 and options[keys.CU_JIT_GENERATE_DEBUG_INFO] == 1
            assert options[keys.CU_JIT_TARGET] == driver.CUjit_target.CU_TARGET_COMPUTE_90
            assert len(options[keys.CU_JIT_INFO_LOG_BUFFER]) == options[keys.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES]
            try:
                LinkerOptions(time=True)._prepare_driver_options()
            except ValueError as error:
                assert "time option is not supported" in str(error)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                LinkerOptions(ftz=True)._prepare_driver_options()
            assert [each.category for each in said] == [DeprecationWarning]
        """)

    def test_of_nvjitlink_and_programs(self):
        served("""
            from cuda.core import LinkerOptions, ProgramOptions
            options = LinkerOptions(arch="sm_90", debug=True)
            assert options._prepare_nvjitlink_options() == ["-arch=sm_90", "-g"]
            assert options._prepare_nvjitlink_options(as_bytes=True) == [b"-arch=sm_90", b"-g"]
            program = ProgramOptions(name="one", arch="sm_90", extra_sources=[("two", "text")])
            assert program._name == b"one" and program._prepare_extra_sources_bytes() == [(b"two", b"text")]
        """)

    @needs_bindings
    def test_of_virtual_memory(self):
        served("""
            from cuda.bindings import driver
            from cuda.core import VirtualMemoryResourceOptions as Options
            assert Options._access_to_flags("rw") == driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            assert Options._location_type["device"] == driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            try:
                Options._granularity_to_driver("huge")
            except ValueError as error:
                assert "Unsupported granularity: 'huge' is none of 'minimum', 'recommended'" == str(error)
        """)


class TestLaunches:
    @needs_bindings
    def test_a_kernel_runs_with_what_is_made_for_cuda_bindings(self):
        served("""
            from cuda.bindings import driver
            from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program
            from cuda.core._kernel_arg_handler import ParamHolder
            from cuda.core._launch_config import _to_native_launch_config
            from cuda.core._utils.cuda_utils import handle_return
            Device().set_current()
            stream = Device().create_stream()
            source = 'extern "C" __global__ void f(long long* out, long long a, double b, bool c) { *out = a * b + c; }'
            kernel = Program(source, "c++").compile("cubin").get_kernel("f")
            out = LegacyPinnedMemoryResource().allocate(8)
            native = _to_native_launch_config(LaunchConfig(grid=1, block=1))
            native.hStream = stream.handle
            arguments = ParamHolder([out, 3, 2.5, True])
            handle_return(driver.cuLaunchKernelEx(native, int(kernel.handle), arguments.ptr, 0))
            stream.sync()
            import ctypes
            assert ctypes.c_int64.from_address(int(out.handle)).value == 8
            try:
                ParamHolder(["text"])
            except TypeError as error:
                assert "unsupported type" in str(error)
        """)


class TestSharing:
    def test_descriptors_of_the_drivers_bytes(self):
        served("""
            import pickle
            from cuda.core import Buffer, Device, DeviceMemoryResource, Event
            from cuda.core._event import IPCEventDescriptor
            from cuda.core._memory._ipc import IPCBufferDescriptor
            device = Device()
            device.set_current()
            pool = DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 1 << 22})
            ours = pool.allocate(64, stream=device.default_stream).ipc_descriptor
            raw = pickle.loads(pickle.dumps(ours))
            assert isinstance(raw, IPCBufferDescriptor) and (raw.payload, raw.size) == (ours.payload, 64)
            assert raw == IPCBufferDescriptor._init(ours.payload, 64) != IPCBufferDescriptor._init(ours.payload, 65)
            assert raw != ours.payload and hash(raw) == hash(pickle.loads(pickle.dumps(raw)))
            event = IPCEventDescriptor._init(bytes(64), True)
            assert event == IPCEventDescriptor._init(bytes(64), False) != IPCEventDescriptor._init(bytes(63), True)
            for read in (
                lambda: Buffer.from_ipc_descriptor(pool, IPCBufferDescriptor._init(bytes(8), 64), stream=None),
                lambda: Event.from_ipc_descriptor(IPCEventDescriptor._init(bytes(8), True)),
            ):
                try:
                    read()
                except ValueError as error:
                    assert "is 8 bytes; expected at least 64" in str(error)
                else:
                    raise AssertionError(read)
        """)

    def test_weak_handles_see_the_memory_and_the_graph_go(self):
        served("""
            import gc
            from cuda.core import Device
            from cuda.core._utils._weak_handles import weak_handle
            from cuda.core.graph import GraphDefinition
            device = Device()
            device.set_current()
            buffer = device.allocate(64, stream=device.default_stream)
            graph = GraphDefinition()
            node = graph.memset(buffer, 0, 4)
            memory, whole = weak_handle(buffer), weak_handle(graph)
            buffer.close()
            del graph
            gc.collect()
            assert memory and whole and not memory.expired(), "the node keeps both"
            del node
            device.sync()
            gc.collect()
            assert not whole and not memory and memory.expired()
            for wrong, kind in ((buffer, ValueError), (3, TypeError)):
                try:
                    weak_handle(wrong)
                except kind:
                    continue
                raise AssertionError(wrong)
        """)


class TestStreams:
    def test_of_derived_classes(self):
        served("""
            from cuda.core import Device, Stream
            class Mine(Stream):
                pass
            Device().set_current()
            made = Mine._init(device_id=0)
            borrowed = Mine._init(obj=made)
            assert type(made) is Mine and type(borrowed) is Mine and borrowed == made
            made.sync()
            assert Mine._legacy_default() == Stream.legacy_default() and type(Mine._per_thread_default()) is Mine
            try:
                Stream._init(obj=made, options={})
            except ValueError as error:
                assert str(error) == "obj and options cannot be both specified"
        """)

    def test_no_class_but_streams(self):
        served("""
            from cuprum import Stream, _core
            for wrong in (int, object, _core.Event, 7):
                try:
                    _core._stream_as(wrong, Stream.legacy_default())
                except TypeError:
                    continue
                raise AssertionError(wrong)
        """)


def test_peer_access_plans_lead_from_any_set_to_any_other():
    served("""
        import itertools
        from cuda.core._memory._peer_access_utils import plan_peer_access_update
        devices = (1, 2, 3)
        subsets = [set(each) for size in range(4) for each in itertools.combinations(devices, size)]
        for current, wanted in itertools.product(subsets, subsets):
            plan = plan_peer_access_update(0, current, [*wanted, 0], resolve_device_id=int, can_access_peer=bool)
            assert set(plan.target_ids) == wanted
            assert (current | set(plan.to_add)) - set(plan.to_remove) == wanted
            assert not current & set(plan.to_add) and not wanted & set(plan.to_remove)
    """)


def test_cache_keys_need_a_digest_of_what_cuda_core_does_not_see():
    served("""
        from cuda.core import ProgramOptions
        from cuda.core.utils import make_program_cache_key
        def key(**options):
            digest = options.pop("digest", None)
            options = ProgramOptions(arch="sm_90", **options)
            return make_program_cache_key(
                code="", code_type="c++", options=options, target_type="cubin", extra_digest=digest)
        assert isinstance(key(), bytes) and key() == key()
        files = {"include_path": "/tmp", "pre_include": ["a.h"], "pch_dir": "/tmp", "name": "folder/a.cu"}
        for unseen in ({name: value} for name, value in files.items()):
            try:
                key(**unseen)
            except ValueError as error:
                assert "extra_digest" in str(error)
            else:
                raise AssertionError(unseen)
            assert key(**unseen, digest=b"1") != key(**unseen, digest=b"2")
    """)


@needs_bindings
def test_names_of_nvml_are_those_of_the_same_number():
    served("""
        try:
            from cuda.bindings import nvml
        except ImportError:
            raise SystemExit(0)  # bindings before 13.2
        from cuda.core.system import _device
        from cuda.core.system.typing import EventType, GpuP2PStatus
        assert _device._EVENT_TYPE_MAPPING[EventType.FATAL_POISON_ERROR] == nvml.EventType.FATAL_POISON_ERROR
        unsupported = _device._GPU_P2P_STATUS_MAPPING[GpuP2PStatus.NOT_SUPPORTED]
        assert unsupported.name.endswith("NOT_SUPPORTED") and "GPU" not in unsupported.name
    """)


class TestLinkerBackend:
    def test_is_what_libcuprum_found(self):
        served("""
            import warnings
            import cuprum
            found = str(cuprum.Linker.which_backend())
            warnings.simplefilter("ignore")
            from cuda.core import Linker, _linker
            assert str(Linker.which_backend()) == found
            assert _linker._decide_nvjitlink_or_driver() is (found == "driver")
            assert _linker._use_nvjitlink_backend is (found == "nvJitLink") and _linker._inited
        """)

    def test_that_is_set_is_the_one_that_links(self):
        served("""
            from cuda.core import Device, Linker, LinkerOptions, Program, ProgramOptions, _linker
            Device().set_current()
            options = ProgramOptions(relocatable_device_code=True)
            code = Program('extern "C" __global__ void f() {}', "c++", options).compile("ptx")
            _linker._use_nvjitlink_backend = False
            assert Linker.which_backend() == "driver"
            linker = Linker(code)
            assert "CUlinkState" in type(linker.handle).__name__ or isinstance(linker.handle, int)
            try:
                Linker(code, options=LinkerOptions(arch="sm_90", time=True))
            except ValueError as error:
                assert "driver" in str(error)
            else:
                raise AssertionError("nvJitLink was used")
            try:
                LinkerOptions(arch="sm_90").as_bytes("nvjitlink")
            except RuntimeError as error:
                assert "nvJitLink backend is not available" in str(error)
            else:
                raise AssertionError("options for a linker that is not used")
        """)

    @needs_bindings  # whose types tell the linkers apart
    def test_that_is_set_compiles_ptx_and_is_what_its_key_says(self):
        served("""
            from cuda.core import Device, Program, ProgramOptions, _linker
            from cuda.core.utils import InMemoryProgramCache, make_program_cache_key
            Device().set_current()
            ptx = ".version 7.0 .target sm_70 .address_size 64 .visible .entry f() { ret; }"
            options = ProgramOptions(arch="sm_90")
            def key():
                return make_program_cache_key(code=ptx, code_type="ptx", options=options, target_type="cubin")
            keys = set()
            for is_nvjitlink in (True, False):
                _linker._use_nvjitlink_backend = is_nvjitlink
                program = Program(ptx, "ptx", options)
                assert program.backend == ("nvJitLink" if is_nvjitlink else "driver")
                assert ("CUlinkState" in type(program.handle).__name__) is not is_nvjitlink
                cache = InMemoryProgramCache()
                made = program.compile("cubin", cache=cache)
                assert cache[key()] == made.code
                keys.add(key())
            assert len(keys) == 2
            try:
                Program(ptx, "ptx", ProgramOptions(arch="sm_90", ptxas_options="-v")).compile("cubin")
            except ValueError as error:
                assert "ptxas_options" in str(error)
            else:
                raise AssertionError("nvJitLink was used")
        """)

    def test_that_is_too_old_is_warned_of_once(self):
        served("""
            import warnings
            from cuda.core import Linker, _linker
            _linker._use_nvjitlink_backend = None
            _linker._optional_cuda_import = lambda modname, probe_function=None: object()
            _linker._nvjitlink_has_version_symbol = lambda module: False
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                assert [str(Linker.which_backend()) for _ in range(2)] == ["driver", "driver"]
            assert [each.category for each in said] == [RuntimeWarning] and "too old (<12.3)" in str(said[0].message)
        """)


class TestCompilingWithACache:
    def test_asks_for_one_key_and_stores_the_code_under_it(self):
        served("""
            from cuda.core import Device, Program, ProgramOptions
            from cuda.core.utils import InMemoryProgramCache, make_program_cache_key
            Device().set_current()
            source, options = 'extern "C" __global__ void f() {}', ProgramOptions(arch="sm_90", name="mine")
            key = make_program_cache_key(code=source, code_type="c++", options=options, target_type="cubin")
            cache = InMemoryProgramCache()
            made = Program(source, "c++", options).compile("cubin", cache=cache)
            assert len(cache) == 1 and cache[key] == made.code
            cache[key] = b"something else"
            found = Program(source, "c++", options).compile("cubin", cache=cache)
            assert (found.code, found.code_type, found.name) == (b"something else", "cubin", "mine")
        """)

    def test_refuses_what_a_cache_of_code_cannot_keep(self):
        served("""
            from cuda.core import Device, Program, ProgramOptions
            from cuda.core.utils import InMemoryProgramCache
            Device().set_current()
            cache = InMemoryProgramCache()
            source = "template <typename T> __global__ void f(T*) {}"
            refused = {
                "name_expressions": (ProgramOptions(arch="sm_90"), ("f<int>",)),
                "extra_digest": (ProgramOptions(arch="sm_90", include_path=["/tmp"]), ()),
            }
            for word, (options, names) in refused.items():
                try:
                    Program(source, "c++", options).compile("cubin", name_expressions=names, cache=cache)
                except ValueError as error:
                    assert word in str(error)
                else:
                    raise AssertionError(word)
            assert len(cache) == 0
            made = Program(source, "c++").compile("cubin", name_expressions=("f<int>",))
            assert made.get_kernel("f<int>").num_arguments == 1
        """)


def test_cache_keys_are_of_one_compiler():
    served("""
        import warnings
        warnings.simplefilter("ignore")
        from cuda.core import ProgramOptions
        from cuda.core.utils import _program_cache, make_program_cache_key
        def key(names=()):
            options = ProgramOptions(arch="sm_90")
            return make_program_cache_key(
                code="", code_type="c++", options=options, target_type="cubin", name_expressions=names)
        known = key()
        assert key(("f",)) != key((b"f",)) and key(("f", "g")) == key(("g", "f"))
        _program_cache._keys._nvrtc_version = lambda: (99, 0)
        assert key() != known
        def unknown():
            raise RuntimeError("no NVRTC")
        _program_cache._keys._nvrtc_version = unknown
        assert key() == key() != known
    """)
