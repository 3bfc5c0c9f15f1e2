"""The claims once more, by a seed that nobody has seen: it follows from the code, so that every
change of it draws another. What the verdicts of documents owe to the seed they are of shows here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from scripts.findings import corpora, lab, mptcp_2017, results, stamps, tlp_2013, unc_2007
from scripts.findings.corpora import KINDS, MIXES
from scripts.findings.finding import Work
from scripts.findings.markdown import table
from scripts.findings.results import Data, Value

import rexmit
from rexmit_papers.claim import Claim

CODE: Final = (*tlp_2013.CODE, *mptcp_2017.CODE, *corpora.CODE, "scripts/findings/other_seeds.py")
MPTCP: Final = {"model of 4.1": mptcp_2017.OLD, "model of 6.12": "linux-6.12"}
WORDS: Final = ("holds", "does not")
"""Of verdicts that are decided."""


def seed() -> int:
    """Of the code as it is."""
    digests = "".join(stamps.stamps(CODE).values())
    return int(hashlib.sha256(digests.encode()).hexdigest()[:7], 16)


def measure(work: Work) -> Data:
    """Both papers on models, and the study's six."""
    drawn = seed()
    verdicts = [row for claims in _claims(work, drawn) for row in claims]
    return Data({"seed": drawn}, {"verdicts": verdicts})


def sample(work: Work) -> Mapping[str, str]:
    """Of each a few transfers, by the usual seed."""
    small = {"repeat": "1", "loss.segments": "5"}
    runs = {
        "bench": lab.on_model(work, "bench", tlp_2013.BENCH, None, small),
        "lab": lab.on_model(work, "lab", "tlp-2013", "linux-3.10", small),
        **{
            name: lab.on_model(work, name, mptcp_2017.PAPER, stack, {"repeat": "1"})
            for name, stack in MPTCP.items()
        },
    }
    return {**lab.digest(runs, ("t_total_s", "t_recover_s", "mechanism")), **unc_2007.sample(work)}


def _claims(work: Work, drawn: int) -> Iterator[Iterator[dict[str, Value]]]:
    again = {"seed": drawn}
    bench = lab.on_model(work, "bench", tlp_2013.BENCH, None, again)
    wires = lab.on_model(work, "lab", "tlp-2013", "linux-3.10", again)
    yield _rows("tlp-2013", "bench", rexmit.claims(bench))
    yield _rows("tlp-2013", "lab", rexmit.claims(wires))
    for name, stack in MPTCP.items():
        run = lab.on_model(work, name, mptcp_2017.PAPER, stack, again)
        yield _rows("mptcp-2017", name, rexmit.claims(run))
    for kind in KINDS:
        for mix in MIXES:
            yield _rows("unc-2007", f"{kind} {mix}", corpora.studied(work, kind, mix, drawn).claims)


def _rows(finding: str, where: str, claims: Iterable[Claim]) -> Iterator[dict[str, Value]]:
    for one in claims:
        yield {"finding": finding, "where": where, "key": one.key, "holds": one.word}


def _known(finding: str) -> dict[tuple[Value, Value], Value]:
    """The verdicts of its result, by where and key."""
    rows = results.read(finding).data.rows("claims")
    if finding == "tlp-2013":
        return {(where, row["key"]): row[where] for row in rows for where in ("bench", "lab")}
    if finding == "mptcp-2017":
        return {(row["run"], row["key"]): row["holds"] for row in rows}
    return {(f"{row['kind']} {row['mix']}", row["key"]): row["holds"] for row in rows}


def _beside(finding: str, data: Data) -> str:
    """How many verdicts are the same by both seeds, and which are not."""
    known = _known(finding)
    pairs = [
        (row, str(known[row["where"], row["key"]]), str(row["holds"]))
        for row in data.rows("verdicts")
        if row["finding"] == finding and row["holds"] in (*WORDS, "undecided")
    ]
    other = [(row, old, new) for row, old, new in pairs if old != new]
    opposite = sum(old in WORDS and new in WORDS for _, old, new in other)
    words = (
        f"By seed {data.values['seed']}, {len(pairs) - len(other)} of {len(pairs)} verdicts are "
        f"the same, {opposite} are the opposite"
    )
    if not other:
        return f"{words}."
    lines = [(f"`{row['key']}`", str(row["where"]), old, new) for row, old, new in other]
    return f"{words}:\n\n{table(('claim', 'of', 'above', 'by it'), lines)}"


def _table(finding: str) -> Callable[[Data], str]:
    return lambda data: _beside(finding, data)


TABLES: Final[Mapping[str, Callable[[Data], str]]] = {
    finding: _table(finding) for finding in ("tlp-2013", "mptcp-2017", "unc-2007")
}
