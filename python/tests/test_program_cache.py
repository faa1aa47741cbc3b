"""Caches of compiled programs."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import weakref

import pytest

from cuprum import Device, ObjectCode, Program, ProgramOptions, utils
from cuprum.utils import FileStreamProgramCache, InMemoryProgramCache, ProgramCacheResource, make_program_cache_key

SOURCE = 'extern "C" __global__ void f() {}'
TEMPLATE = "template <typename T> __global__ void g(T* p) { *p = 0; }"


class InADict(ProgramCacheResource):
    """What a user would write; it doesn't call the constructor of its base."""

    def __init__(self):
        self.values = {}
        self.calls = []

    def __getitem__(self, key):
        self.calls.append(("get", key))
        return self.values[key]

    def __setitem__(self, key, value):
        self.calls.append(("set", key))
        self.values[key] = bytes(value)

    def __delitem__(self, key):
        del self.values[key]

    def __len__(self):
        return len(self.values)

    def clear(self):
        self.values.clear()


@pytest.fixture(params=["memory", "files"])
def cache(request, tmp_path):
    return InMemoryProgramCache() if request.param == "memory" else FileStreamProgramCache(tmp_path / "cache")


@pytest.fixture(autouse=True)
def current_device(device):
    return device


class TestMapping:
    def test_is_empty_at_first(self, cache):
        assert len(cache) == 0
        assert cache.get(b"key") is None
        assert cache.get(b"key", b"else") == b"else"
        with pytest.raises(KeyError, match="key"):
            cache["key"]
        with pytest.raises(KeyError, match="key"):
            del cache["key"]

    @pytest.mark.parametrize("convert", [bytes, bytearray, memoryview])
    def test_keeps_bytes(self, cache, convert):
        cache[b"key"] = convert(b"\0value\xff")
        assert cache[b"key"] == cache["key"] == cache[bytearray(b"key")] == cache.get("key") == b"\0value\xff"
        assert type(cache["key"]) is bytes
        assert len(cache) == 1
        cache["key"] = b""
        assert cache["key"] == b""
        del cache["key"]
        assert len(cache) == 0

    @pytest.mark.parametrize("items", [{"a": b"1", b"b": b"2"}, [("a", b"1"), (b"b", b"2")]])
    def test_updates(self, cache, items):
        cache.update(items)
        assert (cache["a"], cache["b"], len(cache)) == (b"1", b"2", 2)
        cache.clear()
        assert len(cache) == 0

    def test_keeps_code_as_its_bytes(self, cache, tmp_path):
        code = Program(SOURCE, "c++").compile("cubin")
        path = tmp_path / "code"
        path.write_bytes(b"bytes of a file")
        cache["compiled"] = code
        cache["given"] = ObjectCode.from_cubin(b"given bytes")
        cache["file"] = ObjectCode.from_cubin(path)
        path.unlink()
        assert cache["compiled"] == code.code
        assert cache["given"] == b"given bytes"
        assert cache["file"] == b"bytes of a file"
        assert cache.get_code("compiled").get_kernel("f").num_arguments == 0
        assert cache.get_code("nothing") is None

    def test_says_when_the_file_of_code_is_gone(self, cache, tmp_path):
        with pytest.raises(FileNotFoundError, match="path-backed ObjectCode.*gone"):
            cache["key"] = ObjectCode.from_cubin(tmp_path / "gone")

    @pytest.mark.parametrize("bad", [None, 3, 2.5, ("k",), memoryview(b"k")])
    def test_refuses_what_is_no_key(self, cache, bad):
        for use in (
            lambda: cache[bad],
            lambda: cache.get(bad),
            lambda: cache.__setitem__(bad, b""),
            lambda: cache.__delitem__(bad),
            lambda: cache.update({bad: b""} if bad != memoryview(b"k") else [(bad, b"")]),
        ):
            with pytest.raises(TypeError, match="cache keys must be bytes or str"):
                use()

    @pytest.mark.parametrize("bad", [None, 3, "text", [1]])
    def test_refuses_what_is_no_value(self, cache, bad):
        with pytest.raises(TypeError, match="cache values must be bytes-like or ObjectCode"):
            cache["key"] = bad
        assert len(cache) == 0

    def test_has_no_in(self, cache):
        with pytest.raises((TypeError, KeyError)):
            "key" in cache  # noqa: B015

    def test_is_a_context_manager(self, cache):
        with cache as inside:
            assert inside is cache
            inside["key"] = b"value"
        assert cache["key"] == b"value"

    @pytest.mark.parametrize("bad", [0, -1])
    def test_refuses_limits_that_are_none(self, tmp_path, bad):
        with pytest.raises(ValueError, match="positive"):
            InMemoryProgramCache(max_size_bytes=bad)
        with pytest.raises(ValueError, match="positive"):
            FileStreamProgramCache(tmp_path, max_size_bytes=bad)
        with pytest.raises(TypeError):
            InMemoryProgramCache(max_size_bytes="1")
        with pytest.raises(TypeError):
            InMemoryProgramCache(1000)

    def test_the_limit_evicts_what_was_used_longest_ago(self, tmp_path):
        for cache in (
            InMemoryProgramCache(max_size_bytes=100_000),
            FileStreamProgramCache(tmp_path / "cache", max_size_bytes=100_000),
        ):
            cache["old"] = b"x" * 60_000
            cache["new"] = b"y" * 60_000
            assert cache.get("old") is None
            assert cache["new"] == b"y" * 60_000
            cache["too large"] = b"z" * 200_000
            assert cache.get("too large") is None

    def test_threads_share_it(self, cache):
        def use(number):
            for step in range(50):
                cache[f"{number}"] = bytes([step])
                assert cache[f"{number}"] == bytes([step])

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(cache) == 4

    def test_weak_references(self, cache):
        assert weakref.ref(cache)() is cache


