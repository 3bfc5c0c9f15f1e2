"""A corpus' score on the terminal: a block a point of capture, then what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.console import Console

from rexmit import escaping
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.statistics.interval import of_share
from rexmit.wording import NONE, count
from rexmit_validate.score import stacks, tshark
from rexmit_validate.score.count import INVENTED, MISSED, Matrix
from rexmit_validate.score.reliability import CHECKED, TARGET, Reliability
from rexmit_validate.score.report import CLASS_TARGET, MECHANISM_TARGET, NEED_TARGET, Report, Score

_NOTES = (
    f"rows: truth, columns: claimed; {MISSED}: not claimed, {INVENTED}: no retransmission",
    "at the sender: of the data in question, whichever end that is",
    f"{MISSED} and unknown count as wrong, {INVENTED} against the precision of its class",
    "A|B: the packets do not tell the two apart; right for either",
)


def print_report(report: Report, console: Console, *, worst: int = 0, parts: bool = False) -> None:
    """Every point, each kind of part of the corpus in a line, the worst
    first (`parts`: each part in its order), and the first `worst` wrong rows.
    """
    say(console, Text(f"{report.corpus.path}: {_origin(report)}", "bold"))
    for point in report.points:
        console.print()
        score = report.at(point)
        captured = count(len(report.parts(point)), "part")
        there = count(score.mechanisms.retransmissions, "retransmission")
        head = f"at the {point}: {there} in {captured}"
        say(console, Text(head, "bold cyan"))
        _print_score(score, point, console)
        if len(report.parts(point)) > 1:
            console.print()
            _print_parts(report, point, console, every=parts)
    if len(report.points) > 1:
        console.print()
        say(console, Text("at all points together", "bold cyan"))
        _print_reliability(report.reliability, console)
    console.print()
    notes = [*_NOTES]
    if any(score.tshark for *_, score in report.scores):
        notes.append(tshark.MAPPING)
    for note in notes:
        say(console, note, "dim")
    if worst:
        console.print()
        _print_worst(report, worst, console)


def _origin(report: Report) -> str:
    meta = report.corpus.meta
    facts = [f"retransmissions known from the {meta.get('kind', 'maker')}"]
    kernels = meta.get("kernels")
    if kernels:
        names = (k.get("version", k) if isinstance(k, dict) else k for k in kernels)
        facts.append(", ".join(map(str, names)))
    if meta.get("seed") is not None:
        facts.append(f"seed {meta['seed']}")
    return "; ".join(facts)


def _print_score(score: Score, point: str, console: Console) -> None:
    made, needs = score.mechanisms, score.needs
    lines = [
        ("mechanism right", _against(made.accuracy, MECHANISM_TARGET.get(point))),
        ("  as a pair", percent(made.share(lambda claim: "|" in claim))),
        ("named", percent(made.share(lambda claim: claim not in ("unknown", MISSED)))),
        ("need right", _against(needs.accuracy, NEED_TARGET.get(point))),
        ("missed", f"{made.missed:,}"),
        ("invented", f"{made.invented:,}"),
    ]
    if score.places is not None:
        lines.insert(3, ("place right", percent(score.places.accuracy)))
    for label, text in lines:
        say(console, f"{label:<18} {text}")
    console.print()
    _print_matrix(score, console)
    console.print()
    _print_classes(made, console)
    console.print()
    _print_needs(needs, console)
    if score.tshark:
        console.print()
        _print_beside(score, console)
    if len(score.senders) > 1:
        console.print()
        _print_senders(score, console)
    console.print()
    _print_stacks(score.stacks, console)
    console.print()
    _print_reliability(score.reliability, console)


def _print_reliability(made: Mapping[str, Reliability], console: Console) -> None:
    """Bins with rows as lines, what is said in columns."""
    bins = [place for place, one in enumerate(Reliability().bins) if _any_in(made, place)]
    if not bins:
        return
    columns = [
        Column("said with", least=16),
        *(
            Column(head, right=True, before=2)
            for what in made
            for head in (f"{what}:\nrows", "right", "95 %")
        ),
    ]
    lines = []
    for place in bins:
        texts = []
        for of in made.values():
            one = of.bins[place]
            low, high = one.interval or (0.0, 0.0)
            between = f"{low * 100:.1f}-{high * 100:.1f}" if one.rows else ""
            texts += [_n(one.rows), percent(one.share) if one.rows else "", between]
        lines.append(Line((f"{one.low:g} to {one.high:g}", *texts)))
    print_grid(columns, lines, console)
    for what, of in made.items():
        if of.error is None:
            continue
        say(console, f"{what}: expected calibration error {of.error:.4f}{_checked(of)}")


def _any_in(made: Mapping[str, Reliability], place: int) -> bool:
    return any(of.bins[place].rows for of in made.values())


def _checked(of: Reliability) -> str:
    """Whether rows said with 0.9 are right as often."""
    if of.checked.share is None:
        return ""
    span = f"{TARGET[0]:.0%} to {TARGET[1]:.0%}"
    told = {True: "reached", False: "missed", None: "too few rows to tell"}[of.reached]
    said = f"{CHECKED[0]} to {CHECKED[1]}"
    return f"; said with {said}: {percent(of.checked.share)} right (target {span}: {told})"


def _print_senders(score: Score, console: Console) -> None:
    columns = [
        Column("sent by", least=16),
        *(
            Column(head, right=True, before=2)
            for head in ("retransmissions", "mechanism", "need", "missed")
        ),
    ]
    lines = [
        Line(
            (
                name,
                _n(mechanisms.retransmissions),
                percent(mechanisms.accuracy),
                percent(needs.accuracy),
                _n(mechanisms.missed),
            )
        )
        for name, (mechanisms, needs) in sorted(score.senders.items())
    ]
    print_grid(columns, lines, console)


def _print_matrix(score: Score, console: Console) -> None:
    made = score.mechanisms
    labels: Mapping[tuple[str, str], int] = score.tshark.labels if score.tshark else {}
    theirs = [*tshark.LABELS, MISSED] if score.tshark else []
    rows = list(made.rows)
    if INVENTED not in rows and any(truth == INVENTED for truth, _ in labels):
        rows.append(INVENTED)
    columns = [
        Column("mechanism", least=16),
        *(Column(_folded(claim), right=True, before=2) for claim in made.columns),
        *(
            Column(
                f"tshark:\n{label}" if i == 0 else _folded(label), right=True, before=3 - (i > 0)
            )
            for i, label in enumerate(theirs)
        ),
    ]
    lines = [
        Line(
            (
                truth,
                *(_n(made.counts.get((truth, claim), 0)) for claim in made.columns),
                *(_n(labels.get((truth, label), 0)) for label in theirs),
            )
        )
        for truth in rows
    ]
    print_grid(columns, lines, console)


def _print_classes(made: Matrix, console: Console) -> None:
    columns = [
        Column("class", least=16),
        *(
            Column(head, right=True, before=2)
            for head in ("retransmissions", "claimed", "precision", "recall")
        ),
        Column("", before=2),
    ]
    lines = []
    for one in made.classes():
        below = [
            name
            for name, value in (("precision", one.precision), ("recall", one.recall))
            if value is not None and value < CLASS_TARGET
        ]
        told = f"{' and '.join(below)} below {CLASS_TARGET:.0%}" if below else ""
        numbers = (_n(one.there), _n(one.claimed), percent(one.precision), percent(one.recall))
        lines.append(Line((one.name, *numbers, told)))
    print_grid(columns, lines, console)


def _print_needs(needs: Matrix, console: Console) -> None:
    columns = [
        Column("need", least=16),
        *(Column(claim, right=True, before=2) for claim in needs.columns),
        *(Column(head, right=True, before=2) for head in ("precision", "recall")),
    ]
    of = {one.name: one for one in needs.classes()}
    lines = []
    for truth in needs.rows:
        one = of.get(truth)
        shares = (percent(one.precision), percent(one.recall)) if one else ("", "")
        texts = (_n(needs.counts.get((truth, claim), 0)) for claim in needs.columns)
        lines.append(Line((truth, *texts, *shares)))
    print_grid(columns, lines, console)


def _print_beside(score: Score, console: Console) -> None:
    """Both analyses by what tshark can say at all."""
    if score.tshark is None:
        return
    both = (
        (score.classes, score.needs),
        (score.tshark.classes, score.tshark.needs),
    )
    lines = [
        Line(("timer or ACKs: right", *(percent(made.accuracy) for made, _ in both))),
        *(
            _shares(f"  {name}", [made for made, _ in both], name)
            for name in (tshark.TIMEOUT, tshark.RECOVERY)
        ),
        Line(("need: right", *(percent(needs.accuracy) for _, needs in both))),
        *(_shares(f"  {n}", [needs for _, needs in both], n) for n in ("needed", "spurious")),
        Line(("missed", *(f"{made.missed:,}" for made, _ in both))),
        Line(("invented", *(f"{made.invented:,}" for made, _ in both))),
    ]
    columns = [
        Column("in tshark's terms", least=22),
        Column("rexmit", right=True, before=2),
        Column("tshark", right=True, before=2),
    ]
    print_grid(columns, lines, console)


def _shares(label: str, matrices: list[Matrix], name: str) -> Line:
    texts = []
    for matrix in matrices:
        one = next((one for one in matrix.classes() if one.name == name), None)
        texts.append(f"{percent(one.precision)} / {percent(one.recall)}" if one else NONE)
    return Line((f"{label}: precision / recall", *texts))


def _print_stacks(made: stacks.Stacks, console: Console) -> None:
    least = stacks.LEAST_RETRANSMISSIONS
    if not made.judged:
        say(console, f"senders: no connection has {least} retransmissions")
        return
    say(
        console,
        f"senders of {count(made.judged, 'connection')} with at least {least} retransmissions:",
    )
    for verdict in stacks.VERDICTS:
        n = made.verdicts[verdict]
        say(console, f"  {percent(n / made.judged):>8}  {verdict} ({n:,})")
    wrong = [
        (truth, claim, n)
        for (truth, claim), n in made.pairs.most_common()
        if claim not in (truth, "none") and truth not in claim.split(" | ")
    ]
    for truth, claim, n in wrong[:6]:
        say(console, f"  {truth} taken for {claim}: {n:,}", indent=4)


def _print_parts(report: Report, point: str, console: Console, *, every: bool) -> None:
    kinds = report.kinds(point)
    if every or len(kinds) == len(report.parts(point)):
        named = report.parts(point)
    else:
        named = [(f"{kind} ({n})", score) for kind, n, score in kinds]
    if not every:
        named.sort(key=lambda one: one[1].mechanisms.accuracy or 0.0)
    columns = [
        Column("part", least=16),
        *(
            Column(head, right=True, before=2)
            for head in (
                "retransmissions",
                "mechanism",
                "need",
                "missed",
                "invented",
                "senders right",
            )
        ),
        Column("", before=2),
    ]
    whole = report.at(point)
    lines = [
        Line(
            (
                part,
                _n(score.mechanisms.retransmissions),
                percent(score.mechanisms.accuracy),
                percent(score.needs.accuracy),
                _n(score.mechanisms.missed),
                _n(score.mechanisms.invented),
                percent(score.stacks.share(stacks.RIGHT)),
                _stands_out(score, whole),
            )
        )
        for part, score in named
    ]
    print_grid(columns, lines, console)


def _stands_out(score: Score, whole: Score) -> str:
    """Where a kind is worse than the others by more than chance (95 % intervals apart)."""
    worse = []
    for what, mine, every in (
        ("mechanism", score.mechanisms, whole.mechanisms),
        ("need", score.needs, whole.needs),
    ):
        others = every.retransmissions - mine.retransmissions
        if not mine.retransmissions or not others:
            continue
        high = of_share(mine.right / mine.retransmissions, mine.retransmissions).high
        low = of_share((every.right - mine.right) / others, others).low
        if high < low:
            worse.append(what)
    return f"{' and '.join(worse)} worse than elsewhere" if worse else ""


def _print_worst(report: Report, worst: int, console: Console) -> None:
    wrong = report.wrong
    if wrong.is_empty():
        say(console, "nothing is wrong")
        return
    say(console, Text(f"the first {min(worst, wrong.height)} of {wrong.height:,} wrong:", "bold"))
    for row in wrong.head(worst).iter_rows(named=True):
        at = f"{row['at_ns'] / 1e9:.6f}"
        sure = "" if row["confidence"] is None else f" (confidence {row['confidence']:.2f})"
        needs = (
            ""
            if row["need"] == row["claimed_need"]
            else f"; {row['need']} as {row['claimed_need']}"
        )
        span = f"{row['seq_start']}-{row['seq_end']}"
        say(
            console,
            f"{row['part']} at the {row['point']}, {at} s, {row['flow']}, {span}: "
            f"{row['mechanism']} claimed as {row['claimed_mechanism']}{sure}{needs}",
        )
        words = ["rexmit", "show", row["capture"], "--flow", row["flow"], "--at", at]
        console.print(f"  {escaping.shell(words)}", soft_wrap=True)


def _against(value: float | None, target: float | None) -> str:
    if value is None or target is None:
        return percent(value)
    return f"{percent(value)}  (target {target:.0%}: {'reached' if value >= target else 'missed'})"


def percent(value: float | None) -> str:
    """Two decimals, cut off, so that 100 % means all and no target is reached by rounding."""
    return NONE if value is None else f"{math.floor(value * 10_000 + 1e-9) / 100:.2f} %"


def _n(value: int) -> str:
    return f"{value:,}" if value else "·"


def _folded(word: str) -> str:
    return word.replace("-", "-\n", 1) if len(word) > 9 else word
