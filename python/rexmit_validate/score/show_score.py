"""A corpus' score: a block a point of capture, then what is wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from rexmit import escaping
from rexmit.result.blocks import (
    BLANK,
    Block,
    Column,
    Grid,
    Line,
    Paragraph,
    heading,
    note,
    table,
)
from rexmit.statistics.interval import of_share
from rexmit.wording import NONE, count
from rexmit_validate.score import stacks, tshark
from rexmit_validate.score.count import INVENTED, MISSED, Matrix, OfClass
from rexmit_validate.score.owners import Time, without_unknown
from rexmit_validate.score.reliability import CHECKED, TARGET, Reliability
from rexmit_validate.score.report import (
    CLASS_TARGET,
    LARGEST_TARGET,
    MECHANISM_TARGET,
    NEED_TARGET,
    TIME_TARGET,
    Report,
    Score,
    Tshark,
)

_NOTES = (
    f"rows: truth, columns: claimed; {MISSED}: not claimed, {INVENTED}: no retransmission",
    "at the sender: of the data in question, whichever end that is",
    f"{MISSED} and unknown count as wrong, {INVENTED} against the precision of its class",
    "A|B: the packets do not tell the two apart; right for either",
)


def score_blocks(report: Report, *, worst: int = 0, parts: bool = False) -> Iterator[Block]:
    """Every point, each kind of part of the corpus in a line, the worst
    first (`parts`: each part in its order), and the first `worst` wrong rows.
    """
    yield heading(f"{report.corpus.path}: {_origin(report)}")
    for point in report.points:
        score = report.at(point)
        captured = count(len(report.parts(point)), "part")
        there = count(score.mechanisms.retransmissions, "retransmission")
        yield from (BLANK, Paragraph(f"at the {point}: {there} in {captured}", "bold cyan"))
        yield from _score(score, point)
        if len(report.parts(point)) > 1:
            yield from (BLANK, _parts(report, point, every=parts))
    if len(report.points) > 1:
        yield from (BLANK, Paragraph("at all points together", "bold cyan"))
        yield from _reliability(report.reliability)
    yield from (BLANK, *map(note, _NOTES))
    if any(score.tshark for *_, score in report.scores):
        yield note(tshark.MAPPING)
    if worst:
        yield from (BLANK, *_worst(report, worst))


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


def _score(score: Score, point: str) -> Iterator[Block]:
    mechanisms, needs = score.mechanisms, score.needs
    lines = [
        ("mechanism right", _against(mechanisms.accuracy, MECHANISM_TARGET.get(point))),
        ("  as a pair", percent(mechanisms.share(lambda claim: "|" in claim))),
        ("named", percent(mechanisms.share(lambda claim: claim not in ("unknown", MISSED)))),
        ("need right", _against(needs.accuracy, NEED_TARGET.get(point))),
        ("missed", f"{mechanisms.missed:,}"),
        ("invented", f"{mechanisms.invented:,}"),
    ]
    if score.places is not None:
        lines.insert(3, ("place right", percent(score.places.accuracy)))
    yield from (Paragraph(f"{label:<18} {text}") for label, text in lines)
    yield from (BLANK, _matrix(score), BLANK, _classes(mechanisms), BLANK, _needs(needs))
    if score.tshark:
        yield from (BLANK, _beside(score, score.tshark))
    if len(score.senders) > 1:
        yield from (BLANK, _senders(score))
    yield from (BLANK, *_stacks(score.stacks), BLANK, *_reliability(score.reliability))
    if score.time:
        yield from (BLANK, *_time(score.time, point))


def _time(time: Time, point: str) -> Iterator[Block]:
    """Whose the time was, in seconds, and of how many connections most."""
    claimed = without_unknown(time.instants)
    judged = time.instants if point == "sender" else claimed
    share = claimed.retransmissions / (time.instants.retransmissions or 1)
    lines = [
        ("time right", _against(judged.accuracy, TIME_TARGET.get(point))),
        ("  not unknown", percent(share)),
        ("largest right", _against(time.largest.accuracy, LARGEST_TARGET)),
    ]
    yield from (Paragraph(f"{label:<18} {text}") for label, text in lines)
    for head, matrix, unit in (
        ("seconds", time.instants, 1_000_000_000),
        ("most of a connection", time.largest, 1),
    ):
        yield from (BLANK, _owners(head, matrix, unit))


def _owners(head: str, matrix: Matrix, unit: int) -> Grid:
    """What is claimed instead of the truth stands in one column: most of it is one or two words."""

    def instead(truth: str) -> str:
        wrong = Counter(
            {claim: n for (was, claim), n in matrix.counts.items() if was == truth != claim}
        )
        return ", ".join(f"{n / unit:,.0f} {claim}" for claim, n in wrong.most_common(5))

    of = {one.name: one for one in matrix.classes()}
    return table(
        matrix.rows,
        Column(head, least=20),
        ("there", lambda truth: f"{of[truth].there / unit:,.0f}"),
        ("precision", lambda truth: percent(of[truth].precision)),
        ("recall", lambda truth: percent(of[truth].recall)),
        Column("claimed instead", before=2, cell=instead),
    )


def _reliability(measured: Mapping[str, Reliability]) -> Iterator[Block]:
    """Bins with rows as lines, what is said in columns."""
    places = range(len(Reliability().bins))
    bins = [place for place in places if any(of.bins[place].rows for of in measured.values())]
    if not bins:
        return
    lines = []
    for place in bins:
        texts = []
        for of in measured.values():
            one = of.bins[place]
            low, high = one.interval or (0.0, 0.0)
            between = f"{low * 100:.1f}-{high * 100:.1f}" if one.rows else ""
            texts += [_n(one.rows), percent(one.share) if one.rows else "", between]
        lines.append(Line((f"{one.low:g} to {one.high:g}", *texts)))
    heads = (head for what in measured for head in (f"{what}:\nrows", "right", "95 %"))
    right = (Column(head, right=True, before=2) for head in heads)
    yield Grid((Column("said with", least=16), *right), tuple(lines))
    for what, of in measured.items():
        if of.error is not None:
            yield Paragraph(f"{what}: expected calibration error {of.error:.4f}{_checked(of)}")


def _checked(of: Reliability) -> str:
    """Whether rows said with 0.9 are right as often."""
    if of.checked.share is None:
        return ""
    span = f"{TARGET[0]:.0%} to {TARGET[1]:.0%}"
    verdict = {True: "reached", False: "missed", None: "too few rows to tell"}[of.reached]
    bounds = f"{CHECKED[0]} to {CHECKED[1]}"
    return f"; said with {bounds}: {percent(of.checked.share)} right (target {span}: {verdict})"


def _senders(score: Score) -> Grid:
    rows = [(name, *matrices) for name, matrices in sorted(score.senders.items())]
    return table(
        rows,
        Column("sent by", least=16, cell=lambda row: row[0]),
        ("retransmissions", lambda row: _n(row[1].retransmissions)),
        ("mechanism", lambda row: percent(row[1].accuracy)),
        ("need", lambda row: percent(row[2].accuracy)),
        ("missed", lambda row: _n(row[1].missed)),
    )


def _matrix(score: Score) -> Grid:
    mechanisms = score.mechanisms
    labels: Mapping[tuple[str, str], int] = score.tshark.labels if score.tshark else {}
    theirs = [*tshark.LABELS, MISSED] if score.tshark else []
    rows = list(mechanisms.rows)
    if INVENTED not in rows and any(truth == INVENTED for truth, _ in labels):
        rows.append(INVENTED)

    def counted(claim: str, of: Mapping[tuple[str, str], int]) -> Callable[[str], str]:
        return lambda truth: _n(of.get((truth, claim), 0))

    return table(
        rows,
        Column("mechanism", least=16),
        *((_folded(claim), counted(claim, mechanisms.counts)) for claim in mechanisms.columns),
        *(
            Column(
                f"tshark:\n{label}" if i == 0 else _folded(label),
                right=True,
                before=3 - (i > 0),
                cell=counted(label, labels),
            )
            for i, label in enumerate(theirs)
        ),
    )


def _classes(mechanisms: Matrix) -> Grid:
    def below(one: OfClass) -> str:
        shares = (("precision", one.precision), ("recall", one.recall))
        names = [name for name, share in shares if share is not None and share < CLASS_TARGET]
        return f"{' and '.join(names)} below {CLASS_TARGET:.0%}" if names else ""

    return table(
        mechanisms.classes(),
        Column("class", least=16, cell=lambda one: one.name),
        ("retransmissions", lambda one: _n(one.there)),
        ("claimed", lambda one: _n(one.claimed)),
        ("precision", lambda one: percent(one.precision)),
        ("recall", lambda one: percent(one.recall)),
        Column("", before=2, cell=below),
    )


def _needs(needs: Matrix) -> Grid:
    of = {one.name: one for one in needs.classes()}

    def counted(claim: str) -> Callable[[str], str]:
        return lambda truth: _n(needs.counts.get((truth, claim), 0))

    return table(
        needs.rows,
        Column("need", least=16),
        *((claim, counted(claim)) for claim in needs.columns),
        ("precision", lambda truth: percent(of[truth].precision) if truth in of else ""),
        ("recall", lambda truth: percent(of[truth].recall) if truth in of else ""),
    )


def _beside(score: Score, theirs: Tshark) -> Grid:
    """Both analyses by what tshark can say at all."""
    both = ((score.classes, score.needs), (theirs.classes, theirs.needs))
    lines = [
        Line(("timer or ACKs: right", *(percent(matrix.accuracy) for matrix, _ in both))),
        *(
            _shares(f"  {name}", [matrix for matrix, _ in both], name)
            for name in (tshark.TIMEOUT, tshark.RECOVERY)
        ),
        Line(("need: right", *(percent(needs.accuracy) for _, needs in both))),
        *(_shares(f"  {n}", [needs for _, needs in both], n) for n in ("needed", "spurious")),
        Line(("missed", *(f"{matrix.missed:,}" for matrix, _ in both))),
        Line(("invented", *(f"{matrix.invented:,}" for matrix, _ in both))),
    ]
    columns = (
        Column("in tshark's terms", least=22),
        Column("rexmit", right=True, before=2),
        Column("tshark", right=True, before=2),
    )
    return Grid(columns, tuple(lines))


def _shares(label: str, matrices: list[Matrix], name: str) -> Line:
    texts = []
    for matrix in matrices:
        one = next((one for one in matrix.classes() if one.name == name), None)
        texts.append(f"{percent(one.precision)} / {percent(one.recall)}" if one else NONE)
    return Line((f"{label}: precision / recall", *texts))


def _stacks(judged: stacks.Stacks) -> Iterator[Block]:
    least = stacks.LEAST_RETRANSMISSIONS
    if not judged.judged:
        yield Paragraph(f"senders: no connection has {least} retransmissions")
        return
    yield Paragraph(
        f"senders of {count(judged.judged, 'connection')} with at least {least} retransmissions:"
    )
    for verdict in stacks.VERDICTS:
        n = judged.verdicts[verdict]
        yield Paragraph(f"  {percent(n / judged.judged):>8}  {verdict} ({n:,})")
    wrong = [
        (truth, claim, n)
        for (truth, claim), n in judged.pairs.most_common()
        if claim not in (truth, "none") and truth not in claim.split(" | ")
    ]
    for truth, claim, n in wrong[:6]:
        yield Paragraph(f"  {truth} taken for {claim}: {n:,}", indent=4)


def _parts(report: Report, point: str, *, every: bool) -> Grid:
    kinds = report.kinds(point)
    if every or len(kinds) == len(report.parts(point)):
        named = report.parts(point)
    else:
        named = [(f"{kind} ({n})", score) for kind, n, score in kinds]
    if not every:
        named.sort(key=lambda one: one[1].mechanisms.accuracy or 0.0)
    whole = report.at(point)
    return table(
        named,
        Column("part", least=16, cell=lambda row: row[0]),
        ("retransmissions", lambda row: _n(row[1].mechanisms.retransmissions)),
        ("mechanism", lambda row: percent(row[1].mechanisms.accuracy)),
        ("need", lambda row: percent(row[1].needs.accuracy)),
        ("missed", lambda row: _n(row[1].mechanisms.missed)),
        ("invented", lambda row: _n(row[1].mechanisms.invented)),
        ("senders right", lambda row: percent(row[1].stacks.share(stacks.RIGHT))),
        Column("", before=2, cell=lambda row: _stands_out(row[1], whole)),
    )


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


def _worst(report: Report, worst: int) -> Iterator[Block]:
    wrong = report.wrong
    if wrong.is_empty():
        yield Paragraph("nothing is wrong")
        return
    yield heading(f"the first {min(worst, wrong.height)} of {wrong.height:,} wrong:")
    for row in wrong.head(worst).iter_rows(named=True):
        at = f"{row['at_ns'] / 1e9:.6f}"
        sure = "" if row["confidence"] is None else f" (confidence {row['confidence']:.2f})"
        needs = (
            ""
            if row["need"] == row["claimed_need"]
            else f"; {row['need']} as {row['claimed_need']}"
        )
        span = f"{row['seq_start']}-{row['seq_end']}"
        yield Paragraph(
            f"{row['part']} at the {row['point']}, {at} s, {row['flow']}, {span}: "
            f"{row['mechanism']} claimed as {row['claimed_mechanism']}{sure}{needs}"
        )
        words = ["rexmit", "show", row["capture"], "--flow", row["flow"], "--at", at]
        yield Paragraph(f"  {escaping.shell(words)}", whole=True)


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
