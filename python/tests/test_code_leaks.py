"""Memory stays flat when code, kernels, programs and caches come and go."""

import gc
import pickle

import pytest

from cuprum import CUDAError, Linker, ObjectCode, Program, ProgramOptions
from cuprum.utils import InMemoryProgramCache, ProgramCacheResource

PTX = b".version 7.0 .target sm_70 .address_size 64 .visible .entry f(.param .u32 a) { ret; }"
SOURCE = 'extern "C" __global__ void f() {}'


class InADict(dict, ProgramCacheResource):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, bytes(value))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def growth(use, times):
    for _ in range(times // 4):
        use()
    gc.collect()
    before = resident()
    for _ in range(times):
        use()
    gc.collect()
    return resident() - before


def refused(code):
    with pytest.raises(CUDAError):
        code.get_kernel("nothing")


@pytest.fixture
def code(device):
    return ObjectCode.from_ptx(PTX, symbol_mapping={"name": "f"})


@pytest.mark.parametrize(
    "use",
    [
        lambda code, compiled, kernel: ObjectCode.from_ptx(PTX, name="n"),
        lambda code, compiled, kernel: code.get_kernel("name"),
        lambda code, compiled, kernel: kernel.attributes.num_regs,
        lambda code, compiled, kernel: kernel.arguments_info,
        lambda code, compiled, kernel: kernel.occupancy.max_potential_block_size(lambda size: 0, 64),
        lambda code, compiled, kernel: Program(SOURCE, "c++", {"arch": "sm_90"}),
        lambda code, compiled, kernel: ProgramOptions(arch="sm_90", define_macro=("A", "1")).as_bytes("nvrtc"),
        lambda code, compiled, kernel: pickle.loads(pickle.dumps(compiled)).code,
        lambda code, compiled, kernel: InMemoryProgramCache().update({"key": compiled}),
    ],
)
def test_ten_thousand(code, use):
    compiled = Program(SOURCE, "c++").compile("cubin")
    kernel = code.get_kernel("f")
    assert growth(lambda: use(code, compiled, kernel), 10_000) < 1_000_000


def test_what_takes_longer(code):
    program = Program(SOURCE, "c++")
    native, in_python = InMemoryProgramCache(), InADict()
    relocatable = Program(SOURCE, "c++", {"relocatable_device_code": True}).compile("ptx")
    assert growth(lambda: refused(code), 2000) < 1_000_000
    assert growth(lambda: ObjectCode.from_ptx(PTX).handle, 1000) < 1_000_000
    assert growth(lambda: program.compile("cubin", cache=native), 1000) < 1_000_000
    assert growth(lambda: program.compile("cubin", cache=in_python), 1000) < 1_000_000
    # nvJitLink takes a while to find its size; a link in progress has far more than 40 KB.
    assert growth(lambda: Linker(relocatable).close(), 100) < 4_000_000
