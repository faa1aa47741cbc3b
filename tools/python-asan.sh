#!/usr/bin/env bash
# Runs the tests of the Python package with libcuprum and the extension built for AddressSanitizer and
# UndefinedBehaviorSanitizer, on the softgpu of another build:
#
#   tools/python-asan.sh [options] [pytest arguments; python/tests unless given]
#
#   --build FOLDER      where to build; build/python-asan unless given
#   --softgpu FILE      softgpu's libcuda.so.1; that of build/release unless given
#   --leaks             also report memory that nobody gave back, of what has libcuprum or the extension in its stack
#
# Python itself is a plain one, so the sanitizer is loaded before it, and Python takes its memory from malloc.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/python-asan softgpu=$root/build/release/lib/cuprum/softgpu/libcuda.so.1 leaks=0
while [[ ${1:-} == --* ]]; do
  case $1 in
    --build) build=$(realpath -m "$2") && shift ;;
    --softgpu) softgpu=$(realpath "$2") && shift ;;
    --leaks) leaks=1 ;;
    *) echo "unknown option $1; the head of $0 lists them" >&2 && exit 2 ;;
  esac
  shift
done
[[ -f $softgpu ]] || { echo "there is no $softgpu: build softgpu, or name another with --softgpu" >&2; exit 1; }

python=$root/.deps/python/bin/python
if [[ ! -f $build/build.ninja ]]; then
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" \
    -DCUPRUM_SANITIZE=address -DCUPRUM_PYTHON=ON -DCUPRUM_SOFTGPU=OFF -DCUPRUM_TESTS=OFF -DCUPRUM_EXAMPLES=OFF -DCUPRUM_TOOLS=OFF \
    ${CUPRUM_CUDA_INCLUDE:+-DCUPRUM_CUDA_INCLUDE="$CUPRUM_CUDA_INCLUDE"} --log-level=WARNING
fi
cmake --build "$build" --target cuprum_python

compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
suppressions=$build/leak-suppressions
# Modules of others, and Python's own: what they keep for ever is not ours to judge.
printf 'leak:%s\n' libpython python3 _ctypes libnvrtc libnvJitLink libLLVM libEGL libgallium numpy libcuda.so > "$suppressions"
[[ $# -gt 0 ]] || set -- "$root/python/tests"
export LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so) $("$compiler" -print-file-name=libstdc++.so)"
export ASAN_OPTIONS="detect_leaks=$leaks:abort_on_error=1:alloc_dealloc_mismatch=1:detect_stack_use_after_return=0:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}" LSAN_OPTIONS="suppressions=$suppressions:print_suppressions=0:${LSAN_OPTIONS:-}"
export PYTHONMALLOC=malloc PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 CUPRUM_DRIVER=${CUPRUM_DRIVER:-softgpu} CUPRUM_SOFTGPU_PATH=$softgpu
# Left out is what measures the size of the process, which is the sanitizer's own.
exec "$python" -m pytest -q -p no:cacheprovider -k "not nothing_is_left and not ten_thousand and not takes_longer" "$@"
