"""What an interruption means to an analysis: nothing is left half written, and of a pipe the first
one only says that the end is near.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interruptible(*, pipe: bool) -> Iterator[None]:
    """Inside, termination and a closed terminal end things as Ctrl-C does.

    In `tcpdump -w - | rexmit trace -` the terminal sends Ctrl-C to both, and tcpdump then ends the
    pipe. So of a pipe the first Ctrl-C is left to the program that writes it; the second counts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    left = 1 if pipe else 0

    def note(number: int, _frame: FrameType | None) -> None:
        nonlocal left
        if number == signal.SIGINT and left:
            left -= 1
            print("rexmit: waiting for the pipe to end; Ctrl-C again to give up", file=sys.stderr)
            return
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, note)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
