"""What a shell offers after TAB: the names of what there is.

Each function gets what is typed of a word. The shell waits for it, so it loads no more than it
needs; what fails offers nothing. Where nothing is offered, shells offer files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rexmit.errors import UserError


def _offered(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Those that begin as what is typed."""

    def offer(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except (OSError, UserError):
            return []

    return offer


@_offered
def engines() -> list[str]:
    """What runs transfers."""
    return ["kernel", "model"]


@_offered
def kernels() -> list[str]:
    """The kernels that are built or added, by name, and the series of those that were built."""
    from rexmit.kernels.cache import kernels as present
    from rexmit.kernels.kernel import UML

    built = present()
    series = dict.fromkeys(one.series for one in built if one.engine == UML)
    return [*series, *(one.name for one in built)]


@_offered
def stacks() -> list[str]:
    """The stacks of the model."""
    from rexmit.stacks import names

    return names()


@_offered
def parts() -> list[str]:
    """What `rexmit doctor` looks at."""
    from rexmit.library.doctor import PARTS

    return list(PARTS)


@_offered
def scenarios() -> list[str]:
    """Scenarios that have a name."""
    from rexmit.scenario.find import names

    return list(names())


@_offered
def series() -> list[str]:
    """The series of Debian's kernels that can be built."""
    from rexmit.kernels.recipe import patched_series

    return patched_series()


@_offered
def patches() -> list[str]:
    """Optional patches of kernels."""
    from rexmit.kernels.recipe import optional_names

    return optional_names()


@_offered
def fragments() -> list[str]:
    """Fragments of configuration for kernels."""
    from rexmit.kernels.recipe import fragments as known

    return list(known())
