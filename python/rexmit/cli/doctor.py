"""`rexmit doctor`: what is there, what is missing, and the command that brings it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.as_json import print_json
from rexmit.cli.front import Argument, Option
from rexmit.errors import EXIT_FAILED

if TYPE_CHECKING:
    from rexmit.library.doctor import Finding

EXAMPLES = """\
Examples:

\b
  rexmit doctor                                    all there is to know
  rexmit doctor kernel && rexmit run smoke         only where kernels can be run
  rexmit doctor --json | jq -r '.findings[] | select(.found == null).remedy'
"""


def doctor(
    parts: Annotated[
        list[str] | None,
        Argument(
            metavar="[PART...]",
            help="Only of these: trace (and the model), kernel, images, wireshark, figures, "
            "cluster, settings (the file that was read).",
            show_default=False,
            autocompletion=completion.parts,
        ),
    ] = None,
    json_output: Annotated[bool, Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """Say what rexmit finds of what it needs on this machine, what is missing, and the command that
    brings it. Nothing is changed.

    Packages have Debian's names. What says `needed` is what its part does not work without.

    Exit status: 0; 1 where a part that was named lacks something that it needs.
    """
    from rexmit.library.doctor import doctor as look

    findings = look(parts or ())
    if json_output:
        _as_json(findings)
    else:
        _print(findings)
    if parts and any(finding.missing for finding in findings):
        raise SystemExit(EXIT_FAILED)


def _print(findings: list[Finding]) -> None:
    width = max(len(finding.name) for finding in findings)
    for part in dict.fromkeys(finding.part for finding in findings):
        of_part = [finding for finding in findings if finding.part == part]
        ready = "not ready" if any(finding.missing for finding in of_part) else "ready"
        outputs.line(f"{part}: {ready}")
        for finding in of_part:
            if finding.found is not None:
                outputs.line(f"  {finding.name:<{width}}  {finding.found}")
                continue
            need = "missing, needed" if finding.needed else "missing"
            outputs.line(f"  {finding.name:<{width}}  {need}: {finding.use}")
            if finding.remedy is not None:
                outputs.line(f"  {'':<{width}}  get it: {finding.remedy}")


def _as_json(findings: list[Finding]) -> None:
    from dataclasses import asdict

    from rexmit.version import commit, version

    data = {
        "rexmit": version(),
        "commit": commit(),
        "findings": [asdict(finding) for finding in findings],
    }
    print_json(data)
