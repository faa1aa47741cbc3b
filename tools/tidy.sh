#!/usr/bin/env bash
# usage: tools/tidy.sh [BUILD]: clang-tidy over everything that is compiled in BUILD (build/release unless given).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
[[ -f $build/compile_commands.json ]] || { echo "there is no $build/compile_commands.json: configure first" >&2; exit 1; }
run-clang-tidy-19 -quiet -p "$build" -j "$(nproc)" "^$PWD/(include|src|softgpu|tools|examples|bench|tests)/"
