#!/usr/bin/env bash
# usage: check_paths.sh FOLDER FILE...: fails when one of the installed files names FOLDER, where it was built.
set -euo pipefail
folder=$1
found=0
for file in "${@:2}"; do
  if grep --text --only-matching --fixed-strings --max-count=1 "$folder" "$file" >/dev/null; then
    echo "$file names $folder" >&2
    found=1
  fi
done
exit $found
