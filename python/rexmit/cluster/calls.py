"""A call that a worker makes, and what is looked at there before."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexmit import _core
from rexmit.errors import UserError
from rexmit.version import version

TOPIC = "rexmit-progress"
"""What workers tell of while they are at work."""

TELL_S: Final = 0.5
"""Seconds between two such tidings of a call at least: each of them passes the scheduler."""


class LostError(Exception):
    """A call whose workers died, again and again: it may be what kills them."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function of a module of rexmit and its arguments. It is called on any worker, and again
    where that worker dies; so it gives the same each time, and what it writes, it writes whole.
    With `tells` it is given `tell`, as its last argument.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    tells: bool = False


@cache
def program() -> str:
    """What this program is, to the bit that reckons: its version, and the digest of its core."""
    with Path(str(_core.__file__)).open("rb") as core:
        return f"{version()} {hashlib.file_digest(core, 'sha256').hexdigest()[:16]}"


def make(call: Call, asked: str, *shared: object) -> Any:  # noqa: ANN401 - whatever the function gives
    """What a worker does. `asked` is the program that asks: another would give other answers. What
    is `shared` by all calls is their last argument.
    """
    if program() != asked:
        raise UserError(
            f"a worker has another rexmit: {program()}, and here is {asked}",
            "install the same on all machines",
        )
    if not call.tells:
        more = (shared,) if shared else ()
        return call.function(*call.arguments, *more, **call.options)
    from distributed import get_worker

    worker = get_worker()
    next_s = 0.0

    def tell(done: int) -> None:
        nonlocal next_s
        if (now := time.monotonic()) >= next_s:
            next_s = now + TELL_S
            worker.log_event(TOPIC, {"call": call.name, "done": done})

    return call.function(*call.arguments, tell, **call.options)
