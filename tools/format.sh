#!/usr/bin/env bash
# usage: tools/format.sh [--check]: formats all C and C++ sources, or only says which are not formatted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
formatter=${CLANG_FORMAT:-clang-format-19}
case ${1:-} in
  --check) action=(--dry-run --Werror) ;;
  "") action=(-i) ;;
  *) sed -n 's/^# usage/usage/p' "$0" >&2; exit 1 ;;
esac
folders=()
for folder in include src softgpu tools examples bench tests python; do
  [[ -d $folder ]] && folders+=("$folder")
done
find "${folders[@]}" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 "$formatter" "${action[@]}"
