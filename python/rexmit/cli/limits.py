"""Bounds of options that several commands have."""

from typing import Final

MOST_JOBS: Final = 4096
"""Threads, kernels or compilers at a time: more than any machine has cores, and few enough to be
begun."""
