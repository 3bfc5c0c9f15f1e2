"""UNC 2007 item by item: what it says beside its computed claims, and why these come out so."""

from __future__ import annotations

from typing import Final

from scripts.findings.markdown import NONE

BEFORE: Final = (
    (
        "Table I: parameters of four stacks",
        "by construction",
        "no",
        "to the last digit",
        "FreeBSD 5.2.1's sources have no 1200 ms, 200 ms in Windows are not certain",
    ),
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
}
"""Why each claim comes out as it does, by its key."""

AFTER: Final = (
    (
        "D should adapt to the flight (section V-C)",
        "holds",
        "holds",
        "",
        "`d=smart` [below](#what-each-setting-really-does)",
    ),
    (
        "Linux adapts D to reordering (footnote 4)",
        "holds",
        "holds",
        "",
        "`max_reordering` (`rexmit stacks linux-2.4`)",
    ),
    (
        "minRTO is not the most influential parameter (sections I, VI, VII)",
        "no",
        "no",
        "",
        "FreeBSD's 1200 ms is; for the others see `k-most`, `min-solaris`",
    ),
    (
        "Linux's estimator is the best and has the most to gain (sections I, VII)",
        "no",
        "no",
        "",
        "`best-linux`, `smart-linux`: the longest minimum has",
    ),
    (
        "the interaction with congestion control and feedback is left out (section IV-C)",
        "tried out",
        "tried out",
        "",
        "it decides for Windows: [below](#what-each-setting-really-does)",
    ),
    (
        "open: undo of spurious retransmissions, Eifel (section VI)",
        "little",
        "little",
        "",
        "most receivers are Windows, which has neither timestamps nor D-SACK",
    ),
    (
        "open: F-RTO (section VI)",
        "Windows",
        "Windows",
        "",
        "it shortens Windows's connections; FreeBSD without SACK gets longer by radio",
    ),
    ("open: other detection (section VI)", NONE, NONE, "", "RACK and probes need a stack of today"),
    (
        "timer granularity no longer matters (sections I, VI)",
        "no",
        "no",
        "",
        "ticks of 100 ms make a minRTO of 100 ms, and so the Smart-Config, worse than none",
    ),
    (
        "m = 1 is best (footnote 12: not shown)",
        NONE,
        NONE,
        "",
        "only Solaris has another: `rexmit validate whatif --stack solaris-10 --setting m=1`",
    ),
    (
        "false alarms in connections without loss (footnote 6)",
        "printed",
        "printed",
        "[below](#false-alarms)",
        "",
    ),
    (
        "others' numbers (section VI: Paxson's of D, RFC 4653)",
        NONE,
        NONE,
        "",
        "of other traces; what D does is Table V's question",
    ),
)
"""The same, of what comes after the claims."""
