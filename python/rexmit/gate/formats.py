"""Results for machines: KTAP, JUnit, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol
from xml.etree import ElementTree

from rexmit.gate.attempts import Named, Verdict
from rexmit.gate.verdicts import Result, exit_status

FORMAT: Final = 2
"""Of the JSON document. Raise it when a key goes or means something else."""


class JudgedItem(Named, Protocol):
    """What was judged: a test, or a cell of two runs."""

    @property
    def verdict(self) -> Verdict:
        """Of it."""

    @property
    def why(self) -> Sequence[str]:
        """What there is to say, in lines."""

    @property
    def parts(self) -> Sequence[str]:
        """Lines of KTAP, where it consists of several."""

    @property
    def virtual_s(self) -> float:
        """How long it ran by the kernel's clock."""


def ktap_head(tests: int) -> list[str]:
    """The lines that come before all results."""
    return ["KTAP version 1", f"1..{tests}"]


def ktap(number: int, judged: JudgedItem) -> Iterator[str]:
    """The lines of what is numbered `number`, from 1."""
    good = judged.verdict is Verdict.GOOD
    verdict = f"{'ok' if good else 'not ok'} {number} {judged.name.replace('#', '_')}"
    if judged.verdict is Verdict.CANNOT_TELL:
        verdict += " # ERROR cannot tell"
    # What a test consists of is set in by two spaces.
    if judged.parts:
        yield from (f"  {line}" for line in ("KTAP version 1", *judged.parts))
    yield from (f"# {line}" for line in judged.why)
    yield verdict


def summary(judged: Sequence[JudgedItem]) -> str:
    """How many have each verdict."""
    counts = [(sum(one.verdict is verdict for one in judged), verdict) for verdict in Verdict]
    return ", ".join(f"{count} {verdict}" for count, verdict in counts if count)


def as_json(results: Sequence[Result], made_by: Mapping[str, Any]) -> dict[str, Any]:
    """One document; `made_by` says with what."""
    return {
        "format": FORMAT,
        **made_by,
        "exit_status": exit_status(results),
        "results": [one.as_json() for one in results],
    }


def junit(judged: Sequence[JudgedItem], command: str) -> bytes:
    """A JUnit report: what is worse is a failure; a splat, or no verdict, is an error."""
    failures = [one for one in judged if one.verdict is Verdict.WORSE]
    good = [one for one in judged if one.verdict is Verdict.GOOD]
    suite = ElementTree.Element(
        "testsuite",
        name=f"rexmit {command}",
        tests=str(len(judged)),
        failures=str(len(failures)),
        errors=str(len(judged) - len(failures) - len(good)),
    )
    for one in judged:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_xml(one.group),
            name=_xml(one.part),
            time=f"{one.virtual_s:.6f}",
        )
        if one.verdict is not Verdict.GOOD:
            kind = "failure" if one.verdict is Verdict.WORSE else "error"
            why = [_xml(line) for line in one.why]
            failure = ElementTree.SubElement(
                case, kind, message=why[0] if why else "", type=one.verdict.value
            )
            failure.text = "\n".join(why)
    ElementTree.indent(suite)
    document: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _xml(line: str) -> str:
    """A line without the characters that no XML document may have."""
    return "".join(char if char.isprintable() else "?" for char in line.expandtabs())
