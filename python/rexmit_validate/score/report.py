"""The score of a corpus: for each point of capture, what the analysis and tshark got right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from rexmit.tracing.memory import Tables
from rexmit_validate.score import claims, count, owners, places, reliability, stacks, tshark
from rexmit_validate.score.corpus import PLAIN, POINTS, Capture, Corpus, Group
from rexmit_validate.score.count import MISSED, Matrix
from rexmit_validate.score.join import Joined, join
from rexmit_validate.score.owners import Time
from rexmit_validate.score.reliability import Reliability
from rexmit_validate.score.stacks import Stacks

MECHANISM_TARGET: Final = {"sender": 0.99, "receiver": 0.95}
NEED_TARGET: Final = {"sender": 0.99, "receiver": 0.97}
CLASS_TARGET: Final = 0.95
"""What the analysis is to reach: shares of retransmissions, and precision and recall of each class.
"""
TIME_TARGET: Final = {"sender": 0.95, "switch": 0.90, "receiver": 0.90}
LARGEST_TARGET: Final = 0.98
"""The same: shares of time, away from the sender of what is told; and of connections."""


@dataclass(frozen=True)
class Taken:
    """What was found in captures that were analysed together; `followed` where they are several."""

    tables: Tables
    followed: pl.DataFrame | None = None


Analyse = Callable[[Group], Taken]


def by_itself(analyse: Callable[[Path], Tables]) -> Analyse:
    """The analysis of one capture."""
    return lambda group: Taken(analyse(group.captures[0].path))


Labels = Callable[[Path], pl.DataFrame]


@dataclass(frozen=True)
class Tshark:
    """`labels` counts (true mechanism, label), `missed` standing for no label; `classes` is the
    matrix of tshark's two classes, where `unknown` is a label of neither.
    """

    labels: Counter[tuple[str, str]]
    classes: Matrix
    needs: Matrix

    def __add__(self, other: Tshark) -> Tshark:
        return Tshark(
            self.labels + other.labels, self.classes + other.classes, self.needs + other.needs
        )


@dataclass(frozen=True)
class Score:
    """Of one capture, or of several together; `senders` has mechanisms and needs by the family of
    the stack that sent, `reliability` how often what was said is so (`reliability.WHAT`), `places`
    where captures of several points say that retransmissions were lost, `time` whose the time of
    connections was, where that is known.
    """

    mechanisms: Matrix
    needs: Matrix
    stacks: Stacks
    tshark: Tshark | None
    senders: Mapping[str, tuple[Matrix, Matrix]] = field(default_factory=dict)
    reliability: Mapping[str, Reliability] = field(default_factory=dict)
    places: Matrix | None = None
    time: Time | None = None

    @property
    def classes(self) -> Matrix:
        """Our mechanisms in tshark's two classes."""
        return Matrix(tshark.in_classes(self.mechanisms.counts), _CLASSES)

    def __add__(self, other: Score) -> Score:
        both = self.tshark and other.tshark and self.tshark + other.tshark
        return Score(
            self.mechanisms + other.mechanisms,
            self.needs + other.needs,
            self.stacks + other.stacks,
            both,
            _added(self.senders, other.senders),
            reliability.total((self.reliability, other.reliability)),
            self.places and other.places and self.places + other.places,
            self.time + other.time if self.time and other.time else self.time or other.time,
        )


