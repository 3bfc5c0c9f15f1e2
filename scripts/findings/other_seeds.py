"""The claims once more, by a seed that nobody has seen: it follows from the code, so that what
changes a number draws another. What verdicts owe to the seed of the documents shows here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from scripts.findings import corpora, lab, mptcp_2017, stamps, tlp_2013, unc_2007
from scripts.findings.corpora import KINDS, MIXES
from scripts.findings.finding import Work
from scripts.findings.results import Data, Value

import rexmit
from rexmit_papers.claim import Claim

CODE: Final = (*tlp_2013.CODE, *mptcp_2017.CODE, *corpora.CODE, "scripts/findings/other_seeds.py")
MPTCP: Final = {"model of 4.1": mptcp_2017.OLD, "model of 6.12": "linux-6.12"}


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
