"""The file: a head that lets nothing run but our own programs, then the data.

The Content-Security-Policy names the two scripts and the styles by their hashes and forbids all
else: nothing is fetched, and nothing that a capture holds can run. Data stands in elements that no
browser runs, as base64 of packed columns.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from rexmit import escaping
from rexmit.result.blocks import Block, Facts, Grid, Paragraph
from rexmit.tracing.glossary import GLOSSARY
from rexmit.tracing.terms import COLOURS, ON_DARK, WORDS
from rexmit.version import version
from rexmit.webpage import scripts
from rexmit.webpage.columns import Lines, packed
from rexmit.webpage.part import Part, Section, Table

FORMAT: Final = 1
"""Of the data in a page; its own programs read it, nothing else does."""

_UNREAD: Final = (
    "This page shows its contents with scripts of its own. If this sentence stays, scripts are "
    "switched off, the browser is older than 2023, or the file is damaged."
)

_TYPE: Final = "application/x-rexmit-columns"


def assembled(parts: Sequence[Part], title: str, command: str) -> Iterator[bytes]:
    """The page, piece by piece."""
    chunks = list(_chunks(parts))
    head = {
        "format": FORMAT,
        "version": version(),
        "title": title,
        "command": command,
        "parts": [_part(place, part) for place, part in enumerate(parts)],
        "mechanisms": {
            name: {
                "colour": colour,
                "dark": ON_DARK[name],
                "words": WORDS[name],
            }
            for name, colour in COLOURS.items()
        },
        "words": list(GLOSSARY.items()),
        "chunks": [name for name, _ in chunks],
    }
    yield _head(title)
    yield _chunk("head", packed({}, head))
    for name, data in chunks:
        yield _chunk(name, data)
    # What lacks this was cut short.
    yield b'<script type="application/x-rexmit-end" id="end"></script>\n</body>\n</html>\n'


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy() -> str:
    """What the browser may do: run our scripts, use our styles, and nothing else."""
    runs = f"{_hash(scripts.library())} {_hash(scripts.program())}"
    return (
        f"default-src 'none'; script-src {runs}; style-src {_hash(scripts.styles())}; "
        "base-uri 'none'; form-action 'none'"
    )


def _head(title: str) -> bytes:
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{html.escape(escaping.shown(title))}</title>",
        f"<style>{scripts.styles()}</style>",
        "</head>",
        "<body>",
        "<!-- uPlot, which draws the plots of this page:\n"
        + scripts.licence().replace("--", "- -")
        + "\n-->",
        f'<div id="app"><p class="unread">{_UNREAD}</p></div>',
        f"<script>{scripts.library()}</script>",
        f"<script>{scripts.program()}</script>",
    ]
    return "\n".join(lines).encode() + b"\n"


def _chunk(name: str, data: bytes) -> bytes:
    opening = f'<script type="{_TYPE}" id="{html.escape(name, quote=True)}">'
    return opening.encode() + base64.b64encode(data) + b"</script>\n"


def _chunks(parts: Sequence[Part]) -> Iterator[tuple[str, bytes]]:
    for place, part in enumerate(parts):
        for table in part.tables:
            yield _of_table(place, table), packed({"rows": table.frame})
        if part.time is not None:
            yield f"time-{place}", packed({"steps": part.time.steps}, part.time.about)
        for one in part.packets:
            yield f"packets-{place}-{one.key}", packed(one.tables, one.about)


def _of_table(place: int, table: Table) -> str:
    return f"table-{place}-{table.name}"


def _part(place: int, part: Part) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "name": part.name,
        "view": part.view,
        "rule": part.rule,
        "missing": part.missing,
        "sections": [_section(one) for one in part.sections],
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "rows": table.frame.height,
                "columns": table.frame.columns,
                "about": {name: list(words) for name, words in table.about.items()},
                "sort": table.sort,
                "opens": None if table.opens is None else asdict(table.opens),
                "command": table.command,
                "chunk": _of_table(place, table),
            }
            for table in part.tables
        ],
        "figures": [asdict(figure) for figure in part.figures],
        "packets": [
            {
                "key": one.key,
                "chunk": f"packets-{place}-{one.key}",
                "title": one.about["title"],
            }
            for one in part.packets
        ],
        "whatif": part.whatif,
        "pairs": list(part.pairs),
        "time": part.time and {"chunk": f"time-{place}", "command": part.time.command},
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "command": section.command,
        "blocks": [data for block in section.blocks if (data := _block(block))],
    }


def _block(block: Block) -> dict[str, Any] | None:
    """None where it says nothing."""
    match block:
        case Paragraph():
            text = block.kind + block.text
            return {"is": "paragraph", "text": text, "look": block.look} if text.strip() else None
        case Facts():
            return {"is": "facts", "pairs": block.pairs} if block.pairs else None
        case Grid():
            return {
                "is": "grid",
                "heads": [_lines(one.heads) for one in block.columns],
                "right": [one.right for one in block.columns],
                "rows": [
                    {
                        "texts": list(map(_lines, one.cells)),
                        "look": one.look,
                        "across": one.across,
                    }
                    for one in block.lines
                ],
            }


def _lines(cell: list[str]) -> Lines:
    return Lines("\n".join(cell))
