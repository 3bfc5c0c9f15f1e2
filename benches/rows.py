"""The rows of captures as digests: versions of the analysis that print the same give the same rows.

`python benches/rows.py CAPTURE... > before.txt`; then the same with the other version, and diff.

What makes the analysis faster must not change a row. Every table of each capture is a line: its
name, how many rows it has, and the first digits of the SHA-256 of its columns as Arrow, but for
that which says where the capture lies.
"""

import hashlib
import io
import sys
from pathlib import Path

import polars as pl

from rexmit.errors import UserError
from rexmit.tracing.options import Analysis
from rexmit.tracing.source import Core, batches


def digests(capture: Path) -> list[str]:
    """A line for each table of a capture."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for batch in batches(Core([capture], Analysis())):
        for name, rows in batch.items():
            parts.setdefault(name, []).append(rows)
    lines = []
    for name, some in sorted(parts.items()):
        table = pl.concat(some).drop("capture", strict=False).rechunk()
        arrow = io.BytesIO()
        table.write_ipc(arrow, compression="uncompressed")
        digest = hashlib.sha256(arrow.getvalue()).hexdigest()[:16]
        lines.append(f"{capture.name} {name} {table.height} {digest}")
    return lines


def main() -> None:
    """Prints the lines of all captures; what cannot be read has a line that says why."""
    for path in map(Path, sys.argv[1:]):
        try:
            print("\n".join(digests(path)))
        except UserError as error:
            print(f"{path.name} error {error}")


if __name__ == "__main__":
    main()
