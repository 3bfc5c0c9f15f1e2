"""What is drawn beside packets is what a look at all of them gives, whatever was sent again."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.steps import PLAIN

from rexmit.ladder.said import Said
from rexmit.ladder.steps import Step
from rexmit.webpage.beside import series

PLACES = st.integers(0, 60)


@given(st.lists(st.tuples(PLACES, st.integers(1, 6))), PLACES, st.integers(1, 6))
def test_what_was_sent_is_kept_as_spans_that_do_not_touch(
    sent: list[tuple[int, int]], place: int, length: int
) -> None:
    said = Said()
    shown: set[int] = set()
    for start, used in sent:
        said._show(start, start + used)
        shown.update(range(start, start + used))
    assert said._shown(place, place + length) == bool(shown & set(range(place, place + length)))
    assert {at for span in said.spans for at in range(*span)} == shown
    assert all(
        there < here for (_, there), (here, _) in zip(said.spans, said.spans[1:], strict=False)
    )


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 1000), st.integers(1, 5))))
def test_nothing_that_waits_behind_a_retransmission_is_a_sample(
    steps: list[tuple[bool, bool, int, int]],
) -> None:
    """RFC 6298 section 3: held against every segment that is out, one by one."""
    made: list[Step] = []
    out: list[tuple[int, int, bool]] = []
    expected: list[float] = []
    top = acknowledged = 0
    for now, (mine, new, place, used) in enumerate(steps):
        if not mine:
            ack = place % (top + 1)
            made.append(replace(PLAIN, from_server=False, ack=ack))
            covered = [one for one in out if one[0] <= ack]
            if ack > acknowledged and covered and not any(again for *_, again in covered):
                expected.append(now - covered[-1][1])
            if ack > acknowledged:
                acknowledged, out = ack, [one for one in out if one[0] > ack]
            continue
        seq = top if new or not top else place % top
        made.append(replace(PLAIN, seq=seq, payload_bytes=used, again=seq < top))
        if seq < top:
            out = [(end, at, again or end > seq) for end, at, again in out]
        else:
            out.append((seq + used, now, False))
        top = max(top, seq + used)
    drawn = series(made, range(len(made)), data_from_server=True, scale=0)
    assert [sample for _, sample in drawn["rtt"]] == expected
