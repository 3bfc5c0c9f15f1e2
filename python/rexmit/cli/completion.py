"""What a shell offers after TAB: the names of what there is. And how it comes to ask.

Each function gets what is typed of a word. The shell waits for it, so it loads no more than it
needs; what fails offers nothing. Where nothing is offered, shells offer files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from rexmit import outputs
from rexmit.errors import EXIT_OK, UserError


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
    return ["kernel", "model", "live"]


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


_PLACES: Final = {
    "bash": (".bash_completions/rexmit.sh", ".bashrc", "source ~/.bash_completions/rexmit.sh"),
    "fish": (".config/fish/completions/rexmit.fish", None, ""),
    "zsh": (".zfunc/_rexmit", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
}
"""Of each shell where it is told how to complete, in the home folder, and the line that has it read
that.
"""


def show(asked: bool) -> None:
    """What the current shell takes to complete words, on standard output."""
    if asked:
        outputs.lines(_script()[1])
        raise SystemExit(EXIT_OK)


def install(asked: bool) -> None:
    """Lets the current shell complete words from its next start on."""
    if not asked:
        return
    from pathlib import Path

    from rexmit.store.files import write_text
    from rexmit.store.opening import named_folder

    shell, script = _script()
    place, read, line = _PLACES[shell]
    path = Path.home() / place
    named_folder(path.parent)
    write_text(path, script)
    if read is not None:
        # writes: a file of the user's own, which may be a link to where it is kept
        with (Path.home() / read).open("a+", encoding="utf-8") as file:  # writes: at its end
            file.seek(0)
            if line not in file.read().splitlines():
                file.write(f"\n{line}\n")
    outputs.line(f"{shell} completion installed in {path}")
    raise SystemExit(EXIT_OK)


def _script() -> tuple[str, str]:
    """The current shell, and what it takes to complete words. Raises UserError."""
    import click
    import shellingham
    from click.shell_completion import get_completion_class

    try:
        shell = shellingham.detect_shell()[0]
    except shellingham.ShellDetectionFailure:
        raise UserError("which shell this is cannot be seen") from None
    kind = get_completion_class(shell) if shell in _PLACES else None
    if kind is None:
        raise UserError(f"{shell} cannot be told what to complete", "try bash, fish or zsh")
    program = click.get_current_context().find_root().command
    return shell, kind(program, {}, "rexmit", "_REXMIT_COMPLETE").source()
