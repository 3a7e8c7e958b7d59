#!/usr/bin/env bash
# Checks that are too slow or too large for every change: the package on a second Python, the extension in two Blenders,
# `pip install .` from a clone.
#   tools/slow_checks.sh [PROFILE]
# Downloads Blender as Python modules (some 370 MB each) into target/. What cannot be had here is named and skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
profile=${1:-release}
folder=$profile
[ "$profile" = dev ] && folder=debug
program=$PWD/target/$folder/ecorche
failed=0
find_python() {
  local candidate
  for candidate in "python$1" "$HOME"/.pyenv/versions/"$1".*/bin/python; do
    "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null && echo "$candidate" && return
  done
}
check() { # NAME COMMAND...
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    echo "== $name: passed in $((SECONDS - start)) s"
  else
    echo "== $name: FAILED" && failed=1
  fi
}
blender() { # BPY PYTHON
  local venv=target/venv-bpy-$1
  [ -x "$venv/bin/python" ] || "$2" -m venv "$venv" || return 1
  "$venv/bin/python" -c 'import bpy' 2>/dev/null ||
    "$venv/bin/pip" install --quiet --disable-pip-version-check "bpy==$1.*" numpy || return 1
  timeout 900 "$venv/bin/python" blender/tests/check_extension.py target/dist/*.zip
}
for version in 3.11 3.13; do
  python=$(find_python "$version")
  if [ -n "$python" ]; then
    check "the package on Python $version" tools/check_python.sh "$python" "$profile" "$program"
  else
    echo "skipped: Python $version is not installed"
  fi
done
for pair in 4.5=3.11 5.2=3.13; do
  python=$(find_python "${pair#*=}")
  if [ -n "$python" ]; then
    check "the extension in Blender ${pair%=*}" blender "${pair%=*}" "$python"
  else
    echo "skipped: Blender ${pair%=*} needs Python ${pair#*=}"
  fi
done
jobs() {
  CHROMIUM=${CHROMIUM:-/usr/bin/chromium} timeout 3000 node crates/ecorche-studio/web/test/studio.mjs --jobs \
    --ecorche target/release/ecorche --out target/studio-screenshots
}
check "the studio in a browser, with whole jobs" jobs
clone() { # PYTHON
  local clone=target/clone venv=target/venv-clone
  rm -rf "$clone" "$venv"
  git clone --quiet . "$clone" && "$1" -m venv "$venv" || return 1
  # What is compiled of other people's is shared.
  CARGO_TARGET_DIR=$PWD/target timeout 3000 "$venv/bin/pip" install --quiet --disable-pip-version-check "./$clone" || return 1
  (cd "$venv" && bin/ecorche --version && bin/python -c 'import ecorche; print(ecorche.read("sample:arm"))')
}
python=$(find_python 3.11)
if [ -n "$python" ]; then
  check "pip install . from a clone on Python 3.11" clone "$python"
fi
exit $failed
