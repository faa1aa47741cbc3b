#!/usr/bin/env bash
# Builds the wheel as a stranger would, installs it into a new virtual environment, and uses it from there without a GPU.
# usage: wheel.sh SOURCE WORK PYTHON [pip's arguments for the build, such as -C cmake.define.X=Y]
# WHEEL_BUILD names the folder to build in, WORK/build unless set. Without a compiler cache everything is compiled once more.
set -euo pipefail
source=$1 work=$2 python=$3
shift 3
rm -rf "$work/wheels" "$work/venv"
mkdir -p "$work/wheels"

"$python" -m pip wheel "$source" --no-deps --quiet --disable-pip-version-check --wheel-dir "$work/wheels" -C build-dir="${WHEEL_BUILD:-$work/build}" "$@"
wheel=$(ls "$work"/wheels/cuprum-*.whl)
echo "$(basename "$wheel"): $(stat --format=%s "$wheel") bytes"

# What is in it, and that nothing else is.
files=$("$python" -m zipfile --list "$wheel" | awk 'NR > 1 { print $1 }')
for wanted in cuprum/__init__.py cuprum/lib/libcuprum.so. cuprum/lib/cuprum/softgpu/libcuda.so.1 cuprum/lib/cuprum/softgpu/libnvidia-ml.so.1 cuprum/bin/cuprum cuprum/_core. cuprum/py.typed; do
  grep -q "^$wanted" <<<"$files" || { echo "$wanted is missing in the wheel" >&2; exit 1; }
done
# A wheel for several versions of Python has an extension that all of them load, and not one that only its builder's does.
if [[ $wheel == *-abi3-* ]] && ! grep -q '^cuprum/_core\.abi3\.so$' <<<"$files"; then
  echo "the wheel says abi3, but its extension is $(grep '^cuprum/_core\.' <<<"$files")" >&2
  exit 1
fi
strange=$(grep -vE '^(cuprum|cuprum-[0-9.]+\.dist-info)/' <<<"$files" || true)
[[ -z $strange ]] || { printf 'the wheel has more than it should:\n%s\n' "$strange" >&2; exit 1; }

"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "$wheel"
cd "$work"
env -u PYTHONPATH -u LD_LIBRARY_PATH CUPRUM_DRIVER=softgpu "$work/venv/bin/python" - <<'PYTHON'
import struct
from cuprum import Device, LaunchConfig, LEGACY_DEFAULT_STREAM, ObjectCode, PinnedMemoryResource, launch

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry double(.param .u64 data)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r2, %r2, %r2;
  st.global.u32 [%rd3], %r2;
  ret;
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
buffer = PinnedMemoryResource().allocate(32 * 4, stream=stream)
stream.sync()
values = memoryview(buffer).cast("B").cast("I")
values[:] = memoryview(struct.pack("32I", *range(32))).cast("I")
launch(stream, LaunchConfig(grid=1, block=32), ObjectCode.from_ptx(PTX).get_kernel("double"), buffer)
stream.sync()
assert list(values) == [2 * number for number in range(32)], list(values)
print("a kernel ran on", device.name)
PYTHON
env -u PYTHONPATH -u LD_LIBRARY_PATH "$work/venv/bin/cuprum" --version
