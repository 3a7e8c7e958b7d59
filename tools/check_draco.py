"""Compresses a tube of two bones with Google's Draco encoder and compares what is read with Google's decoder.

    check_draco.py ECORCHE              every kind of compression, vertex by vertex
    check_draco.py --write OUT.glb      the sample that the library's tests read (crates/ecorche/tests/data/draco.glb)

The tube is made here: radius 0.5, from y = 0 to 2, the second bone holds a vertex by y / 2. Needs the Python packages DracoPy
and numpy.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import DracoPy
import numpy

from point_cache import read_pc2

AROUND, RINGS = 8, 5


def tube():
    """Positions, normals, texture coordinates, joints, weights and triangles; a seam where the texture ends."""
    angle, height = numpy.meshgrid(numpy.linspace(0, 2 * numpy.pi, AROUND + 1), numpy.linspace(0, 2, RINGS))
    angle, height = angle.ravel(), height.ravel()
    normals = numpy.stack([numpy.cos(angle), 0 * angle, -numpy.sin(angle)], axis=1)
    positions = 0.5 * normals + height[:, None] * [0, 1, 0]
    uvs = numpy.stack([angle / (2 * numpy.pi), height / 2], axis=1)
    joints = numpy.tile(numpy.array([[0, 1, 0, 0]], dtype=numpy.uint16), (len(angle), 1))
    weights = numpy.stack([1 - height / 2, height / 2, 0 * angle, 0 * angle], axis=1)
    faces = []
    for ring in range(RINGS - 1):
        for side in range(AROUND):
            a = ring * (AROUND + 1) + side
            b = a + AROUND + 1
            faces += [[a, a + 1, b + 1], [a, b + 1, b]]
    floats = [a.astype(numpy.float32) for a in (positions, normals, uvs, weights)]
    return floats[0], floats[1], floats[2], joints, floats[3], numpy.array(faces, dtype=numpy.uint32)


JOINTS_ID, WEIGHTS_ID = 20, 21


def compress(**options):
    positions, normals, uvs, joints, weights, faces = tube()
    generic = {JOINTS_ID: joints, WEIGHTS_ID: weights}
    # The binding takes texture coordinates and normals in double precision and stores them in single.
    wide = {"normals": normals.astype(float), "tex_coord": uvs.astype(float)}
    return DracoPy.encode(positions, faces, generic_attributes=generic, **wide, **options)


def ids_of(mesh):
    """The ids that the encoder gave to positions, normals and texture coordinates."""
    kinds = {DracoPy.AttributeType.POSITION: "POSITION", DracoPy.AttributeType.NORMAL: "NORMAL",
             DracoPy.AttributeType.TEX_COORD: "TEXCOORD_0"}
    named = {kinds[a["attribute_type"]]: a["unique_id"] for a in mesh.attributes if a["attribute_type"] in kinds}
    return {**named, "JOINTS_0": JOINTS_ID, "WEIGHTS_0": WEIGHTS_ID}


def glb(block, mesh):
    """A file whose only mesh is the compressed block, with a skeleton of two bones."""
    count = len(mesh.points)
    binds = numpy.array([numpy.eye(4), numpy.eye(4)], dtype=numpy.float32)
    binds[1, 3, 1] = -1
    binary = block + b"\0" * (-len(block) % 4) + binds.tobytes()
    shapes = {"POSITION": ("VEC3", 5126), "NORMAL": ("VEC3", 5126), "TEXCOORD_0": ("VEC2", 5126),
              "JOINTS_0": ("VEC4", 5123), "WEIGHTS_0": ("VEC4", 5126)}
    accessors = [{"componentType": kind, "count": count, "type": shape} for shape, kind in shapes.values()]
    accessors.append({"componentType": 5125, "count": mesh.faces.size, "type": "SCALAR"})
    accessors.append({"bufferView": 1, "componentType": 5126, "count": 2, "type": "MAT4"})
    document = {
        "asset": {"version": "2.0", "generator": "tools/check_draco.py"},
        "extensionsUsed": ["KHR_draco_mesh_compression"],
        "extensionsRequired": ["KHR_draco_mesh_compression"],
        "nodes": [{"name": "tube", "mesh": 0, "skin": 0}, {"name": "lower", "children": [2]},
                  {"name": "upper", "translation": [0, 1, 0]}],
        "scenes": [{"nodes": [0, 1]}],
        "scene": 0,
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 6}],
        "meshes": [{"name": "tube", "primitives": [{
            "attributes": {name: i for i, name in enumerate(shapes)},
            "indices": 5,
            "extensions": {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": ids_of(mesh)}},
        }]}],
        "accessors": accessors,
        "bufferViews": [{"buffer": 0, "byteLength": len(block)},
                        {"buffer": 0, "byteOffset": len(binary) - binds.nbytes, "byteLength": binds.nbytes}],
        "buffers": [{"byteLength": len(binary)}],
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def compare(program):
    passed = 0
    kinds = [{"compression_level": level} for level in (0, 1, 5, 7, 10)]
    kinds += [{"preserve_order": True}, {"quantization_bits": 8}, {"create_metadata": True},
              {"tex_coord_quantization_bits": 10, "normal_quantization_bits": 8}]
    with tempfile.TemporaryDirectory() as name:
        file, cache = pathlib.Path(name) / "tube.glb", pathlib.Path(name) / "tube.pc2"
        for options in kinds:
            block = compress(**options)
            mesh = DracoPy.decode(block)
            file.write_bytes(glb(block, mesh))
            subprocess.run([program, "bake", str(file), "-o", str(cache), "-q", "--method", "lbs"], check=True, stdout=subprocess.DEVNULL)
            _, _, points = read_pc2(cache)
            if points[0].shape != mesh.points.shape or numpy.abs(points[0] - mesh.points).max() > 1e-6:
                sys.exit(f"failed: {options}: other vertices than Google's decoder, or another order")
            lines = cache.with_suffix(".rest.obj").read_text().splitlines()
            corners = [[int(corner.split("/")[0]) - 1 for corner in line.split()[1:]] for line in lines if line.startswith("f ")]
            if not (numpy.array(corners) == mesh.faces).all():
                sys.exit(f"failed: {options}: other faces")
            passed += 1
        said = subprocess.run([program, "info", str(file)], check=True, capture_output=True, text=True).stdout
        if "decoder's order" not in said:
            sys.exit(f"failed: info does not tell whose vertex order it is:\n{said}")
    print(f"{passed + 1} passed, 0 failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--write", metavar="OUT")
    options = parser.parse_args()
    if options.write:
        block = compress(compression_level=7)
        pathlib.Path(options.write).write_bytes(glb(block, DracoPy.decode(block)))
    if options.program:
        compare(str(pathlib.Path(options.program).resolve()))


if __name__ == "__main__":
    main()
