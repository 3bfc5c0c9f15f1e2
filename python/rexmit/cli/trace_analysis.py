"""The traces that `rexmit trace` is about, with its progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from rexmit.cluster import Where
    from rexmit.sources import Capture
    from rexmit.tracing.folder import Trace


def traces(
    each: Sequence[Sequence[Capture]],
    out: Path | None,
    open_tables: ExitStack,
    *,
    replace: bool = False,
    csv: bool = False,
    whatif: Sequence[str],
    stacks: Sequence[str],
    jobs: int | None,
    connections_limit: int,
    points: Sequence[str] | None = None,
    cluster: Where | None = None,
    resume: bool = False,
    missing: Sequence[str] = (),
    capture_filter: str | None = None,
) -> list[Trace]:
    """The traces of these sets of files. Without `out` their tables lie in a temporary folder that
    goes with `open_tables`. A folder of a trace is opened instead.
    """
    import sys

    from rexmit.library.trace import analysed
    from rexmit.progress import for_stream

    made = []
    for number, files in enumerate(each):
        folder = out
        if out is not None and len(each) > 1:
            folder = out / f"{number}-{files[0].name.partition('.')[0]}"
        made.append(
            analysed(
                files,
                folder,
                open_tables,
                replace=replace,
                csv=csv,
                whatif=whatif,
                stacks=stacks,
                jobs=jobs,
                connections_limit=connections_limit,
                points=points,
                cluster=cluster,
                resume=resume,
                progress=for_stream(sys.stderr, "packets", transient=True),
                missing=missing,
                capture_filter=capture_filter,
            )
        )
    return made