@dataclass(frozen=True)
class Report:
    """`scores` has (point, part, score), where the point is that of the data: of what the other end
    sends, the capture next to the connection's sender is the receiver's. `wrong` has the
    retransmissions whose mechanism or need was claimed wrongly, and the invented ones.
    """

    corpus: Corpus
    scores: tuple[tuple[str, str, Score], ...]
    wrong: pl.DataFrame

    @property
    def points(self) -> tuple[str, ...]:
        """The points with any retransmission, `a+b` where captures of a and b were analysed
        together."""
        there = {point for point, _, _ in self.scores}
        return tuple(sorted(there, key=lambda name: [POINTS.index(p) for p in name.split("+")]))

    def at(self, point: str) -> Score:
        """All that was captured at a point."""
        return _sum([score for place, _, score in self.scores if place == point])

    @property
    def reliability(self) -> dict[str, Reliability]:
        """Of all points together."""
        return reliability.total(score.reliability for *_, score in self.scores)

    def parts(self, point: str) -> list[tuple[str, Score]]:
        """Each part at a point."""
        parts: dict[str, list[Score]] = {}
        for place, part, score in self.scores:
            if place == point:
                parts.setdefault(part, []).append(score)
        return [(part, _sum(scores)) for part, scores in parts.items()]

    def kinds(self, point: str) -> list[tuple[str, int, Score]]:
        """Parts of a kind, how many they are and what they are together. Plain parts are of a kind
        where they are named alike but for a number before (`003-tails`, `011-tails`).
        """
        of_part = self.corpus.kinds
        kinds: dict[str, list[Score]] = {}
        for part, score in self.parts(point):
            kind = of_part.get(part, PLAIN)
            name = re.sub(r"^\d+-", "", part) if kind == PLAIN else kind
            kinds.setdefault(name, []).append(score)
        return [(kind, len(scores), _sum(scores)) for kind, scores in kinds.items()]


_OPPOSITE: Final = {"sender": "receiver", "switch": "switch", "receiver": "sender"}

_CLASSES: Final = (tshark.TIMEOUT, tshark.RECOVERY, "mptcp-reinject", "unknown")


def report(
    corpus: Corpus,
    analyse: Analyse,
    labels: Labels | None = None,
    progress: Callable[[Group], None] = lambda _: None,
    groups: Sequence[Group] | None = None,
) -> Report:
    """Analyses captures of the corpus in `groups`, without them each by itself; `labels` gives
    tshark's claims of captures that are analysed by themselves, None leaves it out.
    """
    groups = corpus.alone() if groups is None else groups
    with ThreadPoolExecutor(max_workers=1) as beside:
        alone = [group.captures[0].path for group in groups if len(group.captures) == 1]
        theirs = [beside.submit(labels, path) for path in alone] if labels else []
        try:
            return _report(corpus, groups, analyse, theirs, progress)
        except BaseException:
            beside.shutdown(wait=False, cancel_futures=True)
            raise


def _report(
    corpus: Corpus,
    groups: Sequence[Group],
    analyse: Analyse,
    theirs: Sequence[Future[pl.DataFrame]],
    progress: Callable[[Group], None],
) -> Report:
    """`theirs` are tshark's claims of each capture, or none at all."""
    scores, wrong = [], []
    for number, group in enumerate(groups):
        progress(group)
        taken = analyse(group)
        tables = taken.tables
        claimed = claims.of_trace(tables.retransmissions)
        labelled = theirs[number].result() if theirs else None
        there = corpus.connections.filter(pl.col("part") == group.part)
        # What else the captures have (a corpus narrowed to one flow, a name server's traffic) is
        # nobody's invention.
        along, against = corpus.ways(group.part)
        own = "+".join(group.points)
        for flows, captures in ((along, group.captures), (against, group.captures[::-1])):
            # Nearest to who sends: what that capture has is what can be judged.
            capture = captures[0]
            truth = corpus.truth(capture)
            point = own if flows is along else "+".join(_OPPOSITE[p] for p in group.points[::-1])
            here = _of_flows(flows, truth)
            joined = join(here, _of_flows(flows, claimed))
            score = Score(
                mechanisms=count.mechanisms(joined),
                needs=count.needs(joined),
                stacks=stacks.judge(there, truth, tables, flows),
                tshark=None if labelled is None else _tshark(here, _of_flows(flows, labelled)),
                senders=_by_sender(joined, stacks.senders(there)),
                reliability=reliability.measure(reliability.judged(joined)),
                places=None
                if taken.followed is None
                else places.judge(here, taken.followed, [c.point for c in captures]),
                time=_time(corpus, capture, taken, flows),
            )
            if score.mechanisms.counts or score.time or point == own:
                scores.append((point, group.part, score))
            wrong.append(_wrong(capture, point, joined))
    return Report(corpus, tuple(scores), pl.concat(wrong))


def _time(corpus: Corpus, capture: Capture, taken: Taken, flows: pl.Series) -> Time | None:
    """Captures of several points together have no account of their own."""
    truth = corpus.time(capture) if taken.followed is None else None
    if truth is None:
        return None
    return owners.judge(_of_flows(flows, truth), _of_flows(flows, taken.tables.account))


