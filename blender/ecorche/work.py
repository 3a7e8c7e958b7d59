# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake itself, in a thread that touches arrays and files only."""

import threading
from contextlib import ExitStack
from dataclasses import dataclass

from .cache import Writer
from .rig import Rig


class Stopped(Exception):
    """The user asked to stop."""


@dataclass
class Task:
    """A sampled rig, how to bind it, and where its cache goes."""

    rig: Rig
    options: dict
    path: str


class Job:
    """Binds sampled rigs and writes their frames to caches: all of them, or none."""

    def __init__(self, engine, tasks, fps):
        self.engine, self.tasks, self.fps = engine, tasks, fps
        self.stop = threading.Event()
        self.done, self.of = 0, sum(len(task.rig.poses) for task in tasks)
        self.stage, self.notes, self.error = "", [], None
        self.thread = threading.Thread(target=self._guarded, name="ecorche bake")

    def _guarded(self):
        try:
            self.run()
        except BaseException as error:  # told to the main thread
            self.error = error

    def run(self):
        with ExitStack() as writers:
            for task in self.tasks:
                self._write(task, writers)

    def _prepare(self, stage, done, of):
        """What the engine is doing; whether it should stop."""
        self.stage = f"{stage}, {done} of {of}" if of else stage
        return self.stop.is_set()

    def _write(self, task, writers):
        if self.stop.is_set():
            raise Stopped
        character = task.rig.character(self.engine, self.fps)
        self.notes += character.repairs
        try:
            body = character.bind(**task.options, progress=self._prepare)
        except self.engine.Stopped as error:
            raise Stopped from error
        finally:
            self.stage = ""
        coarse = [name for name, rounds in (body.wrinkles or {}).items() if rounds]
        if coarse:
            more = ", ..." if len(coarse) > 6 else ""
            self.notes.append(f"{task.rig.name}: too coarse for wrinkles at {', '.join(coarse[:6])}{more}; subdivide the mesh there")
        writer = writers.enter_context(Writer(task.path, len(task.rig.points), len(task.rig.poses)))
        for frame in body.play("shot"):
            if self.stop.is_set():
                raise Stopped
            writer.write(task.rig.to_object(frame.positions()))
            self.done += 1
        writer.close()
