"""Numbers of lost segments: which a run has, and whether it has the one asked for."""

from __future__ import annotations

from rexmit.errors import UserError, argument
from rexmit.wording import count


def check_losses(asked: int, there: tuple[int, ...], what: str = "transfer") -> None:
    """Raises UserError when the run has no `what` with that many lost segments."""
    if asked not in there:
        raise UserError(
            f"the run has no {what} with {count(asked, 'lost segment')}",
            f"it has {numbers(there)}; choose with {argument('losses')} N",
        )


def numbers(values: tuple[int, ...]) -> str:
    """`0..20` for a run of neighbours, else `0, 2, 4`."""
    if len(values) > 2 and values == tuple(range(values[0], values[-1] + 1)):
        return f"{values[0]}..{values[-1]}"
    return ", ".join(str(v) for v in values)
