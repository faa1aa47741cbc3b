#!/usr/bin/env bash
# usage: run.sh PYTHON PROGRAM: runs a program in the virtual environment that ./check makes.
if ! "$1" -c 'import cuda.core, numpy' 2>/dev/null; then
  echo "skipped: there is no cuda-core in .deps/python; ./check installs it"
  exit 77
fi
exec "$1" "$2"
