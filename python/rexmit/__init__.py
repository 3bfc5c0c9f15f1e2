"""A laboratory for TCP loss recovery: real Linux kernels in virtual time."""

from __future__ import annotations


def __getattr__(name: str) -> str:
    # Not at import: the program sees to signals before it loads anything.
    if name == "__version__":
        from rexmit._core import version

        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
