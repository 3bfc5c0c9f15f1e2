"""What a user wants of every command, from a file: `~/.config/rexmit/config.toml`.

The program reads it. Who imports rexmit says by arguments what is wanted, and nothing is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError, choice
from rexmit.values import dataclass

VARIABLE: Final = "REXMIT_CONFIG"
"""The environment names another file by it, or none: it is empty then."""

COLORS: Final = ("auto", "always", "never")


@dataclass(frozen=True)
class Configuration:
    """What the file says. Its keys are the fields' names, but for the first."""

    path: Path | None = None
    """The file that was read."""
    color: str = "auto"
    """Whether what is printed has colours; `auto`: on a terminal that has them."""
    folder: Path | None = None
    """Where runs and pages go that are given no other place."""
    names: bool = True
    """Whether names of servers and paths of requests are shown."""


_KEYS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "color": (COLORS.__contains__, '"auto", "always" or "never"'),
    "folder": (lambda value: isinstance(value, str) and value != "", 'a text, as "~/measured"'),
    "names": (lambda value: isinstance(value, bool), "true or false"),
}
"""What each key may be, and how that is said."""

_current = Configuration()


def current() -> Configuration:
    """What the user of this process wants; all defaults where the program did not ask."""
    return _current


def use(wanted: Configuration) -> None:
    """From here on that is wanted."""
    global _current
    _current = wanted


def runs() -> Path:
    """The folder below which runs go that are given none."""
    return _current.folder or Path("runs")


def place() -> Path | None:
    """Where the file is, or would be; None where none is to be read."""
    given = os.environ.get(VARIABLE)
    if given == "":
        return None
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return _at_home(given or f"{base}/rexmit/config.toml")


def _at_home(path: str) -> Path:
    # `Path.expanduser` fails for who has no home.
    return Path(os.path.expanduser(path))  # noqa: PTH111


def read() -> Configuration:
    """What the file says; all defaults where there is none. Raises UserError."""
    path = place()
    # `os.path` says of a folder that cannot be searched that nothing is there.
    if path is None or (VARIABLE not in os.environ and not os.path.isfile(path)):  # noqa: PTH113
        return Configuration()
    from rexmit import toml_file

    try:
        data, text = toml_file.read(path)
        _check(path, data, text)
    except UserError as error:
        other = f"to read none: {VARIABLE}= before the command; another: {VARIABLE}=FILE"
        raise UserError(error.what, [*(error.hint or "").splitlines(), other]) from None
    if "folder" in data:
        data["folder"] = _at_home(data["folder"])
    return Configuration(path, **data)


def _check(path: Path, data: dict[str, Any], text: str) -> None:
    for key, value in data.items():
        is_good, good = _KEYS.get(key, (None, ""))
        if is_good is not None and is_good(value):
            continue
        from rexmit._core import toml_lines

        where = f"{path}:{toml_lines(text).get((key,), 1)}"
        if is_good is not None:
            raise UserError(f"{where}: {key}: {value!r} is no such setting", f"give {good}")
        raise UserError(f"{where}: there is no key {key}", choice(key, _KEYS, "keys"))
