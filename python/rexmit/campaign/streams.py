"""The seam to the named random streams of the Rust core: what a seed means is defined there."""

from __future__ import annotations

from typing import Protocol

from rexmit.errors import UserError


class Streams(Protocol):
    """Random numbers by (seed, name, index): the same for the same three, whatever else ran."""

    def stream_uniform(self, seed: int, name: str, index: int, count: int) -> list[float]:
        """`count` numbers from 0 up to, not including, 1."""
        ...

    def stream_u64(self, seed: int, name: str, index: int, count: int) -> list[int]:
        """`count` numbers of 64 bits."""
        ...


def core_streams() -> Streams:
    """The streams of `rexmit._core`. Raises UserError where the package was not built."""
    try:
        from rexmit import _core
    except ImportError as error:
        raise UserError(
            f"the package is not built: {error}", "run `make` in the source tree"
        ) from None
    return _core
