"""The TCP stacks of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rexmit.stacks import known, pages

if TYPE_CHECKING:
    from rexmit._core import StackPage


def list_stacks() -> list[StackPage]:
    """The stacks of the model: each with its `name`, what it is `about`, and its `settings`."""
    return pages()


def stack(name: str) -> StackPage:
    """One stack. Each of its `settings` has a name, its value as text, the source of the value,
    what it is about, and what is allowed. Raises UserError where there is no such stack.
    """
    known(name)
    return next(page for page in pages() if page.name == name)
