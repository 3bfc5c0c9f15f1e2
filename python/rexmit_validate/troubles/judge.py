"""Holds what is said first of captures of scenes against whose the time was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.library.trace import trace
from rexmit.store.plain_json import Check, list_of, read, shape, text, whole
from rexmit.tracing.owners import Owned, owners
from rexmit.tracing.sentences import time
from rexmit_validate.troubles.make import META, VERSION
from rexmit_validate.troubles.scenes import LOSS, PLACES, SCENES, of_variant

MONITORS: Final = ("sender", "midway", "receiver")
"""Where captures are taken, from the end on that sends most."""

CUT: Final = ("unknown", "between-requests", "messages")
"""What may be said of cut packets besides: they tell neither the scale of windows nor how TLS is
set up."""

_CHECK: Final[Check] = shape(
    {"version": whole(), "troubles": list_of(text)}, needed=("version", "troubles")
)

LATE_OR_LOST: Final = ("client", "server", "path-mtu", *LOSS)
"""What `late-or-lost` names: a program, or a loss that the place did not see."""

Found = tuple[str, str, Path]
"""The name of a scene, the place that it was captured at, and the capture."""


@dataclass(frozen=True)
class Judged:
    """A capture: whose the time was, by name of the `trouble`, and whose it is said to be first,
    and in which words."""

    capture: Path
    trouble: str
    kind: str
    monitor: str
    truth: tuple[str, ...]
    claimed: str
    sentence: str

    @property
    def right(self) -> bool:
        """One of those that are right is named, or a group that has one."""
        named = LATE_OR_LOST if self.claimed == "late-or-lost" else (self.claimed,)
        return not set(named).isdisjoint(self.truth)


@dataclass(frozen=True)
class Judgement:
    """All captures of a folder."""

    folder: Path
    captures: tuple[Judged, ...]

    def at(self, monitor: str) -> tuple[Judged, ...]:
        """Those of one of `MONITORS`."""
        return tuple(one for one in self.captures if one.monitor == monitor)

    @property
    def wrong(self) -> tuple[Judged, ...]:
        """Those that name another."""
        return tuple(one for one in self.captures if not one.right)


def found(folder: Path) -> list[Found]:
    """The captures of a folder, as its troubles.json has them. Raises UserError."""
    file = folder / META
    try:
        meta = read(file)
        _CHECK(meta, "it")
    except FileNotFoundError:
        raise UserError(f"{folder}: no {META}", "name a folder of this command") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: {error}") from None
    if meta["version"] != VERSION or not set(meta["troubles"]) <= set(SCENES):
        raise UserError(f"{folder}: made by another version of rexmit", "make it again")
    captures = []
    for path in sorted((folder / "captures").iterdir()):
        name, _, rest = path.name.partition(".")
        place = rest.partition(".")[0]
        if name.partition("+")[0] in meta["troubles"] and place in PLACES:
            captures.append((name, place, path))
    return captures


def judge(
    folder: Path, captures: Sequence[Found], jobs: int, on_capture: Callable[[], None]
) -> Judgement:
    """Reads every capture as `rexmit trace` does. Raises UserError."""

    def one(of: Found) -> Judged:
        judged = _judged(*of)
        on_capture()
        return judged

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return Judgement(folder, tuple(pool.map(one, captures)))


def _judged(name: str, place: str, path: Path) -> Judged:
    traced = trace(path, whatif=(), jobs=1)
    owned = owners(traced)
    sentences = time.said(owned, traced.scan("connections").collect().height)
    scene = of_variant(name)
    trouble, _, kind = name.partition("+")
    seen = [*PLACES] if not scene.upload else [*reversed(PLACES)]
    monitor = MONITORS[seen.index(place)]
    truth = scene.at(place) + (CUT if "snapped" in kind else ())
    words = f"{sentences[0].label}: {sentences[0].text}" if sentences else ""
    return Judged(path, trouble, kind or "plain", monitor, truth, _first(owned), words)


def _first(owned: tuple[Owned, ...] | None) -> str:
    if owned is None:
        return "nothing"
    return owned[0].owner if owned else "healthy"
