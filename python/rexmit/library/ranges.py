"""Arguments that are numbers: what is none, or out of its range, is told before any work."""

from __future__ import annotations

from math import isfinite

from rexmit.errors import UserError, argument


def whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Raises UserError (usage) where it is no whole number from `least` to `most`."""
    good = isinstance(value, int) and not isinstance(value, bool)
    if not good or value < least or (most is not None and value > most):  # type: ignore[operator]
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise UserError(argument(name, value), f"give a whole number {bounds}", usage=True)


def workers(jobs: object) -> None:
    """Raises UserError (usage) where it is neither None nor a number of threads or kernels."""
    if jobs is not None:
        whole("jobs", jobs, 1)


def part(name: str, value: object, most: float) -> None:
    """Raises UserError (usage) where it is no number from 0 to `most`."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not good or not 0 <= value <= most:  # type: ignore[operator]
        raise UserError(argument(name, value), f"give a number from 0 to {most:g}", usage=True)
