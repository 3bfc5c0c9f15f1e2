"""Makes captures of scenes: each on a kernel of its own, several at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError
from rexmit.library.kernel_exec import Inside, run_inside
from rexmit.store.files import new_folder, scratch_folder, write_text
from rexmit.store.untrusted import copy_file
from rexmit_validate.synth.kinds import name_of
from rexmit_validate.troubles.inside import MODULE
from rexmit_validate.troubles.scenes import PLACES, SCENES, TLS

VERSION: Final = 1
META: Final = "troubles.json"
KINDS: Final = ("offload", "snapped")
"""What captures are rewritten as besides, as `validate synth --list` says."""

_POINTS: Final = {"server": "sender", "midway": "switch", "client": "receiver"}
_LINKS: Final = ("network=high-speed", "networks.high-speed.rate=100Mbit")


def make(
    folder: Path,
    names: Sequence[str],
    about: Mapping[str, Any],
    *,
    kernel: str | None,
    cores: Sequence[int],
    on_scene: Callable[[], None],
) -> None:
    """The new folder has `NAME.PLACE.pcap` of each scene, `NAME+KIND.PLACE` as others would have
    captured it, and troubles.json. Whole or not at all; raises UserError.
    """
    seed = int(about["seed"])
    with new_folder(folder) as new, ThreadPoolExecutor(max_workers=len(cores)) as pool:
        captures = new / "captures"
        captures.mkdir()

        def one(number: int) -> None:
            _one(captures, names[number], kernel, seed, cores[number % len(cores)])
            on_scene()

        list(pool.map(one, range(len(names))))
        write_text(new / META, json.dumps({**about, "troubles": list(names)}, indent=2) + "\n")


def _one(captures: Path, name: str, kernel: str | None, seed: int, core: int) -> None:
    """Scene and the same over TLS."""
    names = [name] if SCENES[name].tls else [name, name_of(name, TLS)]
    inside = Inside(
        kernel=kernel,
        net="smoke",
        settings=_LINKS,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        seed=seed,
    )
    with scratch_folder() as scratch:
        kept = scratch / "kept"
        ended = run_inside(["python3", "-m", MODULE, *names], inside, core=core, keep=kept)
        if ended.status:
            lines = ended.stderr.decode(errors="replace").strip().splitlines()
            raise UserError(f"{name} failed in the kernel", lines[-3:])
        for of in names:
            for place in PLACES:
                copy_file(kept / f"{of}.{place}.pcap", captures / f"{of}.{place}.pcap")
            for kind in KINDS:
                _rewrite(captures, of, kind, seed)


def _rewrite(captures: Path, name: str, kind: str, seed: int) -> None:
    """The captures of a scene, as others would have made them."""
    from rexmit._core import rewrite_captures, stream_u64

    new = name_of(name, kind)
    rewrite_captures(
        {
            "kind": kind,
            "seed": stream_u64(seed, f"captures of {new}", 0, 1)[0],
            "captures": [
                (point, captures / f"{name}.{place}.pcap", captures / f"{new}.{place}.pcapng")
                for place, point in _POINTS.items()
            ],
            "flow": [],
            "seq_start": [],
            "times_ns": [[] for _ in _POINTS],
        }
    )
