"""The commands by their names of the version before, which go on working for one release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click

from rexmit import additions, outputs
from rexmit.cli.front import Group

_INTERFACE: Final = ("-i", "--interface")


class Commands(Group):
    """The commands, also by the names that they had before."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:  # noqa: ANN401 - Click's
        """The command that these words begin with. Says its new name, once."""
        old, new, words = now(args)
        if old and not ctx.resilient_parsing:
            outputs.say(
                f"rexmit: `rexmit {old}` is now `rexmit {new}`; "
                "the next release does not know the old name"
            )
        return super().resolve_command(ctx, words)


def now(words: Sequence[str]) -> tuple[str, str, list[str]]:
    """The old name that words have, if any, the new one, and all words with that."""
    name, *rest = words
    options = rest[: rest.index("--")] if "--" in rest else rest
    for package in additions.packages():
        renamed: tuple[str, str, list[str]] | None = package.moved(words)
        if renamed is not None:
            return renamed
    if name == "trace" and any(one.partition("=")[0] == "--rotate" for one in options):
        return "trace --rotate", "watch --rotate", ["watch", *rest]
    if name == "diff":
        old, option = "--fail-over", "--worse-than"
        if any(one.partition("=")[0] == old for one in options):
            last = len(options)
            typed = [
                option + one.removeprefix(old) if one.partition("=")[0] == old else one
                for one in rest[:last]
            ]
            return f"diff {old}", f"diff {option}", [name, *typed, *rest[last:]]
    if name == "trace":
        for place, one in enumerate(options):
            option, joined, interface = one.partition("=")
            if option in _INTERFACE or one.startswith("-i"):
                if not joined and option in _INTERFACE:
                    del rest[place]
                else:
                    rest[place] = interface if joined else one.removeprefix("-i")
                return f"trace {option[:2] if one[1] == 'i' else option}", "watch", ["watch", *rest]
    return "", "", list(words)
