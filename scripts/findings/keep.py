"""Measuring a finding and keeping its result; confirming an old one by a sample of it."""

from __future__ import annotations

import hashlib
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from scripts.findings import results, stamps
from scripts.findings.documents import FOLDER
from scripts.findings.finding import Finding, Work
from scripts.findings.results import Made, Result

from rexmit.version import version

RUNS: Final = stamps.ROOT / "runs" / "findings"


def current(finding: Finding) -> bool:
    """Whether its result is there, of the code as it is now."""
    try:
        found = results.read(finding.name)
    except (OSError, ValueError):
        return False
    return not (older(finding, found) or changed(found))


def older(finding: Finding, result: Result) -> list[str]:
    """The patterns of files that have changed since it was measured, come or gone."""
    now = stamps.stamps(finding.code)
    return [one for one in sorted(now.keys() | result.code) if now.get(one) != result.code.get(one)]


def changed(result: Result, folder: Path = FOLDER) -> list[str]:
    """Figures and long tables that are not what was measured."""
    return [
        name
        for name, digest in result.files.items()
        if not (folder / name).is_file() or _digest(folder / name) != digest
    ]


def measure(finding: Finding, say: Callable[[str], None]) -> Path:
    """Measures all of it. What is kept below runs/ of the same code is not measured again."""
    work = _work(finding, say)
    began = _clocks()
    data = finding.measure(work)
    sample = finding.sample(_part(work)) if finding.sample else {}
    seconds, cores_s = _spent(work, began)
    made = Made(
        command=command(finding),
        rexmit=version(),
        commit=commit(),
        tier=finding.tier,
        seconds=seconds,
        cores_s=cores_s,
        kernels=sorted(work.kernels),
    )
    kept = {path.relative_to(FOLDER).as_posix(): _digest(path) for path in sorted(work.made)}
    _sweep(finding, kept.keys())
    return results.write(
        Result(finding.name, made, stamps.stamps(finding.code), data, kept, sample)
    )


def commit() -> str | None:
    """The checkout's, with `+dirty` where files differ from it that are not written here; None
    where there is no git.
    """
    words = ["git", "--no-optional-locks", "-C", str(stamps.ROOT)]
    try:
        head, changed = (
            subprocess.run([*words, *more], check=True, capture_output=True, text=True).stdout
            for more in (
                ("rev-parse", "--short=12", "HEAD"),
                ("status", "--porcelain", "--", ".", ":!docs/findings"),
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.strip() + ("+dirty" if changed else "")


def _sweep(finding: Finding, kept: Collection[str]) -> None:
    """Removes figures and long tables that its result had before and has no longer."""
    try:
        before = results.read(finding.name).files
    except (OSError, ValueError):
        return
    for name in before:
        if name not in kept:
            (FOLDER / name).unlink(missing_ok=True)


def command(finding: Finding) -> str:
    """What measures it."""
    return f"make findings TIER={finding.tier} ONLY={finding.name}"


def confirm(finding: Finding, say: Callable[[str], None]) -> list[str]:
    """Measures the sample of a result of older code. Where all of it is the same, the result is of
    today's code; else what differs is returned, and all has to be measured.
    """
    result = results.read(finding.name)
    if not (finding.sample and result.sample):
        return ["it has no sample"]
    work = _work(finding, say)
    with_sample = dict(finding.sample(_part(work)))
    other = sorted(
        name
        for name in with_sample.keys() | result.sample.keys()
        if with_sample.get(name) != result.sample.get(name)
    )
    if not other:
        said = f"by a sample ({len(with_sample)} of its runs, alike) at {commit() or version()}"
        made = replace(result.made, confirmed=said)
        results.write(replace(result, made=made, code=stamps.stamps(finding.code)))
    return other


def _work(finding: Finding, say: Callable[[str], None]) -> Work:
    """A folder for what is measured, empty where the program is another than of what is in it: runs
    depend on it and on their settings, which the names of their folders tell or their contents do.
    """
    folder = RUNS / finding.name
    mark = folder / "stamp"
    code = stamps.stamps(one for one in finding.code if not one.startswith("scripts/"))
    stamp = "\n".join(code.values())
    if not mark.is_file() or mark.read_text() != stamp:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        mark.write_text(stamp)
    return Work(folder, FOLDER, say)


def _clocks() -> tuple[float, float]:
    """The time, and what processors have worked for this program and what it ran, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.monotonic(), sum(one.ru_utime + one.ru_stime for one in used)


def _spent(work: Work, began: tuple[float, float]) -> tuple[float, ...]:
    """All that its folder took: what was there before did not take it now."""
    file = work.folder / "spent"
    before = map(float, file.read_text().split()) if file.is_file() else (0.0, 0.0)
    pairs = zip(before, began, _clocks(), strict=True)
    spent = tuple(old + now - start for old, start, now in pairs)
    file.write_text(" ".join(map(str, spent)))
    return spent


def _part(work: Work) -> Work:
    """Where the sample is measured, always anew."""
    folder = work.folder / "sample"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return Work(folder, folder, work.say)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
