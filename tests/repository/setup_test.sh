#!/usr/bin/env bash
# usage: setup_test.sh SETUP: what tools/setup.sh does when something is missing, old or interrupted. Installs nothing: the
# functions that would are replaced.
set -uo pipefail
setup=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# expect NAME STATUS TEXT CODE: runs CODE after sourcing the set-up, in a shell of its own.
expect() {
  local name=$1 status=$2 text=$3 code=$4 output actual=0
  output=$(bash -c "source '$setup'; deps='$scratch/deps'; $code" 2>&1) || actual=$?
  if [[ $actual -eq $status && $output == *"$text"* ]]; then
    echo "ok: $name"
  else
    printf '%s\n' "FAILED: $name" "  expected status $status and: $text" "  got status $actual and: $output"
    failures=$((failures + 1))
  fi
}

# toolkit FOLDER VERSION: something that looks like an installed CUDA toolkit.
toolkit() {
  mkdir -p "$1/include" "$1/lib64"
  echo "#define CUDA_VERSION $2" >"$1/include/cuda.h"
  touch "$1"/include/{cudaTypedefs,cudaProfiler,nvrtc}.h "$1/lib64/libnvrtc.so.13"
}
toolkit "$scratch/new" 13010
toolkit "$scratch/old" 12040
toolkit "$scratch/without_nvrtc" 13000
rm "$scratch/without_nvrtc/lib64/libnvrtc.so.13"

expect "a user who may not install is told the exact command" 1 \
  "apt-get update && apt-get install --yes --no-install-recommends cmake ninja-build" \
  'dpkg-query() { :; }; missing_packages() { printf "%s\n" cmake ninja-build; }; as_root() { return 1; }; ensure_packages'
expect "nothing is installed when nothing is missing" 0 "installed" \
  'missing_packages() { :; }; as_root() { echo "must not be asked"; exit 9; }; dpkg-query() { :; }; ensure_packages'

expect "a toolkit is taken from CUDA_HOME" 0 "$scratch/new (13.1)" "CUDA_HOME=$scratch/new; ensure_cuda"
expect "a toolkit that is too old is passed over" 1 "" "is_toolkit $scratch/old"
expect "so is one without NVRTC" 1 "" "is_toolkit $scratch/without_nvrtc"
expect "--no-toolkit passes over a good one" 7 "" "use_toolkit=no; CUDA_HOME=$scratch/new; ensure_wheels() { exit 7; }; ensure_cuda"

# pip, replaced by something that lays out what the wheels would, or stops half-way.
wheels='ensure_venv() { :; }; pip_install() { mkdir -p "$3/nvidia/cu13/nvvm" "$3/nvidia/cu13/include" "$3/nvidia/cu13/lib"; '
expect "an interrupted download" 3 "" "$wheels exit 3; }; ensure_wheels"
expect "is started again" 0 "fetching" "$wheels }; ensure_wheels"
expect "a complete one is not" 0 "wheels in .deps/cuda" "pip_install() { exit 9; }; ensure_wheels"

header='ensure_venv() { :; }; pip_install() { mkdir -p "$3/tvm_ffi/include/dlpack"; touch "$3/tvm_ffi/include/dlpack/dlpack.h"; '
expect "an interrupted download of DLPack" 3 "" "$header exit 3; }; ensure_dlpack"
expect "is started again too" 0 "fetching" "$header }; ensure_dlpack"
expect "a complete one is kept" 0 "the header in .deps/dlpack" "pip_install() { exit 9; }; ensure_dlpack"

exit $((failures > 0))
