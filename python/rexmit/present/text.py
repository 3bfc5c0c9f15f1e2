"""Texts with styles, of names that somebody else chose."""

from __future__ import annotations

from typing import Any, Self

import rich.text

from rexmit.escaping import shown


class Text(rich.text.Text):
    """A line. What is hidden in it is `shown`; of control characters Rich would drop some."""

    def __init__(self, text: str = "", *args: Any, **options: Any) -> None:  # noqa: ANN401 - as Rich's
        super().__init__(shown(text), *args, **options)

    def append(self, text: rich.text.Text | str, style: Any = None) -> Self:  # noqa: ANN401 - as Rich's
        """Add a text at the end."""
        super().append(shown(text) if isinstance(text, str) else text, style)
        return self
