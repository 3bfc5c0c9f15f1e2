"""`python -m tests.fuzz TARGET [FOLDER…] [-OPTION=VALUE…]`: one target under Atheris.

Folders and options are those of libFuzzer: what is found goes into the first folder.
"""

from __future__ import annotations

import importlib
import random
import sys

from tests.fuzz import edits


def main() -> None:
    """Fuzz until the time is up or something breaks."""
    # Not among what the package is developed with, so it has no types here.
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["rexmit", "tomllib"]):
        targets = importlib.import_module("tests.fuzz.targets").TARGETS
    name, *words = sys.argv[1:] or [""]
    if name not in targets:
        sys.exit(f"usage: python -m tests.fuzz {'|'.join(targets)} [FOLDER…] [-OPTION=VALUE…]")

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)  # noqa: S311 - nothing secret
        if draw.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        return edits.replace_token(data, draw.randrange(10_000), draw.choice(edits.WORDS))[:most]

    atheris.Setup([sys.argv[0], *words], targets[name], custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
