#!/usr/bin/env bash
# Builds what is handed out: the Python wheel and the Blender extension, in target/dist.
#   tools/package.sh [PROFILE]        release by default; needs maturin (pip install maturin)
# PYTHON names the interpreter that has it, python3 by default.
# With zig installed (pip install ziglang) the wheel also runs on Linux systems older than this one (glibc 2.17).
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-release}
python=${PYTHON:-python3}
dist=target/dist
rm -rf "$dist" && mkdir -p "$dist"
compatibility=()
if "$python" -c 'import ziglang' 2>/dev/null; then
  compatibility=(--zig --compatibility manylinux2014)
fi
# The library is compiled once for the program and the package: same profile, same features, same target directory.
"$python" -m maturin build --interpreter "$python" --locked --profile "$profile" --out "$dist" "${compatibility[@]}"
"$python" blender/build.py "$dist"/*.whl -o "$dist"
ls -l "$dist"
