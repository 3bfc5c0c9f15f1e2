"""The score as data, under stable names; shares are 0 to 1, null where there is nothing."""

from __future__ import annotations

from typing import Any

from rexmit_validate.score.count import Matrix
from rexmit_validate.score.owners import Time, without_unknown
from rexmit_validate.score.reliability import Reliability
from rexmit_validate.score.report import Report, Score
from rexmit_validate.score.stacks import AMONG, NONE, RIGHT, SURELY_WRONG, WRONG, Stacks
from rexmit_validate.score.tshark import MAPPING

_VERDICTS = {
    "right": RIGHT,
    "several": AMONG,
    "none": NONE,
    "wrong": WRONG,
    "surely_wrong": SURELY_WRONG,
}


def report_data(report: Report, *, worst: int = 0) -> dict[str, Any]:
    """Every point and every part."""
    return {
        "corpus": str(report.corpus.path),
        "truth": report.corpus.meta,
        "tshark_mapping": MAPPING,
        "points": {
            point: {
                **_score(report.at(point)),
                "kinds": {
                    kind: {**_score(score), "captures": n} for kind, n, score in report.kinds(point)
                },
                "parts": {part: _score(score) for part, score in report.parts(point)},
            }
            for point in report.points
        },
        "reliability": {what: _bins(one) for what, one in report.reliability.items()},
        "wrong": report.wrong.height,
        "worst": report.wrong.head(worst).to_dicts(),
    }


def _score(score: Score) -> dict[str, Any]:
    data: dict[str, Any] = {
        "mechanism": _matrix(score.mechanisms),
        "need": _matrix(score.needs),
        "two_classes": _matrix(score.classes),
        "stacks": _stacks(score.stacks),
        "senders": {
            name: {"mechanism": _matrix(mechanisms), "need": _matrix(needs)}
            for name, (mechanisms, needs) in sorted(score.senders.items())
        },
        "reliability": {what: _bins(one) for what, one in score.reliability.items()},
        "tshark": None,
        "places": None if score.places is None else _matrix(score.places),
        "time": score.time and _time(score.time),
    }
    if score.tshark:
        data["tshark"] = {
            "labels": _nested(score.tshark.labels),
            "two_classes": _matrix(score.tshark.classes),
            "need": _matrix(score.tshark.needs),
        }
    return data


def _matrix(matrix: Matrix) -> dict[str, Any]:
    return {
        "retransmissions": matrix.retransmissions,
        "right": matrix.right,
        "accuracy": matrix.accuracy,
        "missed": matrix.missed,
        "invented": matrix.invented,
        "confusion": _nested(matrix.counts),
        "classes": {
            one.name: {
                "retransmissions": one.there,
                "claimed": one.claimed,
                "right": one.right,
                "precision": one.precision,
                "recall": one.recall,
            }
            for one in matrix.classes()
        },
    }


def _time(time: Time) -> dict[str, Any]:
    """Nanoseconds, and connections by the owner of most of their time."""
    return {
        "ns": time.instants.retransmissions,
        "right": time.instants.accuracy,
        "right_of_told": without_unknown(time.instants).accuracy,
        "confusion": _nested(time.instants.counts),
        "connections": time.largest.retransmissions,
        "largest_right": time.largest.accuracy,
        "largest_confusion": _nested(time.largest.counts),
    }


def _bins(reliability: Reliability) -> dict[str, Any]:
    return {
        "rows": reliability.rows,
        "expected_calibration_error": reliability.error,
        "reached": reliability.reached,
        "bins": [
            {
                "low": one.low,
                "high": one.high,
                "rows": one.rows,
                "right": one.right,
                "said": one.mean,
                "share": one.share,
                "interval": one.interval,
            }
            for one in reliability.bins
        ],
    }


def _nested(counts: Any) -> dict[str, dict[str, int]]:  # noqa: ANN401 - a mapping of pairs
    matrix: dict[str, dict[str, int]] = {}
    for (truth, claim), n in sorted(counts.items()):
        matrix.setdefault(truth, {})[claim] = n
    return matrix


def _stacks(stacks: Stacks) -> dict[str, Any]:
    return {
        "connections": stacks.judged,
        **{name: stacks.verdicts[verdict] for name, verdict in _VERDICTS.items()},
        "pairs": _nested(stacks.pairs),
    }
