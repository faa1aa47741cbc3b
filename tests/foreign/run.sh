#!/usr/bin/env bash
# usage: run.sh PYTHON PROGRAM...: runs programs with the Python of the virtual environment that ./check makes.
if [[ ! -x $1 ]]; then
  echo "skipped: there is no $1; ./check makes it"
  exit 77
fi
exec "$1" "$(dirname "$0")/run.py" "${@:2}"
