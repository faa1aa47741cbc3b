#!/usr/bin/env bash
# usage: pkg_config.sh COMPILER SOURCE PROGRAM: builds with what pkg-config says, and runs the result.
set -euo pipefail
read -ra flags < <(pkg-config --cflags --libs cuprum)
[[ -n ${flags[*]} ]]
"$1" -std=c++20 -Wall -Werror "$2" "${flags[@]}" -o "$3"
"$3"
