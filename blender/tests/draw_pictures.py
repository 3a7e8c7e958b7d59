"""Draws docs/pictures/blender.png, one pose of the built-in athlete in Blender under its armature alone and with the extension, and
docs/pictures/blender_muscles.png, its muscles as the viewport has them.

    python blender/tests/draw_pictures.py target/dist/ecorche-blender-VERSION.zip
"""

import math
import pathlib
import sys
import tempfile

from scenes import athlete, install, leave

import bpy  # noqa: I001
import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
WIDTH, HEIGHT = 360, 420


def pose(armature, read, clip, frame):
    """Puts the bones where a clip of the character they were made from has them."""
    turn = np.eye(4)
    turn[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    moved = read.poses(clip, frames=(frame, frame))[0] @ np.linalg.inv(read.rest_joints())
    for joint, name in enumerate(read.joints):
        bone = armature.pose.bones.get(name)
        if bone:
            in_armature = turn @ moved[joint] @ turn.T @ np.array(bone.bone.matrix_local)
            bone.matrix = in_armature.T.tolist()
            bpy.context.view_layer.update()


def studio(thing):
    """Light, camera and skin."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.device = 48, "CPU"
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = WIDTH, HEIGHT, 100
    scene.view_settings.view_transform = "Standard"
    scene.world = bpy.data.worlds.new("grey")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.75, 0.78, 0.8, 1)
    scene.world.node_tree.nodes["Background"].inputs[1].default_value = 0.6
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 2.5, (math.radians(50), 0, math.radians(35))
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.lens, camera.data.shift_x, camera.data.shift_y = 88, -0.13, 0.0
    camera.location, camera.rotation_euler = (2.6, -2.4, 0.9), (math.radians(84), 0, math.radians(47))
    for new in (sun, camera):
        scene.collection.objects.link(new)
    scene.camera = camera
    skin = bpy.data.materials.new("skin")
    skin.use_nodes = True
    skin.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.72, 0.47, 0.36, 1)
    skin.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.6
    thing.data.materials.append(skin)
    thing.data.polygons.foreach_set("use_smooth", [True] * len(thing.data.polygons))


def render(path):
    bpy.context.scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    return np.array(image.pixels[:]).reshape(HEIGHT, WIDTH, 4)


def main(archive, folder):
    import ecorche

    bpy.ops.wm.read_homefile(use_empty=True)
    thing, armature = athlete("sample:athlete")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "athlete.blend"))
    bpy.ops.ecorche.place_muscles()
    pose(armature, ecorche.read("sample:athlete"), "squat", 42)
    studio(thing)
    panels = [render(folder / "armature.png")]
    for method in ("implicit", "muscles"):
        thing.ecorche.method = method
        bpy.ops.ecorche.preview()
        panels.append(render(folder / f"{method}.png"))
    write(np.concatenate(panels, axis=1), "blender.png")
    bpy.ops.ecorche.draw_muscles()
    show_muscles(thing)
    write(render(folder / "drawn.png"), "blender_muscles.png")


def show_muscles(thing):
    """The drawn muscles in a picture, under skin that one can look through."""
    material = bpy.data.materials["Écorché muscle"]
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = material.diffuse_color
    for drawn in thing.ecorche.drawn.objects:
        drawn.hide_render = "ecorche_name" not in drawn
    thing.data.materials[0].node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = 0.18


def write(pixels, name):
    target = ROOT / "docs" / "pictures" / name
    image = bpy.data.images.new(name, pixels.shape[1], pixels.shape[0])
    image.pixels = pixels.ravel()
    image.filepath_raw, image.file_format = str(target), "PNG"
    image.save()
    print(target)


if __name__ == "__main__":
    install(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[1], pathlib.Path(place))
    leave()
