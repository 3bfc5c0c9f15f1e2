"""The seam to the named random streams of the Rust core: what a seed means is defined there."""

from __future__ import annotations

from typing import Protocol, cast

from rexmit.stacks import core


class Streams(Protocol):
    """Random numbers by (seed, name, index): the same for the same three, whatever else ran."""

    def stream_uniform(self, seed: int, name: str, index: int, count: int) -> list[float]:
        """`count` numbers from 0 up to, not including, 1."""
        ...

    def stream_u64(self, seed: int, name: str, index: int, count: int) -> list[int]:
        """`count` numbers of 64 bits."""
        ...


def core_streams() -> Streams:
    """The streams of `rexmit._core`. Raises UserError where that cannot be used."""
    return cast("Streams", core())
