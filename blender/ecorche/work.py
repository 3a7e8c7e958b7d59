# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake itself, in a thread that touches arrays and files only."""

import threading

from .cache import Writer


class Stopped(Exception):
    """The user asked to stop."""


class Job:
    """Binds a sampled rig and writes its frames to a cache."""

    def __init__(self, engine, rig, options, path, fps):
        self.engine, self.rig, self.options, self.path, self.fps = engine, rig, options, path, fps
        self.stop = threading.Event()
        self.done, self.of = 0, len(rig.poses)
        self.notes, self.error = [], None
        self.thread = threading.Thread(target=self._guarded, name="ecorche bake")

    def _guarded(self):
        try:
            self.run()
        except BaseException as error:  # told to the main thread
            self.error = error

    def run(self):
        character = self.rig.character(self.engine, self.fps)
        self.notes = list(character.repairs)
        body = character.bind(**self.options)
        with Writer(self.path, len(self.rig.points), self.of) as writer:
            for frame in body.play("shot"):
                if self.stop.is_set():
                    raise Stopped
                writer.write(self.rig.to_object(frame.positions()))
                self.done += 1
