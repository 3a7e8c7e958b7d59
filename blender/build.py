"""Builds the Blender extension: the add-on's files and the wheels of the engine in one .zip.

    python blender/build.py WHEEL... -o FOLDER

One abi3 wheel per platform serves Blender 4.5 and all later versions.
"""

import argparse
import pathlib
import re
import zipfile

HERE = pathlib.Path(__file__).parent
# Endings of wheels and the platforms that Blender calls them.
PLATFORMS = {
    r"(manylinux|linux).*_x86_64": "linux-x64",
    r"(manylinux|linux).*_aarch64": "linux-arm64",
    r"macosx.*_arm64": "macos-arm64",
    r"macosx.*_x86_64": "macos-x64",
    r"win_amd64": "windows-x64",
    r"win_arm64": "windows-arm64",
}


def platform(wheel):
    for pattern, name in PLATFORMS.items():
        if re.search(pattern + r"\.whl$", wheel.name):
            return name
    raise SystemExit(f"{wheel}: for no platform that Blender runs on; give a wheel made by tools/package.sh")


def version(wheel):
    return wheel.name.split("-")[1]


def manifest(wheels):
    text = (HERE / "ecorche" / "blender_manifest.toml").read_text(encoding="utf-8")

    def put(key, value):
        nonlocal text
        text, count = re.subn(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
        assert count == 1, key

    listed = sorted(f'"./wheels/{wheel.name}"' for wheel in wheels)
    put("version", f'"{version(wheels[0])}"')
    put("platforms", f"[{', '.join(sorted({repr(platform(w)) for w in wheels}))}]".replace("'", '"'))
    put("wheels", f"[{', '.join(listed)}]")
    return text


def build(wheels, folder):
    versions = {version(wheel) for wheel in wheels}
    if len(versions) != 1:
        raise SystemExit(f"wheels of several versions: {', '.join(sorted(versions))}; give those of one")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"ecorche-blender-{versions.pop()}.zip"
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("blender_manifest.toml", manifest(wheels))
        for path in sorted((HERE / "ecorche").iterdir()):
            if path.suffix == ".py" or path.name == "LICENSE":
                archive.write(path, path.name)
        for wheel in wheels:
            archive.write(wheel, f"wheels/{wheel.name}", zipfile.ZIP_STORED)
    part.replace(target)
    return target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheels", nargs="+", type=pathlib.Path, metavar="WHEEL")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("target/dist"), metavar="FOLDER")
    arguments = parser.parse_args()
    print(build(arguments.wheels, arguments.output))
