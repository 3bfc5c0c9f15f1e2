"""What to know before a page is trusted, and the packets that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rexmit.tracing import failures, files
from rexmit.tracing.sentences import network
from rexmit.tracing.source import Facts
from rexmit.tracing.summed import Summary
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


def warnings(facts: Facts, summary: Summary) -> list[str]:
    """What to know before the page is trusted."""
    texts = [*failures.warnings(facts), *facts.warnings, *files.warnings(summary.captured)]
    if facts.evicted:
        texts.append("--connections-limit says how many connections are remembered at a time")
    strange = unread(facts)
    if strange:
        what = {_STRANGE.get(why, why): n for why, n in strange.items()}
        kinds = counts(what) if len(what) > 1 else next(iter(what))
        texts.append(f"{count(sum(strange.values()), 'packet')} could not be read: {kinds}")
    if "cut-short" in strange:
        texts.append("capture more of each packet: tcpdump -s 128 or more")
    return texts + [
        sentence.text for sentence in network.warnings(summary.totals, summary.half_seen)
    ]


def unread(facts: Facts) -> dict[str, int]:
    """The packets that could not be read, by why."""
    return {why: n for why, n in facts.not_understood.items() if n and why not in NOT_TCP}


def counts(each: Mapping[str, int]) -> str:
    """Packets by what they are, the most first."""
    ordered = sorted(each.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{n:,} {why}" for why, n in ordered if n)
