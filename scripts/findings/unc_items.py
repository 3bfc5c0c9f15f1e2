"""UNC 2007 item by item: what it says beside its computed claims, and why these come out so."""

from __future__ import annotations

from typing import Final

from scripts.findings.markdown import NONE

BEFORE: Final = (
    ("Table II, Figure 1: the traces", NONE, NONE, "", "other traces: sizes are after them"),
    ("Table III: connections used", "", "", "", "see `explained`"),
    ("Table IV: classes of retransmissions", "", "", "[below](#table-iv)", ""),
    ("Table V: impact of D", "", "", "", "see `d-2-counts`, `d-4-counts`"),
    ("Figures 2 to 7", "drawn", "drawn", "", "`rexmit paper unc-2007 --out DIR`"),
    (
        "equations (1) to (3)",
        "used as printed",
        "",
        "",
        "they know no undo, no probes; `crates/trace/src/cost/equations.rs`",
    ),
    (
        "grid of k, minRTO, a (section V-B)",
        "720 settings",
        "",
        "[below](#how-good-the-predictions-are)",
        "b, whose values are not printed, has those of a",
    ),
)
"""Item, as printed, as they are, what was measured, why."""

WHY: Final = {
    "explained": "[below](#why-so-many-more-connections-are-explained)",
    "syn": "a SYN refutes other stacks, so this finds contradictions only",
    "spurious": "by radio alone waits are long enough for timers",
    "spurious-by-rto": "",
    "spurious-windows": "not as many times as in the study",
    "spurious-fr": "reordering in these mixes is rare",
    "by-rto": "the share of timeouts is the network's",
    "fr-detection": "",
    "fr-solaris": "",
    "rto-longer": "",
    "rto-medians": "with FreeBSD's own minimum of 230 ms its timeouts are as short as Linux's",
    "estimator": "Windows's timeouts are as short; fewer of Solaris's as it is are spurious",
    "rto-tail": "Windows's tail is not the heavier one",
    "rto-few": "",
    "rto-first": "Windows here has an RTT from the handshake",
    "recovery-lost": "",
    "sack": "by radio the timer decides",
    "recovery-system": "",
    "recovery-mechanism": "",
    "best-under": "it is the mix that decides",
    "best-over": "it is the mix that decides",
    "best-linux": "the longest minimum gains most: FreeBSD as printed, Solaris as it is",
    "k-helps": "by less than a round trip",
    "k-best": "",
    "k-most": "Linux's k scales a deviation that counts as 200 ms where it is less; minRTO and D "
    "come before it on wires",
    "k-6": "in every bin; some have few connections",
    "k-longer": "very few; in the server farm by more",
    "k-others": "as printed their minimum hides k; Solaris's sources scale the floor with it",
    "min-larger": "",
    "min-solaris": "as printed minRTO does the more; in the sources the deviation has the floor",
    "min-most": "it is where it is long, and in Linux",
    "min-linux": "half a round trip, and a percent of the duration",
    "a-linux": "the other way about, and little of either",
    "b-linux": "",
    "gains-others": "the minimum hides both as printed; no order otherwise",
    "d-2-counts": "timeouts turn, but hardly any spurious ones come with it: less reordering here",
    "d-4-counts": "in every system and mix",
    "d-small": "",
    "d-best": "a little less, and few connections",
    "d-large": "it shortens large ones in both halves",
    "d-others": "",
    "d-4": "",
    "d-after-k": "see `k-most`",
    "smart-10": "",
    "smart-linux": "FreeBSD as printed, Solaris as it is",
    "smart-longer": "predicted. **Really run it does not hold for Windows**: "
    "[below](#what-each-setting-really-does)",
    "smart-spurious": "fewer in Linux by the replay's count; really run they are many more",
    "smart-best": "",
    "paxson-4": "reordering is rare here",
    "paxson-2": "reordering is rare here",
    "ncr": "by equation (1), if every spurious one were avoided",
    "adapt": "really run, as all that follow; it shortens FreeBSD's, others' in some mixes",
    "m": "little of either",
    "granularity": "as they are, ticks of 100 ms cost FreeBSD a round trip and more",
    "undo": "most receivers are Windows, which has neither timestamps nor D-SACK",
    "frto": "it shortens Windows's as printed; of the others nothing shows",
}
"""Why each claim comes out as it does, by its key."""

AFTER: Final = (
    (
        "Linux adapts D to reordering (footnote 4)",
        "by construction",
        "by construction",
        "",
        "`max_reordering` (`rexmit stacks linux-2.4`)",
    ),
    (
        "the interaction with congestion control and feedback is left out (section IV-C)",
        NONE,
        NONE,
        "[below](#what-each-setting-really-does)",
        "tried out: it decides for Windows",
    ),
    (
        "open: other ways to detect losses (section VI, [22] to [27])",
        NONE,
        NONE,
        "[below](#what-was-not-tried)",
        "not tried: none can save more than the Best-Case",
    ),
    (
        "false alarms in connections without loss (footnote 6)",
        NONE,
        NONE,
        "[below](#false-alarms)",
        "the paper prints none",
    ),
)
"""The same, of what comes after the claims, and is none."""
