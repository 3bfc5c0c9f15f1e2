"""Interrupts: Ctrl-C (SIGINT), termination (SIGTERM), a closed terminal (SIGHUP).

There is one way for all commands: the program ends with status 128 and the signal's number, at once
where there is nothing to undo. Where there is (see `undone_by`), the first signal raises
`Interrupted` in the main thread, so that `with` and `finally` undo what was begun; those that come
later change nothing. A signal that the caller had us ignore (`nohup`, a shell's `&`) stays ignored.

Native code that runs for long would hold the exception up, and Python drops one that comes within
a destructor. A thread watches for that: it sends a signal again whose exception was dropped, and
where the main thread does not hear one, or does not end soon after, the thread undoes what is
registered and ends the process.

Nothing is installed by importing rexmit: signals belong to the program, not to the library.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

HEARD_S: Final = 0.6
"""Real seconds that the main thread has to hear a signal in."""

UNDONE_S: Final = 20.0
"""Real seconds that it then has to undo what it began."""

_LATELY_S: Final = 1.0
"""A signal that was heard so long before its byte was read was heard."""

_DROPPED_S: Final = 0.05
"""How often the watching thread asks whether an exception was dropped."""

_SAID: Final = b"rexmit: stopped\n"


class Interrupted(BaseException):
    """A signal came. Not an Exception: nothing that goes on after errors goes on after this."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number
        self.what = "stopped"
        self.hint: str | None = None
        """What to say, for whoever knows more on the way up."""

    @property
    def exit_status(self) -> int:
        """The exit status that the program ends with, as shells have it."""
        return 128 + self.number


Undo = Callable[[], object]
Spare = Callable[[int], bool]


class _State:
    """What the handler, the main thread and the watching thread share."""

    def __init__(self) -> None:
        self.came: int | None = None
        self.heard_at = -_LATELY_S
        self.raised: weakref.ref[Interrupted] | None = None
        """What was raised for `came`. Whoever ends the program holds it until the end."""
        self.over = threading.Event()
        self.undo: list[Undo] = []
        self.spares: list[Spare] = []
        self.reads, self.written = os.pipe()
        os.set_blocking(self.written, False)

    def was_heard(self) -> bool:
        """Whether the main thread has heard, or hears in time, the signal whose byte was read."""
        read_at = time.monotonic()
        while time.monotonic() < read_at + HEARD_S:
            if self.heard_at > read_at - _LATELY_S:
                return True
            time.sleep(0.01)
        return False

    def ends(self) -> bool:
        """Whether signals mean before long what they meant before. Sends a signal again whose
        exception was dropped."""
        until = time.monotonic() + UNDONE_S
        while time.monotonic() < until:
            if self.over.wait(_DROPPED_S):
                return True
            number, raised = self.came, self.raised
            if number is not None and raised is not None and raised() is None:
                self.came = self.raised = None
                main = threading.main_thread().ident
                assert main is not None  # noqa: S101 - it runs
                signal.pthread_kill(main, number)
        return False


_state: _State | None = None


def install() -> None:
    """See to signals from here on. For a program, in its main thread, before all else."""
    global _state
    _state = state = _State()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)
    signal.set_wakeup_fd(state.written, warn_on_full_buffer=False)
    sys.unraisablehook = _on_unraisable
    threading.Thread(target=_watch, args=(state,), daemon=True).start()


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Inside, signals are seen to; afterwards they mean what they meant before."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    install()
    state = _state
    assert state is not None  # noqa: S101 - `install` has made it
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        sys.unraisablehook = sys.__unraisablehook__
        for number, handler in before.items():
            signal.signal(number, handler)
        state.over.set()
        os.close(state.written)


def came() -> Interrupted | None:
    """The interrupt that is being undone.

    For the end of the program: some of Python's own code turns exceptions into others.
    """
    return None if _state is None or _state.came is None else Interrupted(_state.came)


def begin(undo: Undo) -> None:
    """From here on there is something to undo.

    Where a signal ends the process past `with` and `finally`, `undo` is called in another thread
    while this one goes on.
    """
    if _state is not None:
        _state.undo.append(undo)


def finish(undo: Undo) -> None:
    """What `begin` was called for is done, or undone."""
    if _state is not None and undo in _state.undo:
        _state.undo.remove(undo)


@contextlib.contextmanager
def undone_by(undo: Undo) -> Iterator[None]:
    """Inside, there is something to undo: see `begin`."""
    begin(undo)
    try:
        yield
    finally:
        finish(undo)


def undo_rest() -> None:
    """Undo what is still registered: the interrupt came between a `with` and what it entered. For
    the end of a program that was interrupted."""
    if _state is not None:
        _undo_all(_state)


def _undo_all(state: _State) -> None:
    for undo in reversed(tuple(state.undo)):
        with contextlib.suppress(Exception):
            undo()


def nothing() -> None:
    """What is undone by `with` and `finally` alone, and where a program that is killed does no
    harm."""


@contextlib.contextmanager
def spared(spare: Spare) -> Iterator[None]:
    """Inside, a signal for which `spare` is true is no interrupt."""
    sparing = [] if _state is None else _state.spares
    sparing.append(spare)
    try:
        yield
    finally:
        sparing.remove(spare)


def _on_signal(number: int, _frame: FrameType | None) -> None:
    state = _state
    if state is None:
        return
    state.heard_at = time.monotonic()
    if state.came is not None or any(spare(number) for spare in state.spares):
        return
    state.came = number
    if not state.undo:
        _end(number)
    interrupted = Interrupted(number)
    state.raised = weakref.ref(interrupted)
    try:
        raise interrupted
    finally:
        # Its traceback holds this frame.
        del interrupted


def _on_unraisable(dropped: sys.UnraisableHookArgs) -> None:
    if not isinstance(dropped.exc_value, Interrupted):
        sys.__unraisablehook__(dropped)


def _end(number: int) -> None:
    with contextlib.suppress(OSError):
        os.write(2, _SAID)
    os._exit(128 + number)


def _watch(state: _State) -> None:
    """Ends the process where the main thread does not."""
    with os.fdopen(state.reads, "rb", buffering=0) as reads:
        while numbers := reads.read(64):
            caught = [n for n in numbers if n in SIGNALS and signal.getsignal(n) is _on_signal]
            if not caught:
                continue
            if state.was_heard():
                if state.came is None:
                    continue
                # The process ends in the meantime, and this thread with it.
                if state.ends():
                    return
            _undo_all(state)
            _end(caught[0])
