# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake of the scene's frame range: poses are sampled one by one, then a job makes the frames."""

import time

import bpy

from . import cache, rig
from .work import Job, Task

# Blender stays responsive while poses are sampled: about a frame of a monitor between looks at the keyboard.
SLICE = 0.03


class Bake:
    """One or several objects over the same frames."""

    def __init__(self, context, things, engine):
        scene = context.scene
        self.things, self.engine = things, engine
        self.paths = [cache.relative_path(thing, cache.BAKED) for thing in things]
        options = [thing.ecorche.options() for thing in things]
        for thing in things:
            rig.check_posed(thing)
            rig.check(context, thing)
        self.unseen = [f"{thing.name}: not seen by the bake: {what}" for thing in things for what in rig.unseen(thing)]
        self.frame_before = scene.frame_current
        self.first, self.last = scene.frame_start, scene.frame_end
        self.fps = scene.render.fps / scene.render.fps_base
        scene.frame_set(self.first)
        rigs = [rig.read(context, thing) for thing in things]
        self.tasks = [Task(*task) for task in zip(rigs, options, map(bpy.path.abspath, self.paths))]
        self.sampled = 0
        self.job = None

    def count(self):
        return self.last - self.first + 1

    def steps(self):
        """Poses to sample, and frames to make."""
        return self.count() * (1 + len(self.things))

    def done(self):
        """Steps so far."""
        return self.sampled + (self.job.done if self.job else 0)

    def told(self):
        """What it is doing, in words."""
        stage = self.job.stage if self.job else ""
        return stage or f"{'skin' if self.job else 'poses'}, {self.done()} of {self.steps()}"

    def sample(self, context):
        """Samples the next pose. After the last one the scene is where it was, and the job is ready."""
        context.scene.frame_set(self.first + self.sampled)
        for thing, task in zip(self.things, self.tasks):
            rig.add_pose(context, thing, task.rig)
        self.sampled += 1
        if self.sampled == self.count():
            self.restore(context)
            self.job = Job(self.engine, self.tasks, self.fps)

    def restore(self, context):
        context.scene.frame_set(self.frame_before)

    def run(self, context):
        """Goes on to the end."""
        try:
            while self.job is None:
                self.sample(context)
        finally:
            self.restore(context)
        self.job.run()

    def tick(self, context):
        """Goes on for a moment, for a caller that must not wait; whether the caches are complete."""
        end = time.monotonic() + SLICE
        while self.job is None and time.monotonic() < end:
            self.sample(context)
            if self.job:
                self.job.thread.start()
        if self.job is None or self.job.thread.is_alive():
            return False
        if self.job.error:
            raise self.job.error
        return True

    def abandon(self, context):
        """Stops at the next frame and leaves nothing."""
        if self.job:
            self.job.stop.set()
            self.job.thread.join()
        else:
            self.restore(context)

    def show(self):
        for thing, path in zip(self.things, self.paths):
            cache.show(thing, cache.BAKED, path, self.first)
