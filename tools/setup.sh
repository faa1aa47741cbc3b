# shellcheck shell=bash
# Sourced by ./tour and ./check: installs what is missing, configures, builds.
#
# Each step is skipped when its result is there already, and leaves its mark only when it is complete, so a run
# that was interrupted is simply started again. Nothing outside the project's folder changes but Debian packages.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
use_toolkit=yes # --no-toolkit makes it "no"

debian_packages=(
  g++ cmake ninja-build pkg-config     # building
  llvm-19-dev libzstd-dev zlib1g-dev   # softgpu's compiler; LLVM's CMake files ask for the other two
  nlohmann-json3-dev                   # the cuprum command
  libxxhash-dev                        # the hash of libcuprum's caches
  libgtest-dev libgmock-dev            # tests
  clang-format-19                      # a test that the sources are formatted
  libgl-dev libegl-dev                 # the types of CUDA's functions for OpenGL and EGL; an example links with them
  libgl1-mesa-dri                      # an OpenGL that draws with the CPU, without a display: tests share its objects
  graphviz                             # pictures of CUDA graphs
  doxygen                              # the reference, whose comments a test reads
  python3 python3-venv                 # NVIDIA's packages and DLPack's header come from PyPI
  python3-dev                          # the Python package
)

say() { printf '%s\n' "==> $*"; }
fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# ---- Debian packages ------------------------------------------------------------------------------------------------

missing_packages() {
  local name
  for name in "${debian_packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done
}

# Prints the prefix that makes a command run as root ("" or sudo); fails when there is no way. sudo may ask for a
# password only where somebody can answer.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    echo ""
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 && -t 2 && -z ${CI:-} ]]; }; then
    [[ -t 0 ]] && echo "sudo" || echo "sudo -n"
  else
    return 1
  fi
}

ensure_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "packages: this is not a Debian system, so nothing is installed; needed are the counterparts of ${debian_packages[*]}"
    return
  fi
  local missing prefix
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -eq 0 ]]; then
    say "packages: all ${#debian_packages[@]} installed"
    return
  fi
  local command=(apt-get install --yes --no-install-recommends "${missing[@]}")
  prefix=$(as_root) || fail "These Debian packages are missing and this user may not install them. As root, type:" "" \
    "  apt-get update && ${command[*]}" "" "then run this command again."
  say "packages: installing ${missing[*]}"
  # apt's narration is of interest only when it fails. An update that fails for some other source is no reason to stop.
  local log
  log=$(mktemp)
  if ! { { $prefix apt-get update || true; } && $prefix env DEBIAN_FRONTEND=noninteractive "${command[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "" "apt-get failed (its last lines are above). To try by hand: $prefix ${command[*]}"
  fi
  rm -f "$log"
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -eq 0 ]] || fail "apt-get succeeded, but these packages are still missing: ${missing[*]}"
}

# ---- Python, for NVIDIA's packages ----------------------------------------------------------------------------------

# The system's Python first: one from a version manager may lack venv, or change under us.
system_python() {
  local candidate
  for candidate in /usr/bin/python3 "$(command -v python3 || true)"; do
    if [[ -x $candidate ]] && "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  fail "No usable Python was found: needed is python3, 3.10 or newer, with the venv module (Debian: python3-venv)."
}

ensure_venv() {
  python=$deps/python/bin/python
  [[ -e $deps/python/complete && -x $python ]] && return
  say "python: making a virtual environment in .deps/python"
  local base
  base=$(system_python)
  "$base" -m venv --clear "$deps/python"
  touch "$deps/python/complete"
}

# pip_install REQUIREMENTS [OPTION...]: without pip's cache, which lives in the user's home.
pip_install() {
  local requirements=$1
  shift
  local quiet=--quiet
  [[ -t 1 ]] && quiet=--progress-bar=on
  "$python" -m pip install $quiet --no-input --no-cache-dir --no-deps --disable-pip-version-check --no-warn-script-location \
    --requirement "$requirements" "$@" || fail "pip failed (see above). Is PyPI reachable from here? What was asked for is in $requirements"
}

# ---- CUDA: an installed toolkit, or NVIDIA's wheels -----------------------------------------------------------------

