"""What UNC 2007 prints, to be set beside ours.

Source of every number: S. Rewaskar, J. Kaur, F. D. Smith, "A Performance Study of Loss
Detection/Recovery in Real-world TCP Implementations", University of North Carolina, 2007;
Tables I to V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SOURCE: Final = (
    "S. Rewaskar, J. Kaur, F. D. Smith, A Performance Study of Loss Detection/Recovery in "
    "Real-world TCP Implementations, University of North Carolina 2007"
)


@dataclass(frozen=True)
class Parameters:
    """A column of Table I. Times in seconds; `rto` is the timeout as the table writes it."""

    granularity_s: float
    initial_rto_s: float
    min_rto_s: float
    a: float
    b: float
    m: float
    k: float
    d: float
    rto: str


TABLE_1: Final[dict[str, Parameters]] = {
    "Linux": Parameters(0.01, 3, 0.2, 0.25, 0.125, 1, 4, 3, "srtt + vartt"),
    "Windows": Parameters(0.1, 3, 0.2, 0.25, 0.125, 1, 4, 2, "srtt + 4*rttvar"),
    "FreeBSD": Parameters(0.01, 3, 1.2, 0.25, 0.125, 1, 4, 3, "srtt + 4*rttvar"),
    "Solaris": Parameters(0.01, 3.375, 0.4, 0.25, 0.125, 1.25, 4, 3, "1.25*srtt + 4*rttvar"),
}


@dataclass(frozen=True)
class Trace:
    """A row of Table II."""

    name: str
    duration_s: float
    load_bps: float
    connections: float
    bytes: float
    packets: float


TABLE_2: Final = (
    Trace("jap", 4 * 3600, 1.93e6, 0.3e6, 3.5e9, 3.7e6),
    Trace("unc", 4 * 3600, 74e6, 14.5e6, 133.3e9, 151.0e6),
    Trace("ibi", 4 * 3600, 90.64e6, 0.9e6, 163.2e9, 158.9e6),
    Trace("wls", 178 * 3600, 0.61e6, 9.7e6, 48.5e9, 68.9e6),
)


@dataclass(frozen=True)
class Lossy:
    """A row of Table III: percent of connections, bytes, packets; of the lossy explained
    connections by system.
    """

    name: str
    lossy: tuple[float, float, float]
    explained: tuple[float, float, float]
    systems: dict[str, float]

    @property
    def share(self) -> float:
        """Of the lossy connections those that are explained, percent."""
        return 100 * self.explained[0] / self.lossy[0]


def _systems(windows: float, linux: float, solaris: float, freebsd: float) -> dict[str, float]:
    return {"Windows": windows, "Linux": linux, "Solaris": solaris, "FreeBSD": freebsd}


TABLE_3: Final = (
    Lossy("jap", (51.34, 84.0, 85.42), (39.83, 26.0, 31.25), _systems(23.70, 28.40, 2.23, 45.67)),
    Lossy("unc", (15.83, 77.28, 67.73), (14.91, 39.41, 39.18), _systems(84.36, 2.22, 10.69, 2.73)),
    Lossy("ibi", (10.67, 83.15, 81.60), (8.13, 26.10, 33.44), _systems(0, 100, 0, 0)),
    Lossy("wls", (4.23, 77.50, 72.36), (4.19, 21.32, 27.34), _systems(99.63, 0, 0, 0.37)),
)


@dataclass(frozen=True)
class Classes:
    """A row of Table IV: retransmissions, and percent of them."""

    total: int
    needed_rto: float
    needed_fr: float
    spurious_rto: float
    spurious_fr: float


TABLE_4: Final = {
    "Windows": Classes(1_074_097, 59.5, 10.9, 26.0, 3.6),
    "Linux": Classes(310_418, 56.7, 37.1, 3.5, 2.7),
    "Solaris": Classes(27_105, 70.7, 19.9, 4.9, 4.5),
    "FreeBSD": Classes(2_312, 56.6, 7.2, 31.7, 4.5),
}


@dataclass(frozen=True)
class Threshold:
    """A row of Table V: detections, and changes in percent of all retransmissions. The first D is
    2, and Windows's 3, for which it prints what D = 3 takes away with a minus.
    """

    fr: int
    rto: int
    rto_to_fr: float
    spurious_caused: float
    fr_to_rto: float
    spurious_avoided: float


TABLE_5: Final = {
    "Windows": Threshold(155_770, 918_327, -3.3, -2.9, 5.0, 3.5),
    "Linux": Threshold(123_735, 186_680, 6.2, 12.1, 7.2, 1.2),
    "Solaris": Threshold(6_613, 20_491, 3.4, 4.1, 9.4, 3.7),
    "FreeBSD": Threshold(271, 2_041, 1.8, 0.9, 1.1, 3.7),
}

SMART_10_PERCENT: Final = {"Linux": 40, "Windows": 7, "Solaris": 20, "FreeBSD": 10}
"""Percent of connections that the Smart-Config makes at least 10 % shorter (section V-D)."""
