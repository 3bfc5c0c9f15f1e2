"""The commands that write, small: what they are given, what they make, and how it is compared.

A result is compared by digests of its files. Of the few files that tell of the moment and the
machine (`run.json`, `trace.json`, `kernel.json`) those keys are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.place import Place
from tests.kernels.conftest import MAKEFILE, SERIES_PATCH, Tree

SERIES = "6.12"
Result = Mapping[str, str]
"""By the file's name: its digest, or what it says."""

_OF_THE_MOMENT = {
    # The virtual time to a kernel's very end varies by a microsecond.
    "run.json": {"created", "wall_s", "cpu_s", "peak_memory_bytes", "jobs", "virtual_s"},
    "trace.json": {"wall_s"},
    # What names the compiler may be killed, too; nothing depends on the name.
    "kernel.json": {"built", "seconds", "steps", "compiler"},
}


_STAY = ("kernels/.lock", "kernels/.logs", "kernels/.objects")
"""Locks, logs and kept objects of the cache."""


def files(folder: Path) -> Result:
    """A folder's files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if (path.is_symlink() or not path.is_dir()) and not name.startswith(_STAY):
            found[name] = _told(path)
    return found


def _told(path: Path) -> str:
    if path.is_symlink():
        return f"a link to {path.readlink()}"
    if path.name in _OF_THE_MOMENT:
        return _without(path, _OF_THE_MOMENT[path.name])
    if path.name == "kernel.jsonl":
        return _by_number(path)
    if path.name == "SHA256SUMS":
        # kernel.json says when it was built.
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(line for line in lines if not line.endswith("kernel.json"))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _without(path: Path, keys: set[str]) -> str:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return json.dumps({key: value for key, value in data.items() if key not in keys})
    except (ValueError, AttributeError):
        return "no JSON object"


def _by_number(path: Path) -> str:
    """Its lines come in the order in which cases ended; of a case the last one counts.

    Cases share a boot: times, initial sequence numbers and ports depend on those before.
    """
    found: dict[str, Any] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            number, outcome = json.loads(line)
        except ValueError:
            continue
        found[str(number)] = _of_its_own(outcome)
    return json.dumps(found, sort_keys=True)


def _of_its_own(data: Any) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(data, dict):
        return data
    transfer = {
        key: value
        for key, value in (data.get("transfer") or {}).items()
        if not key.endswith(("_ns", "_us", "_port")) and not key.startswith("isn_")
    }
    # A packet begins with its time.
    packets = [packet[1:] for packet in data.get("packets", ())]
    return {**data, "transfer": transfer, "packets": packets}


def _no_claim(_folder: Path) -> bool:
    return False


@dataclass(frozen=True)
class Command:
    """A command. `OUT`, `CAPTURE` and `TREE` in its words stand for paths."""

    words: tuple[str, ...]
    weight: float = 1.0
    """How often beside the others."""
    is_whole: Callable[[Path], bool] = Path.is_dir
    """Whether what is there says of itself that it is finished."""
    reads: tuple[str, ...] | None = None
    """Another command, which reads the result."""
    read_share: float = 0.5
    """In how many of its attempts."""
    kernel: bool = False
    """It boots kernels."""
    has_shares: bool = False
    starts_others: bool = False
    may_be_process: bool = True
    done_says: str = ""
    """What it prints where it has done all; without that, 0 means that it has told of failures."""
    prints: bool = False
    """What it prints is compared as well."""
    refuses_what_is_there: bool = False
    """A result that is there already is an error."""
    before: tuple[str, ...] | None = None
    """What is there at the beginning: made by this command."""
    first: Callable[[Place], None] | None = None
    """What a fork does before."""


def _is_run(folder: Path) -> bool:
    try:
        meta = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    tables = ("transfers.parquet", "transfers.csv", "retransmissions.parquet")
    return meta.get("state") == "complete" and all((folder / name).is_file() for name in tables)


def _is_built(cache: Path) -> bool:
    return any(cache.glob("kernels/6*/kernel.json"))


def _with_fake_patches(place: Place) -> None:
    from rexmit.kernels import recipe

    recipe.DATA = place.inputs / "data"  # type: ignore[misc]


def make_inputs(place: Place) -> None:
    """The source tree that `kernel build` builds. The capture comes from `synth`."""
    tree = Tree(place.inputs / "linux-6.12.9")
    # What is known for debugging has the name of a temporary folder in it.
    tree.write("Makefile", MAKEFILE.replace("gcc -g", "gcc"))
    tree.hook("sleep 0.2")
    for series in ("6.1", "6.12"):
        patches = place.inputs / "data" / "patches" / series
        (patches / "optional").mkdir(parents=True)
        (patches / "0001-hz.patch").write_text(SERIES_PATCH)
    (place.inputs / "data" / "fragment.config").write_text("CONFIG_GOOD=y\n")


_SMOKE = ("run", "smoke", "--out", "OUT")
_FEW = ("--set", "network=high-speed", "--set", "loss.segments=0,1,5", "--kernel", SERIES)
_MODEL = ("--engine", "model", "--set", "loss.segments=0..9")
_TRACE = ("trace", "CAPTURE", "--out", "OUT")
_SHOW = ("show", "OUT")

COMMANDS = {
    "run model": Command(
        (*_SMOKE, *_MODEL, "--set", "repeat=20"), 4, is_whole=_is_run, reads=_SHOW
    ),
    "run model --capture": Command(
        (*_SMOKE, *_MODEL, "--capture"), 2, is_whole=_is_run, reads=_SHOW, has_shares=True
    ),
    "synth": Command(
        ("validate", "synth", "--mix", "campus", "--connections", "300", "--out", "OUT"),
        3,
        reads=("validate", "score", "OUT"),
        read_share=0.05,
        refuses_what_is_there=True,
    ),
    "trace": Command((*_TRACE, "--csv", "--replace"), 3, reads=("trace", "OUT"), before=_TRACE),
    "kernel build": Command(
        ("kernel", "build", "TREE"),
        3,
        is_whole=_is_built,
        reads=("kernel", "list", "--json"),
        starts_others=True,
        # The fake patches are put into the place of the real ones by the fork.
        may_be_process=False,
        first=_with_fake_patches,
    ),
    "run kernel": Command(
        (*_SMOKE, *_FEW),
        3,
        is_whole=_is_run,
        reads=_SHOW,
        kernel=True,
        has_shares=True,
        starts_others=True,
    ),
    "run kernel --capture": Command(
        (*_SMOKE, *_FEW, "--capture"),
        2,
        is_whole=_is_run,
        reads=_SHOW,
        kernel=True,
        has_shares=True,
        starts_others=True,
    ),
    "agree": Command(
        ("validate", "agree", "--kernel", SERIES, "--cases", "10", "--json", "--keep", "OUT"),
        2,
        is_whole=_no_claim,
        done_says='"failed": 0',
        prints=True,
        reads=("validate", "agree", "--again", "OUT", "--json"),
        kernel=True,
        has_shares=True,
        starts_others=True,
    ),
    "truth": Command(
        ("validate", "truth", "--kernel", SERIES, "--connections", "30", "--out", "OUT"),
        2,
        reads=("validate", "score", "OUT"),
        read_share=0.05,
        kernel=True,
        has_shares=True,
        starts_others=True,
        refuses_what_is_there=True,
    ),
}
