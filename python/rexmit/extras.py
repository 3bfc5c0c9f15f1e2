"""Packages that only some commands need, and the extra of rexmit that installs each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from rexmit.errors import UserError

EXTRAS: Final = {
    "cryptography": "cluster",
    "dask": "cluster",
    "distributed": "cluster",
    "matplotlib": "figures",
}
"""The extra of each package that rexmit imports where it is needed."""


def brought_by(package: str) -> str:
    """The command that installs a package of an extra."""
    return f"pip install 'rexmit[{EXTRAS[package]}]'"


def need(package: str) -> None:
    """Raises UserError where a package of an extra is not installed."""
    if find_spec(package) is None:
        raise _missing(package)


@contextmanager
def told() -> Iterator[None]:
    """Inside, an import of a package of an extra that is not installed raises UserError."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise _missing(package) from error


def _missing(package: str) -> UserError:
    return UserError(f"this needs {package}, which is not installed: {brought_by(package)}")
