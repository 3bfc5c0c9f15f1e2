"""A laboratory for TCP loss recovery: real Linux kernels in virtual time."""

from rexmit._core import version as _version

__version__ = _version()
