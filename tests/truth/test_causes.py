"""The kernel's record: read, and put into our words."""

from __future__ import annotations

import pytest

from rexmit.errors import UserError
from rexmit_validate.truth import causes, counters

REST = (
    "sack={sack} rack={rack} sk=1 backoff=0 una=1 nxt=9 high={high} undo=1 rto_us=204000 "
    "srtt_us=10000 mdev_us=1 rttvar_us=1 out=8 sacked=3 lost=1 retrans=1 reordering=3 cwnd=5 "
    "segs={segs}"
)


def line(
    cause: str,
    state: str = "recovery",
    *,
    sack: int = 1,
    rack: int = 1,
    high: int = 9,
    segs: int = 1,
    flow: str = "10.0.0.1:80 10.0.0.2:40000",
) -> str:
    rest = REST.format(sack=sack, rack=rack, high=high, segs=segs)
    return f"1000 {flow} 4294967290 5 {cause} {state} {rest}"


def words(*lines: str) -> list[str]:
    return causes.mechanisms(causes.parse("\n".join([*lines, "refused 0\n"])))


def test_a_record_is_read() -> None:
    (record,) = causes.parse(f"{line('queue')}\nrefused 0\n")
    assert record.flow == "10.0.0.1:80 > 10.0.0.2:40000"
    assert (record.stamp_ns, record.seq, record.end_seq) == (1000, 4294967290, 5)
    assert record.text == "queue recovery"
    assert record.numbers["rto_us"] == 204000


def test_a_log_that_was_too_small_or_is_cut_is_refused() -> None:
    with pytest.raises(UserError, match="no room for 2"):
        causes.parse(f"{line('queue')}\nrefused 2\n")
    with pytest.raises(UserError, match="not whole"):
        causes.parse(line("queue"))


def test_what_every_stack_does() -> None:
    found = words(
        line("timer", "loss"),
        line("queue", "loss"),
        line("probe", "open"),
        line("window-timer", "loss"),
        line("synack-timer", "open"),
        line("synack-answer", "open"),
    )
    assert found == ["rto", "rto-recovery", "tlp", "rto", "rto", "rto"]


def test_rack_is_all_of_a_recovery_where_it_is_on() -> None:
    assert words(line("queue"), line("queue-timer"), line("queue")) == ["rack"] * 3


def test_without_rack_the_threshold_begins_a_recovery() -> None:
    first = [line("queue", rack=0), line("queue", rack=0)]
    second = [line("queue", rack=0, high=20), line("queue", rack=0, high=20)]
    expected = ["fast-retransmit", "sack-recovery"] * 2
    assert words(*first, *second) == expected


def test_after_a_timeout_a_recovery_is_another_one() -> None:
    lines = [line("queue", rack=0), line("timer", "loss"), line("queue", rack=0)]
    assert words(*lines) == ["fast-retransmit", "rto", "fast-retransmit"]


def test_without_sack_all_of_a_recovery_is_fast_retransmit() -> None:
    lines = [line("queue", sack=0), line("queue", sack=0)]
    assert words(*lines) == ["fast-retransmit"] * 2


def test_new_data_of_a_probe_is_no_retransmission() -> None:
    records = causes.parse(f"{line('probe-new', 'open')}\n{line('probe', 'open')}\nrefused 0\n")
    assert [one.cause for one in causes.by_flow(records)[records[0].flow]] == ["probe"]
    assert counters.expected(records) == {"TCPLossProbes": 2, "RetransSegs": 1}


def test_counters_are_held_against_records() -> None:
    text = "\n".join(
        [line("queue", segs=3), line("queue", "loss", segs=2), line("timer", "loss"), "refused 0\n"]
    )
    records = causes.parse(text)
    counted = {
        "RetransSegs": 6,
        "TCPFastRetrans": 3,
        "TCPSlowStartRetrans": 2,
        "TCPTimeouts": 1,
    }
    assert counters.disagreements(counted, records) == []
    refused = {**counted, "TCPTimeouts": 2, "TCPSpuriousRtxHostQueues": 1}
    assert counters.disagreements(refused, records) == []
    wrong = {**counted, "TCPFastRetrans": 4}
    assert counters.disagreements(wrong, records) == ["TCPFastRetrans is 4, the records make 3"]


def test_counters_are_differences() -> None:
    before = "Tcp: RetransSegs MaxConn\nTcp: 3 -1\nTcpExt: TCPTimeouts\nTcpExt: 1\n"
    after = "Tcp: RetransSegs MaxConn\nTcp: 10 -1\nTcpExt: TCPTimeouts\nTcpExt: 1\n"
    found = counters.difference((before, after))
    assert found == {"RetransSegs": 7, "MaxConn": 0, "TCPTimeouts": 0}
