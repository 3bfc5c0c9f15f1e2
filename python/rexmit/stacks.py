"""TCP stacks of the model: which there are, and their settings after a scenario's changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from rexmit.errors import UserError, choice
from rexmit.values import dataclass
from rexmit.version import mended_by

if TYPE_CHECKING:
    from rexmit._core import StackPage

DEFAULT: Final = "linux-6.12"
"""The stack where nobody names one: the newest."""


@dataclass(frozen=True)
class Stack:
    """A stack as a scenario changes it."""

    name: str
    changes: Mapping[str, str]
    """Settings other than the stack's own."""
    settings: Mapping[str, str]
    """Every setting as text, with the configuration's sysctls and then the changes made."""
    work_ns: Mapping[str, int] = field(default_factory=dict)
    """How long its hosts work on what, where that takes time."""

    @property
    def hz(self) -> int:
        """Its timer ticks a second."""
        return int(self.settings["hz"])

    @property
    def has_mptcp(self) -> bool:
        """It speaks Multipath TCP."""
        return self.settings["mptcp_scheduler"] != "none"

    def plan(self) -> dict[str, Any]:
        """The STACK of a plan."""
        others = {key: value for key, value in self.changes.items() if key != "hz"}
        work = {f"{name}_ns": takes for name, takes in self.work_ns.items()}
        return {"name": self.name, "hz": self.hz, "set": others, "work": work}

    def plain(self) -> dict[str, Any]:
        """For run.json."""
        plain: dict[str, Any] = {"stack": self.name, "settings": dict(self.settings)}
        return plain | ({"work_ns": dict(self.work_ns)} if self.work_ns else {})


def core() -> ModuleType:
    """The compiled module. Raises UserError where the package was not built."""
    try:
        from rexmit import _core
    except ImportError as error:
        raise UserError(f"the compiled core cannot be used: {error}", mended_by()) from None
    return _core


def names() -> list[str]:
    """The stacks there are."""
    return list(core().stack_names())


def of_linux(version: str) -> str:
    """The stack of a kernel's version: its series', or the newest of those before it."""
    series = tuple(map(int, version.split(".")[:2]))
    linux = {
        tuple(map(int, name.removeprefix("linux-").split("."))): name
        for name in names()
        if name.startswith("linux-")
    }
    return linux[max((each for each in linux if each <= series), default=min(linux))]


def pages() -> list[StackPage]:
    """Their pages: every setting with its source."""
    return list(core().stack_pages())


def stack(name: str, changes: Mapping[str, str], sysctls: Mapping[str, str] | None = None) -> Stack:
    """The stack with sysctls and then the changes made. Raises ValueError for one that cannot be
    made.
    """
    settings = core().check_stack(name, dict(changes), dict(sysctls or {}))
    return Stack(name, dict(changes), dict(settings))


def problem(key: str, value: str) -> tuple[str, str] | None:
    """What is wrong with a setting by itself, and what to do; None for a good one."""
    if key == "name":
        there = names()
        if value in there:
            return None
        return f'there is no stack "{value}"', choice(value, there, "stacks")
    keys = list(stack(DEFAULT, {}).settings)
    if key not in keys:
        return "unknown key", choice(key, ("name", "work", *keys), "allowed here")
    try:
        # Whether it goes with the others, only the whole stack can say.
        core().check_setting(key, value)
    except ValueError as error:
        return str(error), f"`rexmit stacks {DEFAULT}` shows how it is written"
    return None


def known(name: str) -> str:
    """The name, if there is such a stack. Raises UserError (usage) with what there is."""
    there = names()
    if name not in there:
        raise UserError(f"there is no stack {name}", choice(name, there, "stacks"), usage=True)
    return name