cuda_version() { sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$1/include/cuda.h" 2>/dev/null; }
cuda_version_words() { local v; v=$(cuda_version "$1"); echo "$((v / 1000)).$((v % 1000 / 10))"; }

is_toolkit() {
  local folder=$1 library
  [[ -r $folder/include/cudaTypedefs.h && -r $folder/include/cudaProfiler.h && -r $folder/include/nvrtc.h ]] || return 1
  [[ $(cuda_version "$folder") -ge 13000 ]] || return 1
  for library in "$folder"/{lib64,lib,targets/*/lib}/libnvrtc.so*; do
    [[ -e $library ]] && return
  done
  return 1
}

# Sets cuda_root, and CUDA_HOME for all that is started from here.
ensure_cuda() {
  local candidate compiler
  compiler=$(command -v nvcc || true)
  cuda_root=
  if [[ $use_toolkit == yes ]]; then
    for candidate in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${compiler%/bin/nvcc}" /usr/local/cuda; do
      if [[ -n $candidate ]] && is_toolkit "$candidate"; then
        cuda_root=$(cd "$candidate" && pwd)
        say "CUDA: the toolkit in $cuda_root ($(cuda_version_words "$cuda_root"))"
        break
      fi
    done
  fi
  [[ -n $cuda_root ]] || ensure_wheels
  export CUDA_HOME=$cuda_root CUDA_PATH=$cuda_root
}

ensure_wheels() {
  cuda_root=$deps/cuda
  local requirements=$root/tools/requirements/cuda.txt
  if ! cmp -s "$requirements" "$cuda_root/requirements.txt"; then
    ensure_venv
    say "CUDA: no toolkit found; fetching NVIDIA's wheels from PyPI into .deps/cuda (190 MB)"
    rm -rf "$cuda_root" "$deps/cuda.part"
    pip_install "$requirements" --target "$deps/cuda.part"
    # Laid out like a toolkit, so that whatever takes CUDA_HOME finds its way.
    mv "$deps/cuda.part/nvidia/cu13" "$cuda_root"
    ln -s lib "$cuda_root/lib64"
    ln -s ../lib "$cuda_root/nvvm/lib64"
    rm -rf "$deps/cuda.part"
    cp "$requirements" "$cuda_root/requirements.txt"
  fi
  say "CUDA: NVIDIA's wheels in .deps/cuda ($(cuda_version_words "$cuda_root"))"
}

# DLPack's header: Debian 12 has version 0.6, and we need versioned tensors, which came with 1.0.
ensure_dlpack() {
  local requirements=$root/tools/requirements/dlpack.txt folder=$deps/dlpack
  if ! cmp -s "$requirements" "$folder/requirements.txt"; then
    ensure_venv
    say "DLPack: fetching its header from PyPI into .deps/dlpack (3 MB)"
    rm -rf "$folder" "$deps/dlpack.part"
    pip_install "$requirements" --target "$deps/dlpack.part"
    mkdir -p "$folder/include/dlpack"
    mv "$deps/dlpack.part/tvm_ffi/include/dlpack/dlpack.h" "$folder/include/dlpack/"
    rm -rf "$deps/dlpack.part"
    cp "$requirements" "$folder/requirements.txt"
  fi
  say "DLPack: the header in .deps/dlpack"
}

# What builds and tests the Python package.
ensure_python_packages() {
  local requirements=$root/tools/requirements/python.txt
  if ! cmp -s "$requirements" "$deps/python/python.txt"; then
    ensure_venv
    say "python: installing nanobind and pytest into .deps/python"
    pip_install "$requirements"
    cp "$requirements" "$deps/python/python.txt"
  fi
  say "python: nanobind and pytest in .deps/python"
}

ensure_foreign_packages() {
  local requirements=$root/tools/requirements/foreign.txt
  if ! cmp -s "$requirements" "$deps/python/foreign.txt"; then
    ensure_venv
    say "python: installing NVIDIA's cuda-core and cuda-bindings, to run on softgpu"
    pip_install "$requirements"
    cp "$requirements" "$deps/python/foreign.txt"
  fi
  say "python: cuda-core and cuda-bindings in .deps/python"
}

# ---- The build ------------------------------------------------------------------------------------------------------

# Caches that would land in the user's home stay in the project.
keep_caches_here() {
  export CCACHE_DIR=${CCACHE_DIR:-$deps/cache/ccache}
  export CUPRUM_CACHE_DIR=${CUPRUM_CACHE_DIR:-$deps/cache/cuprum}
  export SOFTGPU_CACHE_DIR=${SOFTGPU_CACHE_DIR:-$deps/cache/softgpu}
  export CUDA_CACHE_PATH=${CUDA_CACHE_PATH:-$deps/cache/nvidia}
  export PYTHONDONTWRITEBYTECODE=1
}

# configure PRESET [OPTION...]
configure() {
  local preset=$1 build=$root/build/$1
  local options=("-DCUPRUM_CUDA_INCLUDE=$cuda_root/include" "${@:2}")
  local mark=$build/configured-with
  if [[ -f $build/build.ninja && $(cat "$mark" 2>/dev/null) == "${options[*]}" ]]; then
    return # ninja runs CMake again by itself when its files change
  fi
  say "configure: build/$preset"
  rm -f "$mark"
  (cd "$root" && cmake --preset "$preset" "${options[@]}" --log-level=WARNING >/dev/null) ||
    fail "CMake could not configure the project (see above)."
  printf '%s\n' "${options[*]}" >"$mark"
}

# build PRESET [TARGET...]
build() {
  local targets=("${@:2}")
  say "build: build/$1"
  NINJA_STATUS='[%f/%t, %es] ' cmake --build "$root/build/$1" --parallel "$(nproc)" --target "${targets[@]:-all}" ||
    fail "The build failed (see above)."
}

# What both commands begin with.
set_up() {
  ensure_packages
  ensure_cuda
  ensure_dlpack
  keep_caches_here
}
