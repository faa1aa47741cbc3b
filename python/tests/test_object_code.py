"""Object code: where it comes from, what it says of itself, and what comes out of it."""

import gc
import os
import pathlib
import pickle
import threading
import weakref

import pytest

from cuprum import CompileError, CUDAError, Device, Kernel, ObjectCode
from cuprum.typing import ObjectCodeFormatType

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry first(.param .u32 a, .param .u64 b) { ret; }
.visible .entry _Z6secondIfEvv() { ret; }
"""
MAPPING = {"second<float>": "_Z6secondIfEvv"}


@pytest.fixture
def code(device):
    return ObjectCode.from_ptx(PTX, name="some code", symbol_mapping=MAPPING)


class TestMaking:
    def test_is_made_by_its_functions_only(self):
        with pytest.raises(RuntimeError, match=r"^ObjectCode objects cannot be instantiated directly\."):
            ObjectCode()

    @pytest.mark.parametrize("kind", list(ObjectCodeFormatType))
    def test_keeps_what_it_is_given_until_it_is_used(self, kind):
        code = getattr(ObjectCode, f"from_{kind}")(b"nothing of the kind", name="n")
        assert code.code == b"nothing of the kind"
        assert code.code_type is kind
        assert code.name == "n"
        assert code.symbol_mapping == {}

    @pytest.mark.parametrize("convert", [bytes, bytearray, memoryview])
    def test_takes_bytes_of_every_kind(self, device, convert):
        assert isinstance(ObjectCode.from_ptx(convert(PTX)).get_kernel("first"), Kernel)

    def test_copies_what_can_change(self, device):
        changing = bytearray(PTX)
        code = ObjectCode.from_ptx(changing)
        changing[:] = b"x"
        assert code.code == PTX

    @pytest.mark.parametrize("convert", [str, pathlib.Path])
    def test_takes_paths(self, device, tmp_path, convert):
        path = tmp_path / "some code.ptx"
        path.write_bytes(PTX)
        code = ObjectCode.from_ptx(convert(path))
        assert code.code == str(path)
        assert isinstance(code.get_kernel("first"), Kernel)

    def test_reads_a_path_when_it_is_used(self, device, tmp_path):
        path = tmp_path / "later.ptx"
        code = ObjectCode.from_ptx(path)
        with pytest.raises(CUDAError, match="No such file"):
            code.get_kernel("first")
        path.write_bytes(PTX)
        code.get_kernel("first")

    @pytest.mark.parametrize("kind", list(ObjectCodeFormatType))
    @pytest.mark.parametrize("bad", [None, 3, 2.5, [1], {}, object()])
    def test_refuses_what_is_no_code(self, kind, bad):
        with pytest.raises(TypeError, match="must be bytes with the code, or a str"):
            getattr(ObjectCode, f"from_{kind}")(bad)

    @pytest.mark.parametrize("bad", [3, [("a", "b")], "ab"])
    def test_refuses_what_is_no_mapping(self, bad):
        with pytest.raises(TypeError, match="symbol_mapping must be a dict"):
            ObjectCode.from_ptx(PTX, symbol_mapping=bad)

    @pytest.mark.parametrize("bad", [{1: "f"}, {"f": 1}, {"f": None}])
    def test_refuses_what_is_no_name_in_a_mapping(self, bad):
        with pytest.raises(TypeError, match="must be a str or bytes"):
            ObjectCode.from_ptx(PTX, symbol_mapping=bad)

    def test_refuses_what_is_no_name(self):
        with pytest.raises(TypeError, match="name must be a str"):
            ObjectCode.from_ptx(PTX, name=3)
        assert ObjectCode.from_ptx(PTX, name=None).name == ""

    def test_names_are_keywords(self):
        with pytest.raises(TypeError):
            ObjectCode.from_ptx(PTX, "name")


class TestUse:
    def test_finds_kernels_by_symbol_and_by_mapped_name(self, code):
        assert code.get_kernel("first") == code.get_kernel(b"first")
        assert code.get_kernel("second<float>") == code.get_kernel("_Z6secondIfEvv")
        assert code.get_kernel("first") != code.get_kernel("second<float>")
        assert sorted(code.kernel_names) == ["first", "second<float>"]

    def test_mappings_can_have_bytes(self, device):
        code = ObjectCode.from_ptx(PTX, symbol_mapping={b"a": b"first", "b": b"first"})
        assert code.get_kernel("a") == code.get_kernel("b") == code.get_kernel("first")
        assert code.symbol_mapping == {b"a": b"first", "b": b"first"}

    def test_the_mapping_is_a_copy(self, code):
        code.symbol_mapping["first"] = "nothing"
        assert code.symbol_mapping == MAPPING
        code.get_kernel("first")

    def test_says_which_kernels_there_are(self, code):
        with pytest.raises(CUDAError, match="there is no kernel 'third' in object code 'some code'.*first"):
            code.get_kernel("third")

    @pytest.mark.parametrize("bad", [None, 3, 2.5, ["first"]])
    def test_refuses_what_is_no_name_of_a_kernel(self, code, bad):
        with pytest.raises(TypeError, match="must be a str or bytes"):
            code.get_kernel(bad)

    @pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
    def test_kernels_are_not_in_what_is_for_the_linker(self, device, kind):
        code = getattr(ObjectCode, f"from_{kind}")(b"x")
        for use in (lambda: code.get_kernel("f"), lambda: code.handle, code.get_module):
            with pytest.raises(RuntimeError, match=f'Unsupported code type "{kind}"'):
                use()

    def test_bad_code_is_refused_with_the_log(self, device):
        with pytest.raises(CompileError, match="[.]target") as caught:
            ObjectCode.from_ptx(b".version 7.0 nonsense").get_kernel("f")
        assert ".target" in caught.value.log
        with pytest.raises(CUDAError, match="is not a cubin"):
            ObjectCode.from_cubin(b"nonsense").get_kernel("f")
        with pytest.raises(CUDAError, match="cubin"):
            ObjectCode.from_cubin(PTX).get_kernel("f")

    def test_handles(self, code):
        assert int(code.handle) == int(code.handle) != 0
        assert int(code.get_module()) != 0

    def test_repr_never_raises(self, code):
        assert repr(code) == f"<ObjectCode handle={int(code.handle):#x} code_type='ptx'>"
        assert repr(ObjectCode.from_cubin("/no/such/file")) == "<ObjectCode handle=0x0 code_type='cubin'>"
        assert repr(ObjectCode.from_ltoir(b"x")) == "<ObjectCode handle=0x0 code_type='ltoir'>"

    def test_equality_hash_and_weak_references(self, code):
        same_bytes = ObjectCode.from_ptx(PTX)
        assert code == code
        assert code != same_bytes
        assert code != 3
        assert {code: 1}[code] == 1
        assert len({code, same_bytes}) == 2
        assert weakref.ref(code)() is code

    def test_is_gone_when_nobody_has_it(self, device):
        code = ObjectCode.from_ptx(PTX)
        gone = weakref.ref(code)
        kernel = code.get_kernel("first")
        del code
        gc.collect()
        assert gone() is None
        assert kernel.num_arguments == 2

    def test_threads_load_it_once(self, code):
        handles = []
        start = threading.Barrier(8)

        def load():
            Device(0).set_current()
            start.wait()
            handles.append(int(code.handle))

        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(handles) == 8
        assert len(set(handles)) == 1


class TestKeeping:
    def test_pickles_what_was_given(self, code):
        copy = pickle.loads(pickle.dumps(code))
        assert (copy.code, copy.code_type, copy.name) == (code.code, code.code_type, code.name)
        assert copy.symbol_mapping == MAPPING
        assert copy.get_kernel("second<float>").num_arguments == 0

    def test_pickles_a_path_as_a_path(self, device, tmp_path):
        path = tmp_path / "code.ptx"
        path.write_bytes(PTX)
        data = pickle.dumps(ObjectCode.from_ptx(path))
        assert pickle.loads(data).code == str(path)

    def test_bytes_and_back(self, code):
        copy = ObjectCode.from_bytes(code.to_bytes())
        assert (copy.code, copy.code_type, copy.name) == (code.code, code.code_type, code.name)
        assert copy.symbol_mapping == {"second<float>": b"_Z6secondIfEvv"}
        assert copy.get_kernel("second<float>").num_arguments == 0
        again = pickle.loads(pickle.dumps(copy))
        assert again.symbol_mapping == copy.symbol_mapping
        assert again.code == code.code

    @pytest.mark.parametrize("bad", [b"", b"x", PTX])
    def test_refuses_other_bytes(self, bad):
        with pytest.raises(ValueError):
            ObjectCode.from_bytes(bad)
        with pytest.raises(TypeError):
            ObjectCode.from_bytes("text")

    @pytest.mark.parametrize("convert", [str, pathlib.Path])
    def test_saves_and_reads_files(self, code, tmp_path, convert):
        path = tmp_path / "saved"
        code.save(convert(path))
        assert path.read_bytes().rstrip(b"\0") == PTX
        copy = ObjectCode.from_file(convert(path), symbol_mapping=MAPPING)
        assert copy.code_type == "ptx"
        assert copy.get_kernel("second<float>").num_arguments == 0

    def test_files_that_are_not_there(self, code, tmp_path):
        with pytest.raises(ValueError, match="nowhere"):
            code.save(tmp_path / "nowhere" / "file")
        with pytest.raises(TypeError):
            ObjectCode.from_file(3)

    @pytest.mark.parametrize("use", [lambda path: ObjectCode.from_file(path), lambda path: ObjectCode.from_cubin(path).get_kernel("k"),
                                     lambda path: ObjectCode.from_ptx(path).handle])  # fmt: skip
    @pytest.mark.parametrize(("name", "kind"), [("nowhere", FileNotFoundError), ("folder", IsADirectoryError)])
    def test_all_say_alike_why_a_file_cannot_be_read(self, device, tmp_path, use, name, kind):
        (tmp_path / "folder").mkdir()
        path = str(tmp_path / name)
        with pytest.raises(kind) as caught:
            use(path)
        assert isinstance(caught.value, CUDAError)
        assert path in str(caught.value)
        assert os.strerror(caught.value.errno) in str(caught.value)
        assert repr(pickle.loads(pickle.dumps(caught.value))) == repr(caught.value)

    @pytest.mark.parametrize("use", [lambda path: ObjectCode.from_file(path), lambda path: ObjectCode.from_cubin(path).get_kernel("k")])
    def test_files_are_named_whole(self, device, use):
        with pytest.raises(ValueError, match="NUL character after '/tmp/x'"):
            use("/tmp/x\0y")
