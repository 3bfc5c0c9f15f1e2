"""Parts of a corpus once more, with other hosts and captures.

There are two sorts of kinds. Most are of captures: the part is rewritten (`crates/sim/src/monitor`
says how), and the truth is that of the plain part; only the times at which a capture shows a
retransmission move with its clock and its super-segments, and are null where it missed the packet.
Others are of hosts, which behave in another way (`behaviours.toml`): these parts are made, with a
truth of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rexmit.errors import UserError, argument, choice
from rexmit.store.files import whole_file
from rexmit_validate.synth import behaviours

if TYPE_CHECKING:
    import polars as pl

PLAIN: Final = "plain"
"""The kind of parts that are as they were made."""

POINTS: Final = ("sender", "switch", "receiver")


def of_captures() -> dict[str, str]:
    """The kinds whose parts are rewritten: what each is in a line, by name."""
    from rexmit._core import kind_names

    return dict(kind_names())


def of_hosts() -> dict[str, str]:
    """The kinds whose parts are made: what each is in a line, by name."""
    return {name: table["about"] for name, table in behaviours.known().items()}


def known() -> dict[str, str]:
    """What each kind is in a line, by name."""
    return of_captures() | of_hosts()


def made(wanted: Iterable[str]) -> tuple[str, ...]:
    """The kinds in which parts are made: plain, and those of `wanted` that are of hosts."""
    there = of_hosts()
    return (PLAIN, *(kind for kind in wanted if kind in there))


def name_of(part: str, kind: str) -> str:
    """What the part is called that is `part` in this kind."""
    return part if kind == PLAIN else f"{part}+{kind}"


def chosen(text: str) -> tuple[str, ...]:
    """The kinds that a user names: `none`, `all`, or names with commas."""
    there = known()
    if text == "none":
        return ()
    if text == "all":
        return tuple(there)
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in names:
        if name not in there:
            raise UserError(
                f"{argument('kinds')} {text}: there is no kind {name}",
                choice(name, (*there, "all", "none"), "kinds"),
                usage=True,
            )
    return names


def add(folder: Path, kinds: Iterable[str], seed: int, jobs: int) -> None:
    """Add each plain part of the corpus in `folder` once more in each of `kinds` that are of
    captures, as `PART+KIND`."""
    import polars as pl

    there = of_captures()
    wanted = tuple(kind for kind in kinds if kind in there)
    if not wanted:
        return
    tables = {name: pl.read_parquet(folder / f"{name}.parquet", glob=False) for name in _TABLES}
    plain = tables["connections"].filter(kind=PLAIN)
    parts = plain["part"].unique(maintain_order=True).to_list()
    retransmissions = {part: tables["retransmissions"].filter(part=part) for part in parts}
    cases = [(part, kind) for part in parts for kind in wanted]

    def rewrite(case: tuple[str, str]) -> pl.DataFrame:
        return _rewrite(folder, *case, retransmissions[case[0]], seed)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        rewritten = list(pool.map(rewrite, cases))
    connections = [
        _named(tables["connections"].filter(part=part), part, kind) for part, kind in cases
    ]
    for name, more in (("retransmissions", rewritten), ("connections", connections)):
        with whole_file(folder / f"{name}.parquet") as file:
            pl.concat([tables[name], *more]).write_parquet(file, compression="zstd")


_TABLES: Final = ("retransmissions", "connections")


def _rewrite(
    folder: Path, part: str, kind: str, retransmissions: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Write the captures of `part` in this kind; its retransmissions as they show them."""
    import polars as pl

    from rexmit._core import rewrite_captures, stream_u64

    captures = folder / "captures"
    files = {
        point: path
        for point in POINTS
        for path in (captures / f"{part}-{point}.{ending}" for ending in ("pcapng", "pcap"))
        if path.exists()
    }
    # What is drawn for a part depends on its name and kind alone, not on what else is made.
    request = {
        "kind": kind,
        "seed": stream_u64(seed, f"captures of {name_of(part, kind)}", 0, 1)[0],
        "captures": [
            (point, path, captures / f"{name_of(part, kind)}-{point}.pcapng")
            for point, path in files.items()
        ],
        "flow": retransmissions["flow"].to_list(),
        "seq_start": retransmissions["seq_start"].to_list(),
        "times_ns": [retransmissions[f"{point}_ns"].to_list() for point in files],
    }
    seen = pl.DataFrame(rewrite_captures(request))
    return _named(retransmissions.with_columns(seen.get_columns()), part, kind)


def _named(rows: pl.DataFrame, part: str, kind: str) -> pl.DataFrame:
    import polars as pl

    return rows.with_columns(
        pl.lit(name_of(part, kind)).alias("part"), pl.lit(kind).alias("kind")
    ).select(rows.columns)
