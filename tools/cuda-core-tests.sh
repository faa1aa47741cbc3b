#!/usr/bin/env bash
# Runs NVIDIA's tests of cuda.core over the drop-in, on the driver that CUPRUM_DRIVER says (softgpu unless set):
#
#   git clone https://github.com/NVIDIA/cuda-python && git -C cuda-python checkout 06afb3b
#   tools/cuda-core-tests.sh [options] cuda-python [pytest arguments]
#
# Each file of tests is a process of its own, so that a crash costs that file only. A table by file follows, and what failed,
# sorted by cause.
#
#   --build FOLDER    the build with the Python package; build/release unless given
#   --venv FOLDER     the virtual environment; made in .deps/cuda-core-tests when not given
#   --python PYTHON   where nothing can be fetched: a Python that has pytest, NumPy and cuda.bindings, and lends its packages to
#                     a virtual environment below the results; tests that need a package that it lacks fail or are skipped
#   --site FOLDER     packages that PYTHON lacks, such as `pip install --target FOLDER pytest-timeout` puts there
#   --report FILE     where the causes of failures are written (Markdown); results/report.md unless given
#   --results FOLDER  where each file's output and JUnit XML are kept; build/cuda-core-tests unless given
#   --files PATTERN   only files whose path below tests/ matches this (bash pattern), for example 'graph/*'
#   --jobs N          files at a time; 1 unless given
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release venv="" python="" extra="" report="" results=$root/build/cuda-core-tests pattern="*" jobs=1
while [[ ${1:-} == --* ]]; do
  case $1 in
    --build) build=$(realpath "$2") ;;
    --venv) venv=$2 ;;
    --python) python=$2 ;;
    --site) extra=$(realpath "$2") ;;
    --report) report=$2 ;;
    --results) results=$2 ;;
    --files) pattern=$2 ;;
    --jobs) jobs=$2 ;;
    *) echo "unknown option $1; the head of $0 lists them" >&2 && exit 2 ;;
  esac
  shift 2
done
[[ $# -ge 1 ]] || { sed -n '2,19s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
source=$1 && shift
[[ -d $source/cuda_core/tests ]] || { echo "no cuda_core/tests in $source: give a checkout of NVIDIA/cuda-python" >&2 && exit 2; }
[[ -d $build/python/cuprum ]] || { echo "no Python package in $build: configure with -DCUPRUM_PYTHON=ON and build it" >&2 && exit 2; }
mkdir -p "$results"
results=$(realpath "$results")
report=$(realpath "${report:-$results/report.md}")

# The virtual environment: what the tests need, and no cuda.core unless PYTHON has it. Child processes that a test starts are
# served cuda.core by the .pth file, which Python reads at its start.
borrow_packages() { # PYTHON: an environment without pip; site.addsitedir(), because PYTHON may be in an environment itself
  venv=$results/venv
  "$1" -m venv --clear --without-pip "$venv"
  "$1" -c 'import site, sys
folders = sys.argv[1:] + site.getsitepackages() + [site.getusersitepackages()] * bool(site.ENABLE_USER_SITE)
print("import site;", *(f"site.addsitedir({folder!r});" for folder in folders))' ${extra:+"$extra"} >"$(site_packages)/borrowed.pth"
}
fetch_packages() {
  venv=$root/.deps/cuda-core-tests
  if ! cmp -s "$root/tools/requirements/cuda-core-tests.txt" "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/tools/requirements/cuda-core-tests.txt"
    cp "$root/tools/requirements/cuda-core-tests.txt" "$venv/requirements.txt"
  fi
}
site_packages() { "$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
if [[ -n $python ]]; then borrow_packages "$python"; elif [[ -z $venv ]]; then fetch_packages; fi
venv=$(realpath "$venv")
echo 'import os, sys; p = os.environ.get("CUPRUM_AS_CUDA_CORE"); p and (sys.path.append(p), __import__("cuprum.as_cuda_core"))' \
  >"$(site_packages)/cuprum_as_cuda_core.pth"
test_timeout="" # the option exists where pytest-timeout does
if "$venv/bin/python" -c 'import pytest_timeout' 2>/dev/null; then test_timeout=--timeout=${TEST_TIMEOUT:-120}; fi

export CUPRUM_DRIVER=${CUPRUM_DRIVER:-softgpu} CUPRUM_AS_CUDA_CORE=$build/python PYTHONPATH=$build/python:$root/tools PYTHONFAULTHANDLER=1
[[ -n ${CUDA_HOME:-} || ! -d /usr/local/cuda ]] || export CUDA_HOME=/usr/local/cuda
find "$results" -maxdepth 1 \( -name '*.xml' -o -name '*.log' -o -name '*.code' \) -delete

run_file() { # FILE [pytest arguments]
  local file=$1 code=0
  local name=${file%.py}
  name=${name//\//.}
  shift
  timeout --kill-after=10 "${FILE_TIMEOUT:-900}" "$venv/bin/python" -m pytest -p cuprum.as_cuda_core -p cuda_core_placeholders -p no:cacheprovider -o addopts= \
    --tb=short ${test_timeout:+"$test_timeout"} -q --junitxml="$results/$name.xml" "tests/$file" "$@" >"$results/$name.log" 2>&1 || code=$?
  echo "$code" >"$results/$name.code"
  tail -n 1 "$results/$name.log" | sed "s|^|$file: |"
}
export -f run_file
export venv results test_timeout

cd "$source/cuda_core"
(cd tests && find . -name 'test_*.py' -path "./$pattern" ! -path './cython/*' ! -path './test_binaries/*' | sed 's|^\./||' | sort) |
  xargs -P "$jobs" -I FILE bash -c 'run_file "$@"' run FILE "$@"
"$venv/bin/python" "$root/tools/cuda_core_report.py" "$results" "$report"
