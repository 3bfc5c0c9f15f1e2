"""Measures findings anew where code has changed, and brings their documents up to date.

python -m scripts.findings                what takes minutes; of what takes hours a sample
python -m scripts.findings --tier hours   all
python -m scripts.findings NAME…          these results, though nothing has changed
python -m scripts.findings --documents    documents alone, from the results that are there
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from scripts.findings import documents, keep, results
from scripts.findings.finding import TIERS, Finding
from scripts.findings.registry import FINDINGS, sources

from rexmit.errors import UserError
from rexmit.store.files import write_text


def main(words: Sequence[str] | None = None) -> int:
    """Does what the words say; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.findings",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FINDINGS))
    parser.add_argument("--tier", choices=TIERS, default="minutes")
    parser.add_argument("--documents", action="store_true")
    asked = parser.parse_args(words)
    if unknown := [name for name in asked.names if name not in FINDINGS]:
        parser.error(f"{', '.join(unknown)}: there are {', '.join(FINDINGS)}")
    try:
        wrong = [] if asked.documents else measured(asked.names, asked.tier)
        for line in wrong + written():
            print(line, file=sys.stderr)
    except (UserError, ValueError, OSError) as error:
        print(f"findings: {error}", file=sys.stderr)
        return 1
    return 1 if wrong else 0


def measured(names: Sequence[str], tier: str) -> list[str]:
    """Measures; what is left to be measured."""
    wrong = []
    for finding in FINDINGS.values():
        if names:
            if finding.name in names:
                _whole(finding)
        elif keep.current(finding):
            _say(f"{finding.name}: of the code as it is")
        elif finding.tier == "minutes" or tier == "hours":
            _whole(finding)
        elif left := _sample(finding):
            wrong.append(f"{left}: {keep.command(finding)}")
    return wrong


def _whole(finding: Finding) -> None:
    _say(f"== {finding.name}")
    path = keep.measure(finding, _say)
    _say(f"{path}: {results.read(finding.name).made.seconds:.0f} s")


def _sample(finding: Finding) -> str:
    if not results.path(finding.name).exists():
        return f"{finding.name} was never measured"
    _say(f"== a sample of {finding.name}")
    if other := keep.confirm(finding, _say):
        return f"{finding.name} is of older code, and gives other numbers now ({', '.join(other)})"
    _say("the same")
    return ""


def written() -> list[str]:
    """Brings documents up to date; what of the results they do not use."""
    known = sources()
    for path in documents.documents():
        old = path.read_text(encoding="utf-8")
        new = documents.filled(old, known, path.name)
        if new != old:
            write_text(path, new)
            _say(f"{path}: written")
    return [
        f"{name}: no document has {left}" for name, one in known.items() for left in one.unused()
    ]


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
