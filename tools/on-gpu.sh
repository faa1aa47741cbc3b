#!/usr/bin/env bash
# Runs the API and conformance tests and the benchmarks on NVIDIA's driver.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tools/on-gpu.sh [BUILD]
       tools/on-gpu.sh --pack FOLDER [--python PYTHON] [BUILD]

Runs, on a machine with an NVIDIA GPU, what was built in BUILD (build/release unless given): the tests of the public API, of
the driver's C interface, of PTX, of whole kernels and of system information, random PTX programs, the Python tests where BUILD has the package
for this machine's python3, then the benchmarks, and ends with a line: N passed, N failed. If nothing was built there, builds it first, as ./tour
does. Nothing is fetched when it was built: NVRTC comes from an installed CUDA toolkit (CUDA_HOME, else /usr/local/cuda).

  --pack FOLDER   copy what such a run needs from BUILD into FOLDER, to be taken to a machine with a GPU and run there
                  with tools/on-gpu.sh FOLDER
  --python PYTHON take the Python package for this Python, say /opt/python3.12/bin/python3, whose version is that of the other
                  machine; its extension is built beside BUILD for it. That Python needs its headers and nothing else. Without
                  this, a machine whose python3 is another one builds the extension itself, if it has CMake, ninja and nanobind
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The programs that speak to whichever driver CUPRUM_DRIVER names.
test_programs() { programs "$1" api_test conformance ptx_test kernels_test system_test; }
bench_programs() { programs "$1" bench_api bench_first_launch bench_graph bench_green_contexts; }
programs() {
  local name
  for name in "${@:2}"; do
    [[ -x $1/bin/$name ]] && echo "$1/bin/$name"
  done
  return 0
}

# package_for PYTHON BUILD [CMAKE OPTIONS]: sets `package` to the folder of the package for that Python, with the library of BUILD.
package_for() {
  local version other
  version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  other=$2-python$version
  cmake -S "$root" -B "$other" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCUPRUM_LIBRARY="$(realpath "$2")/lib/libcuprum.so" \
    -DCUPRUM_PYTHON_EXECUTABLE="$1" --log-level=WARNING "${@:3}"
  cmake --build "$other" --target cuprum_python
  package=$other/python/cuprum
}

pack() {
  local folder=$1 build=$2 python=$3 package=$2/python/cuprum
  [[ -n $(test_programs "$build") ]] || { echo "$build has no tests to take along: build it first" >&2; exit 1; }
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$folder/lib"
  { test_programs "$build"; bench_programs "$build"; programs "$build" ptx_fuzz bench_bare_calls; } | xargs cp -t "$folder/bin"
  cp -a "$build"/lib/libcuprum.so* "$folder/lib"
  strip "$folder"/bin/* "$folder"/lib/libcuprum.so.*.*.*
  if [[ -n $python ]]; then
    package_for "$python" "$build"
  fi
  # What a machine with another Python needs besides to build the package.
  cp -r "$root/.deps/dlpack/include" "$folder/include"
  if [[ -d $package ]]; then
    mkdir "$folder/python"
    cp -rL "$package" "$folder/python"
    strip --strip-unneeded "$folder"/python/cuprum/_core*.so
  fi
  du -sh "$folder"
}

# Builds only where nothing was built; needs what ./tour needs.
build_here() {
  source "$root/tools/setup.sh"
  set_up
  configure release -DCUPRUM_BENCH=ON
  build release
}

shares=$(($(nproc) < 8 ? $(nproc) : 8))
passed=0 failed=0 skipped=0

# NVIDIA's driver 580 divides by zero in cuMemAllocFromPoolAsync where a pool was destroyed before its last frees were done, as
# these do, and other processes keep the GPU busy. How much memory a GPU has in use changes when another process ends.
alone='*FaultyResourceTest*:SystemUse.MemoryInUseIsWhatIsAllocated'

# count REPORT: adds what GoogleTest wrote into it. A program that crashed has written nothing: that is one failure.
count() {
  local tests failures skips disabled
  read -r tests failures skips disabled < <(
    grep -o '<testsuite [^>]*' "$1" 2>/dev/null | sed 's/.* tests="\([0-9]*\)" failures="\([0-9]*\)" disabled="\([0-9]*\)" skipped="\([0-9]*\)".*/\1 \2 \4 \3/' |
      awk '{ for (i = 1; i <= 4; ++i) sum[i] += $i } END { print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0 }'
  )
  [[ $tests -gt 0 ]] || failures=1 tests=1
  passed=$((passed + tests - failures - skips - disabled)) failed=$((failed + failures)) skipped=$((skipped + skips))
}