def _by_sender(joined: Joined, of: Mapping[str, str]) -> dict[str, tuple[Matrix, Matrix]]:
    """Mechanisms and needs by the family of the stack that sent; inventions are nobody's."""
    named = joined.retransmissions.with_columns(
        pl.col("flow").replace_strict(of, default="-", return_dtype=pl.String).alias("family")
    )
    nothing = joined.invented.clear()
    families = {}
    for (name,), rows in named.partition_by("family", as_dict=True).items():
        mine = Joined(rows, nothing)
        families[str(name)] = (count.mechanisms(mine), count.needs(mine))
    return families


def _added(
    one: Mapping[str, tuple[Matrix, Matrix]], other: Mapping[str, tuple[Matrix, Matrix]]
) -> dict[str, tuple[Matrix, Matrix]]:
    total = dict(one)
    for name, (mechanisms, needs) in other.items():
        if name in total:
            total[name] = (total[name][0] + mechanisms, total[name][1] + needs)
        else:
            total[name] = (mechanisms, needs)
    return total


def _of_flows(flows: pl.Series, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("flow").is_in(flows.implode()))


def _tshark(truth: pl.DataFrame, labelled: pl.DataFrame) -> Tshark:
    """Of a retransmission and an `out-of-order` label: tshark says that it is no retransmission."""
    joined = join(truth, labelled)
    missed = pl.col("missed") | (pl.col("claimed_label") == "out-of-order")
    joined_again = Joined(
        joined.retransmissions.with_columns(missed.fill_null(value=True).alias("missed")),
        joined.invented.filter(pl.col("label") != "out-of-order"),
    )
    label = pl.col("claimed_label").fill_null(MISSED)
    labels = Counter(
        {
            (truth, label): n
            for truth, label, n in joined.retransmissions.select("mechanism", label.alias("label"))
            .group_by("mechanism", "label")
            .len()
            .iter_rows()
        }
    )
    for word, n in joined_again.invented.group_by("label").len().iter_rows():
        labels[count.INVENTED, word] += n
    return Tshark(
        labels,
        Matrix(tshark.in_classes(count.mechanisms(joined_again).counts), _CLASSES),
        count.needs(joined_again),
    )


def _wrong(capture: Capture, point: str, joined: Joined) -> pl.DataFrame:
    where = {"point": point, "part": capture.part, "capture": str(capture.path)}
    place = [pl.lit(value).alias(name) for name, value in where.items()]
    retransmissions = joined.retransmissions.select(
        *place,
        "flow",
        "at_ns",
        "seq_start",
        "seq_end",
        "mechanism",
        count.claimed_mechanism().alias("claimed_mechanism"),
        "need",
        pl.when("missed").then(pl.lit(MISSED)).otherwise("claimed_need").alias("claimed_need"),
        pl.col("claimed_confidence").alias("confidence"),
    )
    right = {
        (truth, claim)
        for truth in retransmissions["mechanism"].unique()
        for claim in retransmissions["claimed_mechanism"].unique()
        if count.is_right(truth, claim)
    }
    pair = pl.concat_str("mechanism", "claimed_mechanism", separator=" ")
    is_right = pair.is_in([" ".join(words) for words in sorted(right)])
    is_right |= pl.col("mechanism") == "unknown"
    need_right = (pl.col("need") == "unknown") | (pl.col("need") == pl.col("claimed_need"))
    invented = joined.invented.select(
        *place,
        "flow",
        pl.col("time_ns").alias("at_ns"),
        "seq_start",
        "seq_end",
        pl.lit(count.INVENTED).alias("mechanism"),
        pl.col("mechanism").fill_null("unknown").alias("claimed_mechanism"),
        pl.lit(count.INVENTED).alias("need"),
        pl.col("need").alias("claimed_need"),
        "confidence",
    )
    wrong = retransmissions.filter(~(is_right & need_right.fill_null(value=False)))
    return pl.concat([wrong, invented], how="vertical_relaxed").sort("at_ns", maintain_order=True)


def _sum(scores: Sequence[Score]) -> Score:
    first, *others = scores
    for other in others:
        first = first + other
    return first
