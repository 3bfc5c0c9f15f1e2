"""The version of the installed package, which runs, traces and corpora are signed with."""

from __future__ import annotations


def version() -> str:
    """As its distribution says; `0+unknown` for a source tree that is not installed."""
    # Not at import: the program sees to signals before it loads anything.
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("rexmit")
    except PackageNotFoundError:
        return "0+unknown"