# run_shares PROGRAM FILTER: runs the shares of a test program's cases side by side; what they print comes share by share.
run_shares() {
  local program=$1 share
  for ((share = 0; share < shares; ++share)); do
    GTEST_TOTAL_SHARDS=$shares GTEST_SHARD_INDEX=$share \
      timeout 300 "$program" --gtest_filter="$2" --gtest_output="xml:$reports/$share.xml" >"$reports/$share.log" 2>&1 &
  done
  wait
  for ((share = 0; share < shares; ++share)); do
    [[ -s $reports/$share.xml ]] || echo "a share crashed in: $(grep '^\[ RUN' "$reports/$share.log" | tail -1)"
    grep -v '^\[ RUN\|^\[       OK\|^\[-----\|^Running main\|^$' "$reports/$share.log" || true
    count "$reports/$share.xml"
  done
  rm -f "$reports"/*
}

# run_other NAME COMMAND...: counts as one test, whatever is in it.
run_other() {
  echo "==> $1"
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    echo "$1 failed"
    failed=$((failed + 1))
  fi
}

# run_python_file PACKAGES FILE: the tests of a file, in a process of their own; what there is to say goes to its log.
run_python_file() {
  PYTHONPATH=$1 timeout --kill-after=10 120 python3 -m pytest -q -p no:cacheprovider -rfE --tb=short --durations=10 --durations-min=1 \
    --junitxml="$reports/$(basename "$2").xml" "$2" >"$reports/$(basename "$2").log" 2>&1 || true
}

has_package() { PYTHONPATH=$1/python python3 -c 'import cuprum, pytest' 2>/dev/null; }

# The package that came along may be for another Python than this machine's.
make_package() {
  local build=$1 package
  if ! has_package "$build" && python3 -c 'import nanobind, pytest' 2>/dev/null && [[ -d $build/include/dlpack ]]; then
    echo "==> the Python package for this machine's python3"
    package_for "$(command -v python3)" "$build" -DCUPRUM_DLPACK_INCLUDE="$build/include" >"$reports/build.log" 2>&1 || {
      cat "$reports/build.log"
      failed=$((failed + 1))
      return
    }
    mkdir -p "$build/python"
    cp -rL "$package" "$build/python"
  fi
}

# As many files at a time as there are shares, each with its own limit of time, so that one that hangs costs itself alone.
run_python_tests() {
  local file name
  echo "==> python/tests, $shares files at a time"
  export reports
  export -f run_python_file
  printf '%s\n' "$root"/python/tests/test_*.py | xargs -P "$shares" -I FILE bash -c 'run_python_file "$@"' run "$1" FILE
  for file in "$root"/python/tests/test_*.py; do
    name=$(basename "$file")
    [[ -s $reports/$name.xml ]] || echo "$name crashed or ran past its limit of time"
    grep -v '^[.sxXFE]* *\[ *[0-9]*%\]$\|^$' "$reports/$name.log" | sed "s/^/$name: /" || true
    count_python "$reports/$name.xml"
  done
  rm -f "$reports"/*
}

# count_python REPORT: as count(), of what pytest wrote.
count_python() {
  local tests failures errors skips
  read -r errors failures skips tests < <(
    grep -o '<testsuite [^>]*' "$1" 2>/dev/null | sed 's/.* errors="\([0-9]*\)" failures="\([0-9]*\)" skipped="\([0-9]*\)" tests="\([0-9]*\)".*/\1 \2 \3 \4/' || true
    echo 1 0 0 1 # where there is no report
  )
  passed=$((passed + tests - errors - failures - skips)) failed=$((failed + errors + failures)) skipped=$((skipped + skips))
}

run() {
  local build=$1 program
  reports=$(mktemp -d)
  trap 'rm -rf "$reports"' EXIT
  export CUPRUM_DRIVER=nvidia LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}

  for program in $(test_programs "$build"); do
    echo "==> $(basename "$program"), in $shares shares"
    run_shares "$program" "-$alone"
  done
  for program in $(programs "$build" api_test system_test); do
    echo "==> $(basename "$program"), alone: $alone"
    shares=1 run_shares "$program" "$alone"
  done
  if [[ -x $build/bin/ptx_fuzz ]]; then
    run_other "ptx_fuzz, 5,000 programs" "$build/bin/ptx_fuzz" --seeds 0:5000 --jobs "$shares"
  fi
  make_package "$build"
  if has_package "$build"; then
    run_python_tests "$build/python"
    PYTHONPATH=$build/python run_other "bench_python" python3 "$root/bench/bench_python.py" --bare "$build/bin/bench_bare_calls"
  fi
  for program in $(bench_programs "$build"); do
    run_other "$(basename "$program")" "$program"
  done
  echo "$passed passed, $failed failed$([[ $skipped -eq 0 ]] || echo ", $skipped skipped")"
  [[ $failed -eq 0 ]]
}

case ${1:-} in
  -h | --help) usage ;;
  --pack)
    folder=${2:?$(usage)} python=
    if [[ ${3:-} == --python ]]; then
      python=${4:?$(usage)}
      shift 2
    fi
    pack "$folder" "${3:-$root/build/release}" "$python"
    ;;
  *)
    build=$(realpath -m "${1:-$root/build/release}")
    [[ -n $(test_programs "$build" 2>/dev/null) ]] || build_here
    run "$build"
    ;;
esac
