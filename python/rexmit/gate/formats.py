"""Results for machines: KTAP, JUnit, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree

from rexmit.gate.attempts import Verdict
from rexmit.gate.verdicts import Result, exit_status

FORMAT: Final = 1
"""Of the JSON document. Raise it when a key goes or means something else."""


def ktap_head(cases: int) -> list[str]:
    """The lines that come before all results."""
    return ["KTAP version 1", f"1..{cases}"]


def ktap(number: int, result: Result) -> Iterator[str]:
    """The lines of one result, which is the one numbered `number`, from 1."""
    good = result.verdict is Verdict.GOOD
    verdict = f"{'ok' if good else 'not ok'} {number} {result.case.name.replace('#', '_')}"
    if result.verdict is Verdict.CANNOT_TELL:
        verdict += " # ERROR cannot tell"
    yield from (f"# {line}" for line in result.why)
    if result.packet_logs > 1:
        yield f"# {result.packet_logs} different packet logs in {len(result.attempts)} runs"
    yield verdict


def summary(results: Sequence[Result]) -> str:
    """How many results have each verdict."""
    counts = [(sum(one.verdict is verdict for one in results), verdict) for verdict in Verdict]
    return ", ".join(f"{count} {verdict}" for count, verdict in counts if count)


def as_json(results: Sequence[Result], made_by: Mapping[str, Any]) -> dict[str, Any]:
    """One document; `made_by` says with what."""
    return {
        "format": FORMAT,
        **made_by,
        "exit_status": exit_status(results),
        "results": [one.as_json() for one in results],
    }


def junit(results: Sequence[Result]) -> bytes:
    """A JUnit report: a script that is worse is a failure; a splat, or no verdict, is an error."""
    failures = [one for one in results if one.verdict is Verdict.WORSE]
    good = [one for one in results if one.verdict is Verdict.GOOD]
    suite = ElementTree.Element(
        "testsuite",
        name="rexmit packetdrill",
        tests=str(len(results)),
        failures=str(len(failures)),
        errors=str(len(results) - len(failures) - len(good)),
    )
    for result in results:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_xml(result.case.shown),
            name=result.case.family,
            time=f"{max(one.virtual_s for one in result.attempts):.6f}",
        )
        if result.verdict is not Verdict.GOOD:
            kind = "failure" if result.verdict is Verdict.WORSE else "error"
            why = [_xml(line) for line in result.why]
            failure = ElementTree.SubElement(
                case, kind, message=why[0] if why else "", type=result.verdict.value
            )
            failure.text = "\n".join(why)
    ElementTree.indent(suite)
    document: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _xml(line: str) -> str:
    """A line without the characters that no XML document may have."""
    return "".join(char if char.isprintable() else "?" for char in line.expandtabs())
