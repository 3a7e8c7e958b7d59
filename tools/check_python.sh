#!/usr/bin/env bash
# Builds the wheel, installs it into a virtual environment and checks it: tests, examples, types.
#   tools/check_python.sh PYTHON PROFILE PROGRAM
# PROGRAM is the ecorche command of the same build and profile, whose frames must be the package's to the bit.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 profile=$2 program=$3
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=target/venv-python-$version
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -c 'import maturin, mypy, numpy, pytest' 2>/dev/null ||
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9.4,<2' mypy numpy pytest
PYTHON=$PWD/$venv/bin/python tools/package.sh "$profile"
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps target/dist/*.whl
ECORCHE=$program "$venv/bin/python" -m pytest --quiet python/tests
# Outside the sources, so that what is installed is checked.
(cd target && "../$venv/bin/python" -m mypy.stubtest ecorche)
"$venv/bin/python" -m mypy python/examples
