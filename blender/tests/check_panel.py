"""What the panel shows and the keyboard does: a recording layout and made-up events instead of a window."""

import pathlib
import shutil
import sys
import time
import types

from scenes import FRAMES, caches, evaluated, refused, start, tube

import bpy  # noqa: I001
import numpy as np


def part(name):
    return sys.modules[f"bl_ext.user_default.ecorche.{name}"]


class Layout:
    """Records what is drawn, as (text or name, enabled)."""

    def __init__(self, above=None):
        self.drawn = above.drawn if above else []
        self.above, self.enabled = above, True

    def column(self, **_):
        return Layout(self)

    row = column

    def can(self):
        return self.enabled and (self.above is None or self.above.can())

    def label(self, text, icon):
        self.drawn.append((text, self))

    def operator(self, name, text="", **_):
        assert eval(f"bpy.ops.{name}").get_rna_type(), name
        self.drawn += [(name, self), (text, self)]
        return types.SimpleNamespace()

    def operator_menu_enum(self, name, key, **_):
        assert key in eval(f"bpy.ops.{name}").get_rna_type().properties
        self.drawn.append((name, self))

    def menu(self, name):
        assert hasattr(bpy.types, name)

    def prop(self, data, name, **_):
        assert name in data.bl_rna.properties, name
        self.drawn.append((name, self))


def drawn():
    """Messages as one text, and whether each button can be pressed."""
    layout = Layout()
    part("panel").ECORCHE_PT_steps.draw(types.SimpleNamespace(layout=layout), bpy.context)
    buttons = {name: place.can() for name, place in layout.drawn if name.startswith("ecorche.")}
    return " ".join(text for text, _ in layout.drawn if "ecorche." not in text), buttons


def check_panel_says_what_is_missing(folder):
    bpy.ops.wm.read_homefile(use_empty=True)
    text, buttons = drawn()
    assert "Select a mesh" in text and list(buttons) == ["ecorche.check"], (text, buttons)
    thing, armature = tube()
    text, buttons = drawn()
    assert "Save the .blend file first" in text and not buttons["ecorche.bake"] and not buttons["ecorche.place_muscles"]
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    text, buttons = drawn()
    assert "Save the" not in text and buttons["ecorche.bake"] and buttons["ecorche.preview"]
    thing.ecorche.method = "muscles"
    text, buttons = drawn()
    assert "place muscles (step 2)" in text and not buttons["ecorche.bake"] and buttons["ecorche.place_muscles"]
    thing.ecorche.anatomy = "//gone.toml"
    text, buttons = drawn()
    assert "no such anatomy file" in text.replace("  ", " ") and not buttons["ecorche.bake"]
    thing.ecorche.method, thing.ecorche.anatomy = "implicit", ""
    thing.modifiers["Armature"].object = None
    text, buttons = drawn()
    assert "no Armature modifier" in text and list(buttons) == ["ecorche.check"]
    thing.modifiers["Armature"].object = armature
    bpy.ops.ecorche.bake()
    assert "//cache_ecorche/" in drawn()[0]


class Manager:
    """A window manager that counts its timers."""

    def __init__(self):
        self.timers, self.progress = 0, []

    def event_timer_add(self, seconds, window):
        self.timers += 1

    def event_timer_remove(self, timer):
        self.timers -= 1

    def progress_begin(self, low, high):
        self.high = high

    def progress_update(self, value):
        self.progress.append(value)

    def progress_end(self):
        self.high = None

    def modal_handler_add(self, operator):
        pass


def as_from_panel():
    """The bake operator as a click in the panel starts it, and the context that it sees."""
    told = []
    workspace = types.SimpleNamespace(status_text_set=told.append)
    context = types.SimpleNamespace(
        scene=bpy.context.scene,
        view_layer=bpy.context.view_layer,
        evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
        window_manager=Manager(),
        window=None,
        workspace=workspace,
        told=told,
    )
    own = {name: value for name, value in vars(part("operators").ECORCHE_OT_bake).items() if callable(value)}
    own["tell"] = staticmethod(part("operators").ECORCHE_OT_bake.tell)
    operator = type("Operator", (), own)()
    operator.said = []
    operator.report = lambda kinds, text: operator.said.append(text)
    return operator, context


def event(kind):
    return types.SimpleNamespace(type=kind)


def check_escape(folder):
    """Esc stops while poses are sampled, and while frames are made; other keys do not."""
    thing, _ = start(folder)
    bpy.context.scene.frame_set(5)
    for ticks in (0, 1, 3):
        operator, context = as_from_panel()
        assert operator.invoke(context, event("LEFTMOUSE")) == {"RUNNING_MODAL"}
        for _ in range(ticks):
            operator.modal(context, event("TIMER"))
        assert operator.modal(context, event("A")) <= {"RUNNING_MODAL", "PASS_THROUGH"}
        assert operator.modal(context, event("ESC")) == {"CANCELLED"}
        assert operator.said == ["Bake stopped; nothing was changed"], operator.said
        assert context.window_manager.timers == 0 and context.window_manager.high is None
        assert context.told[-1] is None, "the status bar is free again"
        assert caches(folder) == [] and "Écorché" not in thing.modifiers
        assert bpy.context.scene.frame_current == 5
    operator, context = as_from_panel()
    operator.invoke(context, event("LEFTMOUSE"))
    result = {"RUNNING_MODAL"}
    while result == {"RUNNING_MODAL"}:
        result = operator.modal(context, event("TIMER"))
        time.sleep(0.01)
    assert result == {"FINISHED"} and "Écorché" in thing.modifiers
    assert context.window_manager.progress[-1] == 2 * FRAMES and "Esc stops" in context.told[0]
    # A failure says why.
    thing.ecorche.method = "muscles"
    operator, context = as_from_panel()
    assert operator.invoke(context, event("LEFTMOUSE")) == {"CANCELLED"}
    assert "No anatomy yet" in operator.said[0]


