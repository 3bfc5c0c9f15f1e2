"""What to know before a page is trusted, and the packets that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rexmit.tracing import failures, files
from rexmit.tracing.source import Facts
from rexmit.tracing.summary import Summary
from rexmit.tracing.words import share
from rexmit.wording import count

NOT_TCP: Final = {
    "udp": "UDP",
    "icmp": "ICMP",
    "arp": "ARP",
    "other-protocol": "of another IP protocol",
    "other-frame": "without IP",
    "link-control": "link control",
}
"""What a capture has besides TCP and is no reason to doubt it, in words."""

_STRANGE: Final = {
    "empty": "empty",
    "not-ip": "neither IPv4 nor IPv6",
    "fragment": "IP fragments without a TCP header",
    "cut-short": "cut off before the TCP header ends",
    "malformed": "with lengths that contradict each other",
    "unknown-link": "of an unknown kind of link",
    "too-deep": "in too many tunnels",
}
"""What cannot be read, in words."""


def warnings(facts: Facts, made: Summary) -> list[str]:
    """What to know before the page is trusted."""
    totals, one_sided = made.totals, made.half_seen
    told = [*failures.warnings(facts), *facts.warnings, *files.warnings(made.captured)]
    if facts.evicted:
        told.append("--connections-limit says how many connections are remembered at a time")
    strange = unread(facts)
    if strange:
        what = {_STRANGE.get(why, why): n for why, n in strange.items()}
        kinds = counts(what) if len(what) > 1 else next(iter(what))
        told.append(f"{count(sum(strange.values()), 'packet')} could not be read: {kinds}")
    if "cut-short" in strange:
        told.append("capture more of each packet: tcpdump -s 128 or more")
    if one_sided:
        told.append(
            f"of {count(one_sided, 'connection')} only one direction is in the capture "
            f"({share(one_sided, totals.connections)} of all): little can be told of "
            f"{'it' if one_sided == 1 else 'them'}"
        )
    if totals.mid_stream:
        its = "its" if totals.mid_stream == 1 else "their"
        told.append(
            f"{count(totals.mid_stream, 'connection')} began before the capture: what the two ends "
            f"agreed on in {its} handshake is not known"
        )
    if totals.capture_losses:
        arrived = "it" if totals.capture_losses == 1 else "they"
        was = "was" if totals.capture_losses == 1 else "were"
        told.append(
            f"the capture lacks at least {count(totals.capture_losses, 'packet')} of "
            f"{count(totals.with_capture_losses, 'connection')}: {arrived} arrived, but {was} not "
            "recorded"
        )
    if totals.capture_duplicates:
        told.append(f"the capture recorded {count(totals.capture_duplicates, 'packet')} twice")
    return told


def unread(facts: Facts) -> dict[str, int]:
    """The packets that could not be read, by why."""
    return {why: n for why, n in facts.not_understood.items() if n and why not in NOT_TCP}


def counts(each: Mapping[str, int]) -> str:
    """Packets by what they are, the most first."""
    ordered = sorted(each.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{n:,} {why}" for why, n in ordered if n)
