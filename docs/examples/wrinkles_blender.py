"""Wrinkles of `ecorche wrinkles` on a mesh in Blender: a bump per set of stripes, driven by vertex colours that change with the frame.

Run it in Blender with the mesh selected:
    blender hero.blend --python wrinkles_blender.py -- maps mesh0
The mesh must have the vertices of the file, in its order; heights are in metres.
"""

import json
import math
import struct
import sys
from pathlib import Path

import bpy


def read_folds(path):
    data = path.read_bytes()
    head = struct.unpack_from("<H", data, 8)[0]
    return memoryview(data)[10 + head :].cast("f")


def height_nodes(tree, folder, entry, about):
    """Nodes that add up the heights of all sets of stripes."""
    nodes, links = tree.nodes, tree.links

    def math_node(operation, a, b):
        node = nodes.new("ShaderNodeMath")
        node.operation = operation
        for socket, value in zip(node.inputs, (a, b)):
            if isinstance(value, (int, float)):
                socket.default_value = value
            else:
                links.new(value, socket)
        return node.outputs[0]

    folds = nodes.new("ShaderNodeAttribute")
    folds.attribute_name = "fold"
    fold = nodes.new("ShaderNodeSeparateXYZ")
    links.new(folds.outputs["Vector"], fold.inputs[0])
    s = about["sharpness"]
    total = 0.0
    for k, name in enumerate(entry["maps"]):
        picture = nodes.new("ShaderNodeTexImage")
        picture.image = bpy.data.images.load(str(folder / name))
        picture.image.colorspace_settings.name = "Non-Color"
        texel = nodes.new("ShaderNodeSeparateColor")
        links.new(picture.outputs["Color"], texel.inputs[0])
        cos = math_node("SUBTRACT", math_node("MULTIPLY", texel.outputs[0], 2.0), 1.0)
        twice = math_node("SUBTRACT", math_node("MULTIPLY", math_node("MULTIPLY", cos, cos), 2.0), 1.0)
        wave = math_node("SUBTRACT", cos, math_node("MULTIPLY", twice, s))
        scale = about["longest_wavelength"] / math.pi / math.sqrt(1.0 + 4.0 * s * s)
        height = math_node("MULTIPLY", math_node("MULTIPLY", wave, texel.outputs[1]), texel.outputs[2])
        height = math_node("MULTIPLY", math_node("MULTIPLY", height, scale), fold.outputs[k])
        total = math_node("ADD", height, total)
    return total


def main(folder, mesh):
    about = json.loads((folder / "wrinkles.json").read_text())
    entry = next(entry for entry in about["meshes"] if entry["folds"] == f"{mesh}.npy")
    folds, sets, count = read_folds(folder / entry["folds"]), len(entry["maps"]), entry["vertices"]
    data = bpy.context.object.data
    if len(data.vertices) != count:
        sys.exit(f"{data.name} has {len(data.vertices)} vertices, the table is for {count}")
    attribute = data.attributes.new("fold", "FLOAT_VECTOR", "POINT")
    name = attribute.name

    def show(scene, *_):
        frame = min(max(scene.frame_current - scene.frame_start, 0), about["frames"] - 1)
        own = folds[frame * count * sets : (frame + 1) * count * sets]
        values = [own[v * sets + k] if k < sets else 0.0 for v in range(count) for k in range(3)]
        data.attributes[name].data.foreach_set("vector", values)
        data.update()

    material = data.materials[0]
    material.use_nodes = True
    tree = material.node_tree
    bump = tree.nodes.new("ShaderNodeBump")
    bump.inputs["Distance"].default_value = 1.0
    tree.links.new(height_nodes(tree, folder, entry, about), bump.inputs["Height"])
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    tree.links.new(bump.outputs["Normal"], surface.inputs["Normal"])
    bpy.app.handlers.frame_change_pre.append(show)
    show(bpy.context.scene)


arguments = sys.argv[sys.argv.index("--") + 1 :]
main(Path(arguments[0]), arguments[1])
