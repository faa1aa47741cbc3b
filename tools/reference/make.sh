#!/usr/bin/env bash
# usage: tools/reference/make.sh [FOLDER]: writes the reference of the public headers as HTML (default: build/reference). A
# public name without a comment is an error, and so is a comment that Doxygen can't make sense of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-build/reference}
command -v doxygen >/dev/null || { echo "doxygen is needed (Debian, Ubuntu: apt-get install doxygen)" >&2; exit 1; }
mkdir -p "$folder"
version=$(sed -n 's/^project(cuprum VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
{ cat tools/reference/Doxyfile; printf '%s\n' "OUTPUT_DIRECTORY = $folder" "PROJECT_NUMBER = $version"; } | doxygen -
python3 tools/reference/check_words.py "$folder/xml"
rm -r "$folder/xml"
echo "$folder/index.html"
