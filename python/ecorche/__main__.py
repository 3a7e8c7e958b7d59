"""The `ecorche` command, the same as the Rust program: `ecorche --help` or `python -m ecorche --help`."""

import signal
import sys

from ._engine import command


def main() -> int:
    # Python only notes an interrupt and waits for its turn; the command has its own way to stop.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["ecorche", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
