"""Kernels as programs: building them, keeping them, finding them."""

from rexmit.kernels.cache import kernels, remains
from rexmit.kernels.kernel import Kernel
from rexmit.kernels.lookup import default, find

__all__ = ["Kernel", "default", "find", "kernels", "remains"]
