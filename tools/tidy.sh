#!/usr/bin/env bash
# clang 19: its warnings, and clang-tidy.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tools/tidy.sh [--changed [REVISION] | --share N]

Builds everything with clang 19 into build/clang, where warnings are errors, and runs clang-tidy 19 over all sources
(two hours on two cores). Installs what is missing, as ./check does.

  --changed    only clang-tidy, over the sources that differ from REVISION (origin/main unless given)
  --share N    only clang-tidy, over one source in N: others each day
TEXT
}

# shellcheck source=tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
debian_packages+=(clang-19 clang-tidy-19 libomp-19-dev)

# Sources that the build compiles, one in a line.
all_sources() {
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$root/build/clang/compile_commands.json" |
    grep -E "^$root/(src|softgpu|tools|examples|bench|tests|python)/" | sort -u
}

chosen_sources() {
  case ${1:-} in
    '') all_sources ;;
    --changed)
      git -C "$root" diff --name-only --diff-filter=d "${2:-origin/main}" -- '*.cpp' | sed "s|^|$root/|" |
        grep -xF -f <(all_sources) || true
      ;;
    --share) all_sources | awk -v n="$2" -v day="$(($(date +%s) / 86400))" 'NR % n == day % n' ;;
  esac
}

case ${1:-} in
  '' | --changed) ;;
  --share) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || { usage >&2; fail "" "--share needs a number"; } ;;
  -h | --help) usage; exit ;;
  *) usage >&2; fail "" "tools/tidy.sh does not know the option '$1'" ;;
esac

set_up
ensure_python_packages
configure clang -DCUPRUM_PYTHON=ON
if [[ $# -eq 0 ]]; then
  build clang
else
  build clang softgpu # which makes headers
fi
mapfile -t sources < <(chosen_sources "$@")
say "clang-tidy: ${#sources[@]} sources"
[[ ${#sources[@]} -eq 0 ]] ||
  printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 --quiet -p "$root/build/clang"
say "clang-tidy: nothing to complain of"
