"""The corpora of UNC 2007, and its study of them: four stacks in three mixes, with the values that
its Table I prints and as the systems' sources have them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.findings.finding import Work
from scripts.findings.stamps import MODEL, TRACE

import rexmit
from rexmit import Analysis, Trace
from rexmit_papers.library.study import UncStudy, study

CONNECTIONS: Final = 6_000
"""Of each stack and mix."""

SEED: Final = 2_007

MIXES: Final = ("campus", "server-farm", "wireless")

PRINTED: Final = ("linux-2.4", "windows-xp-unc2007", "freebsd-5-unc2007", "solaris-10-unc2007")
REAL: Final = ("linux-2.4", "windows-xp", "freebsd-5", "solaris-10")
KINDS: Final[Mapping[str, tuple[str, ...]]] = {"printed": PRINTED, "real": REAL}
"""The stacks as printed, and as they are."""

EMULATED: Final[Mapping[str, tuple[str, ...]]] = {"printed": ("unc-2007",), "real": REAL}

RECEIVERS: Final = ("windows-xp",) * 6 + ("linux-2.4",) * 2 + ("solaris-10", "freebsd-5")
"""Whoever sends, the receivers are those of the time: most of them Windows (Table III)."""

CODE: Final = (
    *MODEL,
    *TRACE,
    "python/rexmit_validate/synth/*.py",
    "python/rexmit_validate/synth/*.toml",
    *(f"python/rexmit_papers/unc_2007/{name}.py" for name in ("claims", "curves", "parameters")),
    *(
        f"python/rexmit_papers/unc_2007/{name}.py"
        for name in ("related_claims", "senders", "setting_claims", "systems")
    ),
    *(f"python/rexmit_papers/unc_2007/{name}.py" for name in ("paper", "tables", "evidence")),
    "scripts/findings/corpora.py",
)


def corpus(work: Work, stack: str, mix: str, seed: int = SEED) -> Path:
    """The folder of the corpus of a stack in a mix, made where it is not there."""
    folder = work.folder / f"corpora-{CONNECTIONS}-{seed}" / f"{stack}-{mix}"
    if not folder.exists():
        work.say(f"{CONNECTIONS:,} connections of {stack}, {mix}")
        made(folder, stack, mix, CONNECTIONS, seed)
    return folder


def made(folder: Path, stack: str, mix: str, connections: int, seed: int = SEED) -> list[Path]:
    """Makes a corpus; its captures."""
    rexmit.synth(
        out=folder,
        connections=connections,
        mix=mix,
        stacks=[stack],
        receivers=RECEIVERS,
        seed=seed,
        perturb=0.0,
        points=["sender"],
    )
    return sorted((folder / "captures").iterdir())


def studied(work: Work, kind: str, mix: str, seed: int = SEED) -> UncStudy:
    """The study of a mix, each stack's captures a trace of its own."""
    emulated = Analysis(stacks=EMULATED[kind])
    return study([_traced(work, kind, mix, stack, seed, emulated) for stack in KINDS[kind]])


def studied_by_all(work: Work, mix: str) -> UncStudy:
    """The same of all corpora of a mix, by all stacks, for whose connections they explain."""
    stacks = dict.fromkeys((*PRINTED, *REAL))
    every = Analysis(stacks=[], whatif=[])
    return study([_traced(work, "all", mix, stack, SEED, every) for stack in stacks])


def _traced(work: Work, name: str, mix: str, stack: str, seed: int, analysis: Analysis) -> Trace:
    folder = work.folder / f"traces-{CONNECTIONS}-{seed}" / f"{name}-{mix}" / stack
    if not (folder / "trace.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        captures = sorted((corpus(work, stack, mix, seed) / "captures").iterdir())
        work.say(f"what the senders of {stack} did, {mix}, {name}")
        rexmit.trace(captures, out=folder, analysis=analysis)
    return rexmit.trace(folder)