class TestFiles:
    @pytest.mark.parametrize("convert", [str, pathlib.Path])
    def test_outlive_the_process(self, tmp_path, convert):
        folder = tmp_path / "cache"
        script = (
            "import sys; from cuprum.utils import FileStreamProgramCache; "
            "FileStreamProgramCache(sys.argv[1])['key'] = b'value'"
        )
        subprocess.run([sys.executable, "-c", script, str(folder)], check=True)
        cache = FileStreamProgramCache(convert(folder))
        assert cache["key"] == b"value"
        assert cache.path == str(folder)

    def test_are_in_the_users_folder_unless_told(self, monkeypatch, tmp_path):
        script = "from cuprum.utils import FileStreamProgramCache; print(FileStreamProgramCache().path)"
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
        environment.pop("CUPRUM_CACHE_DIR", None)
        said = subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True)
        assert said.stdout.strip() == str(tmp_path / "cuprum")

    @pytest.mark.parametrize("bad", [3, 2.5, [""]])
    def test_refuses_what_is_no_path(self, bad):
        with pytest.raises(TypeError):
            FileStreamProgramCache(bad)

    def test_refuses_an_empty_path(self):
        with pytest.raises(ValueError, match="empty"):
            FileStreamProgramCache("")


class TestManyProcesses:
    """Caches of one folder don't know of each other, wherever they are."""

    def test_an_entry_that_is_replaced_while_others_make_room_stays(self, tmp_path):
        value, count = bytes(1000), 300
        full = FileStreamProgramCache(tmp_path, max_size_bytes=count * 1100)
        other = FileStreamProgramCache(tmp_path)
        for attempt in range(40):
            other[b"old"] = value
            path = max(tmp_path.glob("*.code"), key=lambda file: file.stat().st_mtime_ns)
            os.utime(path, (0, 0))  # what goes first
            for number in range(count - len(other)):
                other[b"%d %d" % (attempt, number)] = value
            ready = threading.Barrier(2)

            def replace(attempt=attempt, ready=ready):
                ready.wait()
                for _ in range(3):
                    other[b"old"] = b"new %d" % attempt

            replacing = threading.Thread(target=replace)
            replacing.start()
            ready.wait()
            full[b"more %d" % attempt] = bytes(50_000)
            replacing.join()
            assert other.get(b"old") == b"new %d" % attempt
            assert not list(tmp_path.glob("*.part"))