def check_several_objects(folder):
    """All selected meshes at once; if one cannot be baked, none is."""
    bpy.ops.wm.read_homefile(use_empty=True)
    first, _ = tube("First")
    second, rig = tube("Second", at=(1.0, 0.0, 0.0))
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "two.blend"))
    for thing in (first, second, rig):
        thing.select_set(True)
    alone = {thing: evaluated(thing, FRAMES) for thing in (first, second)}
    # The second cannot be bound: its anatomy is wrong. The first one's frames are complete by then.
    (folder / "bad.toml").write_text("[skin]\nno_such_key = 1\n")
    second.ecorche.anatomy = "//bad.toml"
    refused(bpy.ops.ecorche.bake, "no_such_key")
    assert caches(folder) == [] and "Écorché" not in first.modifiers
    second.ecorche.anatomy = ""
    assert bpy.ops.ecorche.bake() == {"FINISHED"}
    assert len(caches(folder)) == 2
    for thing in (first, second):
        assert np.abs(evaluated(thing, FRAMES) - alone[thing]).max() > 0.005
    assert "(2 objects)" in drawn()[0]
    assert bpy.ops.ecorche.remove(delete_files=True) == {"FINISHED"}
    assert caches(folder) == [] and not part("cache").shown(first) and not part("cache").shown(second)
    assert bpy.ops.ecorche.preview() == {"FINISHED"}
    second.modifiers["Armature"].object = None
    refused(bpy.ops.ecorche.bake, '"Second" has no Armature modifier')


def check_moved_folder(folder):
    """The .blend file and its caches in another folder: // paths still lead there."""
    thing, _ = start(folder)
    bpy.ops.ecorche.bake()
    baked = evaluated(thing, FRAMES)
    bpy.ops.wm.save_mainfile()
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    shutil.move(folder / "shot.blend", elsewhere)
    shutil.move(folder / "cache_ecorche", elsewhere)
    bpy.ops.wm.open_mainfile(filepath=str(elsewhere / "shot.blend"))
    thing = bpy.data.objects["Tube"]
    assert np.array_equal(evaluated(thing, FRAMES), baked)
    bpy.context.view_layer.objects.active = thing
    assert bpy.ops.ecorche.bake() == {"FINISHED"} and len(caches(elsewhere)) == 1


def check_linked_library(folder):
    """A character linked from another file: refused as it is, baked as a library override, which keeps its bake."""
    thing, armature = start(folder)
    (folder / "library").mkdir()
    group = bpy.data.collections.new("Hero")
    bpy.context.scene.collection.children.link(group)
    for own in (thing, armature):
        bpy.context.scene.collection.objects.unlink(own)
        group.objects.link(own)
    plain = evaluated(thing, FRAMES)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library" / "hero.blend"))
    (folder / "library" / "hero.toml").write_text("version = 1\n")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    with bpy.data.libraries.load(str(folder / "library" / "hero.blend"), link=True, relative=True) as (_, wanted):
        wanted.collections = ["Hero"]
    group = wanted.collections[0]
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.collection.children.link(group)
    linked = next(thing for thing in group.objects if thing.type == "MESH")
    bpy.context.view_layer.objects.active = linked
    refused(bpy.ops.ecorche.bake, "is linked from //library")
    own = group.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.collection.children.unlink(group)
    bpy.context.view_layer.update()
    thing = next(thing for thing in own.all_objects if thing.type == "MESH")
    bpy.context.view_layer.objects.active = thing
    thing.ecorche.anatomy = "//hero.toml"
    assert thing.ecorche.anatomy_path() == folder / "library" / "hero.toml", "beside its library"
    assert bpy.ops.ecorche.bake() == {"FINISHED"}
    assert [m.name for m in thing.modifiers] == ["Armature", "Écorché", "Subdivision"], list(thing.modifiers)
    assert caches(folder / "library") == [] and len(caches(folder)) == 1, "the cache is beside the scene"
    baked, name, identity = evaluated(thing, FRAMES), thing.name, thing.ecorche.identity
    assert np.abs(baked - plain).max() > 0.005
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))
    thing = next(t for t in bpy.data.objects if t.name == name and not t.library)
    assert [m.name for m in thing.modifiers] == ["Armature", "Écorché", "Subdivision"]
    assert thing.ecorche.identity == identity
    assert np.array_equal(evaluated(thing, FRAMES), baked)


def check_presets(folder):
    """Settings kept under a name, for another object."""
    thing, _ = start(folder)
    thing.ecorche.smooth, thing.ecorche.threads, thing.ecorche.wrinkles = 0.25, 3, "on"
    assert bpy.ops.ecorche.add_preset(name="Soft bends") == {"FINISHED"}
    thing.ecorche.smooth, thing.ecorche.threads, thing.ecorche.wrinkles = 0.0, 0, "off"
    (path,) = (path for place in bpy.utils.preset_paths("ecorche") for path in pathlib.Path(place).glob("*.py"))
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="ECORCHE_MT_presets")
    assert abs(thing.ecorche.smooth - 0.25) < 1e-6 and thing.ecorche.threads == 3 and thing.ecorche.wrinkles == "on"
