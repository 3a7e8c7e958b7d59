#!/usr/bin/env bash
# Builds what is handed out: the Python wheel and the Blender extension, in target/dist.
#   tools/package.sh [PROFILE]        release by default; needs maturin (pip install maturin)
# With zig installed (pip install ziglang) the wheel also runs on Linux systems older than this one (glibc 2.17).
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-release}
dist=target/dist
rm -rf "$dist" && mkdir -p "$dist"
compatibility=()
if python3 -c 'import ziglang' 2>/dev/null; then
  compatibility=(--zig --compatibility manylinux2014)
fi
# Locked, and not stripped of anything but symbols: the same library as the program's.
maturin build --locked --profile "$profile" --out "$dist" "${compatibility[@]}"
python3 blender/build.py "$dist"/*.whl -o "$dist"
ls -l "$dist"
