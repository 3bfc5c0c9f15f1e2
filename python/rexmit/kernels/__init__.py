"""Kernels as programs: building them, keeping them, finding them."""

from rexmit.kernels.cache import Kernel, default, find, kernels

__all__ = ["Kernel", "default", "find", "kernels"]