class TestCompiling:
    def test_finds_what_it_compiled(self, cache):
        program = Program(TEMPLATE, "c++", {"name": "named"})
        first = program.compile("cubin", ["g<float>"], cache=cache)
        size = len(cache)
        assert size > 0
        again = Program(TEMPLATE, "c++", {"name": "named"})
        second = again.compile("cubin", ["g<float>"], cache=cache)
        assert len(cache) == size
        assert (second.code, second.name, second.code_type) == (first.code, "named", "cubin")
        assert second.symbol_mapping == first.symbol_mapping
        assert second.get_kernel("g<float>").num_arguments == 1

    def test_the_key_is_that_of_make_program_cache_key(self, cache):
        options = ProgramOptions(arch="sm_90")
        code = Program(SOURCE, "c++", options).compile("ptx", cache=cache)
        key = make_program_cache_key(code=SOURCE, code_type="c++", options=options, target_type="ptx")
        assert cache[key] == code.code

    def test_takes_classes_written_in_python(self):
        cache = InADict()
        program = Program(TEMPLATE, "c++")
        first = program.compile("cubin", ["g<int>"], cache=cache)
        stored = [call for call in cache.calls if call[0] == "set"]
        assert stored
        assert all(isinstance(key, bytes) for _, key in cache.calls)
        assert first.code in cache.values.values()
        second = program.compile("cubin", ["g<int>"], cache=cache)
        assert [call for call in cache.calls if call[0] == "set"] == stored
        assert second.code == first.code
        assert second.get_kernel("g<int>").num_arguments == 1

    def test_what_a_class_in_python_raises_comes_out(self, capfd):
        class Broken(InADict):
            def get(self, key, default=None):
                raise RuntimeError("broken")

        class Full(InADict):
            def __setitem__(self, key, value):
                raise OSError("disk full")

        class Strange(InADict):
            def get(self, key, default=None):
                return "text"

        with pytest.raises(RuntimeError, match="broken"):
            Program(SOURCE, "c++").compile("cubin", cache=Broken())
        with pytest.raises(OSError, match="disk full"):
            Program(SOURCE, "c++").compile("cubin", cache=Full())
        with pytest.raises(TypeError):
            Program(SOURCE, "c++").compile("cubin", cache=Strange())
        assert capfd.readouterr().err == ""  # nobody is told twice

    def test_bad_entries_are_compiled_anew(self, cache):
        options = ProgramOptions(arch="sm_90")
        key = make_program_cache_key(code=SOURCE, code_type="c++", options=options, target_type="cubin")
        cache[key] = b"nonsense"
        code = Program(SOURCE, "c++", options).compile("cubin", cache=cache)
        assert cache[key] == code.code

    def test_classes_in_python_are_gone_when_nobody_has_them(self):
        cache = InADict()
        Program(SOURCE, "c++").compile("cubin", cache=cache)
        gone = weakref.ref(cache)
        del cache
        gc.collect()
        assert gone() is None

    @pytest.mark.parametrize("bad", [3, {}, "folder", InMemoryProgramCache, object()])
    def test_refuses_what_is_no_cache(self, bad):
        with pytest.raises(TypeError, match="cache must be an instance of cuprum.utils.ProgramCacheResource"):
            Program(SOURCE, "c++").compile("cubin", cache=bad)

    def test_refuses_what_cannot_be_cached(self, cache, tmp_path):
        for options in ({"create_pch": str(tmp_path / "pch")}, {"time": "-"}):
            with pytest.raises(ValueError, match="cache"):
                Program(SOURCE, "c++", options).compile("cubin", cache=cache)
        assert len(cache) == 0

    def test_failures_are_not_kept(self, cache):
        with pytest.raises(RuntimeError):
            Program("nonsense", "c++").compile("cubin", cache=cache)
        assert len(cache) == 0

    def test_logs_are_kept(self, cache):
        class Log(list):
            write = list.append

        program = Program(f'#warning "look here"\n{SOURCE}', "c++")
        for _ in range(2):
            log = Log()
            program.compile("cubin", logs=log, cache=cache)
            assert "look here" in "".join(log)

    def test_threads_share_a_class_in_python(self):
        cache = InADict()

        def compile_it():
            Device(0).set_current()
            Program(SOURCE, "c++").compile("cubin", cache=cache)

        threads = [threading.Thread(target=compile_it) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert cache.values


class TestAbstract:
    def test_needs_its_functions(self):
        with pytest.raises(TypeError, match="abstract"):
            ProgramCacheResource()

        class Partial(ProgramCacheResource):
            def __getitem__(self, key):
                raise KeyError(key)

        with pytest.raises(TypeError, match="abstract"):
            Partial()

    def test_has_the_others(self):
        cache = InADict()
        with cache:
            cache.update({b"key": b"value"})
            assert cache.get(b"key") == b"value"
            assert cache.get(b"other", b"else") == b"else"

    def test_is_the_base_of_all(self, cache):
        assert isinstance(cache, ProgramCacheResource)
        assert set(utils.__all__) >= {"ProgramCacheResource", "InMemoryProgramCache", "FileStreamProgramCache"}


class TestKey:
    GIVEN = {"code": SOURCE, "code_type": "c++", "target_type": "cubin"}

    def key(self, **changed):
        given = {**self.GIVEN, "options": ProgramOptions(arch="sm_90"), **changed}
        return make_program_cache_key(**given)

    def test_is_the_same_for_the_same(self):
        assert isinstance(self.key(), bytes)
        assert self.key() == self.key()
        assert self.key() == self.key(code_type="C++", target_type="CUBIN")
        assert self.key() == self.key(options={"arch": "sm_90"})
        assert self.key(name_expressions=("a", "b")) == self.key(name_expressions=["b", b"a"])

    def test_is_another_for_anything_else(self):
        keys = [
            self.key(),
            self.key(code=SOURCE + " "),
            self.key(target_type="ptx"),
            self.key(options=ProgramOptions(arch="sm_80")),
            self.key(options=ProgramOptions(arch="sm_90", std="c++17")),
            self.key(name_expressions=("f",)),
            self.key(extra_digest=b"1"),
            self.key(extra_digest=b"2"),
        ]
        assert len(set(keys)) == len(keys)

    def test_sees_included_files(self, tmp_path):
        header = tmp_path / "header.h"
        given = {
            "code": '#include "header.h"\n' + SOURCE,
            "options": ProgramOptions(arch="sm_90", include_path=tmp_path),
        }
        header.write_text("// one\n")
        first = self.key(**given)
        header.write_text("// another\n")
        assert self.key(**given) != first

    @pytest.mark.parametrize(
        "changed, error",
        [
            ({"code": 3}, TypeError),
            ({"code": None}, TypeError),
            ({"code_type": "fortran"}, ValueError),
            ({"target_type": "fatbin"}, ValueError),
            ({"options": 3}, TypeError),
            ({"options": ProgramOptions(arch="sm_90", time="-")}, ValueError),
            ({"options": ProgramOptions(arch="sm_90", create_pch="p")}, ValueError),
            ({"name_expressions": [3]}, TypeError),
            ({"extra_digest": "text"}, TypeError),
            ({"extra_digest": 3}, TypeError),
            ({"code_type": "nvvm", "target_type": "cubin"}, ValueError),
        ],
    )
    def test_refuses_bad_input(self, changed, error):
        with pytest.raises(error):
            self.key(**changed)

    def test_takes_keywords_only(self):
        with pytest.raises(TypeError):
            make_program_cache_key(SOURCE, "c++", ProgramOptions(arch="sm_90"), "cubin")
