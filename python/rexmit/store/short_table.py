"""What a folder of results prints as, and shows in a notebook: a short table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from rexmit.escaping import shown

_MOST = 8


class ShortTable(ABC):
    """Prints as a table of facts."""

    @abstractmethod
    def about(self) -> list[tuple[str, str]]:
        """Labels, and what is to be said of each."""

    def __repr__(self) -> str:
        facts = [(shown(label), shown(text)) for label, text in self.about()]
        wide = max(len(label) for label, _ in facts)
        return "\n".join(f"{label:<{wide}}  {text}" for label, text in facts)

    def _repr_html_(self) -> str:
        import html

        rows = (
            f"<tr><th style='text-align: left'>{html.escape(shown(label))}</th>"
            f"<td style='text-align: left'>{html.escape(shown(text))}</td></tr>"
            for label, text in self.about()
        )
        return f"<table>{''.join(rows)}</table>"


def listed(values: Iterable[object]) -> str:
    """`er, tlp`; `0..20`; of many the first and the last."""
    there: Sequence[object] = list(values)
    whole = sorted(value for value in there if isinstance(value, int))
    if len(there) == len(whole) > 2 and whole == list(range(whole[0], whole[-1] + 1)):
        return f"{whole[0]}..{whole[-1]}"
    texts = ["default" if value is None else str(value) for value in there]
    if len(texts) > _MOST:
        texts[_MOST - 2 : -1] = ["…"]
    return ", ".join(texts)
