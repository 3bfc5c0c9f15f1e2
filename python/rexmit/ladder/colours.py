"""Colours of retransmissions by mechanism, in figures and on pages."""

from __future__ import annotations

from typing import Final

COLOURS: Final = {
    "rto": "#D55E00",
    "rto-recovery": "#E69F00",
    "tlp": "#CC79A7",
    "rack": "#0072B2",
    "fast-retransmit": "#56B4E9",
    "sack-recovery": "#009E73",
    "fack": "#8C564B",
    "early-retransmit": "#7A5AC8",
    "mptcp-reinject": "#000000",
    "unknown": "#777777",
}
"""The palette of Okabe and Ito (2008), and more; timers are dark, what acknowledgements brought on
is light."""

ON_DARK: Final = COLOURS | {
    "rack": "#4BA3E3",
    "sack-recovery": "#2FC79A",
    "fack": "#C99587",
    "early-retransmit": "#AE98F0",
    "mptcp-reinject": "#FFFFFF",
    "unknown": "#AAB0B8",
}
"""The same on a dark ground, where some would not be seen."""
