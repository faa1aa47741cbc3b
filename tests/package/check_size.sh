#!/usr/bin/env bash
# usage: check_size.sh LIBRARY MEGABYTES: the stripped library is at most that large.
set -euo pipefail
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$1"
size=$(stat --format=%s "$stripped")
echo "$1 has $size bytes when stripped"
((size <= $2 * 1000 * 1000)) || { echo "that is more than $2 MB"; exit 1; }
