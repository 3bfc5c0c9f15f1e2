"""What scenarios say of links, of lost openings and of closed loops, on the wire of both kernels
and the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import pytest
from tests.lab.conftest import KERNELS, Lab, Run, User

from rexmit._core import Packet
from rexmit.scenario.network import Up

SYN, ACK, ECE, CWR = 2, 16, 64, 128
MS = 10**6

Factory = pytest.TempPathFactory
Runs = Callable[..., Run]
# Live links are the model's, in real time: these grids would take many minutes. See test_live.py.
ENGINES = [("--engine", "model"), *(("--kernel", series) for series in KERNELS)]


@pytest.fixture(scope="module", params=ENGINES, ids=lambda words: words[1])
def tried(me: User, request: pytest.FixtureRequest, tmp_path_factory: Factory) -> Runs:
    """Runs a scenario of these networks and whatever else, with captures."""

    def call(networks: str, more: str = "", workload: str = "segments = 200") -> Run:
        out = tmp_path_factory.mktemp("lines")
        configs = "" if "[configs" in more else "[configs.one]\n"
        text = f"format = 1\n{networks}\n{configs}[workload]\n{workload}\n{more}\n"
        (out / "lines.toml").write_text(text, encoding="utf-8")
        for name, times in TRACES.items():
            (out / name).write_text("".join(f"{time}\n" for time in times), encoding="utf-8")
        words = ("run", str(out / "lines.toml"), *request.param, "--capture")
        return Run(out / "run", Lab(me).rexmit(*words, "--out", str(out / "run")))

    return call


@pytest.fixture(scope="module")
def run(tried: Runs) -> Runs:
    """The same of one whose transfers all end."""

    def call(*words: str, **more: str) -> Run:
        run = tried(*words, **more)
        run.done.ok()
        assert run.transfers["complete"].all()
        return run

    return call


def network(extra: str, name: str = "line") -> str:
    return f'[networks.{name}]\nrate = "10Mbit"\ndelay = "10ms"\n{extra}\n'


def passing(run: Run, row: dict[str, Any], at: str, to: str) -> list[Packet]:
    """What passed at a host of a transfer on its way to one of both, from the first SYN on: a
    packet of the connection before may still be on its way then.
    """
    start = start_ns(run, row)
    passed = [packet for packet in run.capture(row, at) if packet.time_ns >= start]
    return [packet for packet in passed if (packet.sport == 80) == (to == "h2")]


def arrived(run: Run, row: dict[str, Any], host: str) -> list[Packet]:
    """What came to a host of a transfer."""
    return sorted(passing(run, row, host, host), key=lambda packet: packet.time_ns)


def start_ns(run: Run, row: dict[str, Any]) -> int:
    """When the client sent its first SYN."""
    sent = (packet for packet in run.capture(row, "h2") if packet.dport == 80)
    return min(packet.time_ns for packet in sent)


TRACES: Final = {"slow.trace": (12,), "steps.trace": (5, 5, 5, 20, 40)}
"""By their files: milliseconds at which packets of 1,500 bytes may leave."""

WAY: Final = {
    "rate": '"1Mbit"',
    "delay": '"30ms"',
    "jitter": '"9ms"',
    "loss": '"4%"',
    "queue": "3",
    "loss_bursts": '{ to_bad = "4%", to_good = "90%" }',
    "reorder": '"50%"',
    "duplicate": '"50%"',
    "outages": '"80ms..300ms"',
    "stalls": '{ every = "20ms", least = "100ms", most = "200ms" }',
    "policer": '{ rate = "50kbit", burst = "1600B" }',
    "rate_from": '"slow.trace"',
}
"""Of each key of a direction a value that 200 segments, or their acknowledgements, feel."""


def crossing(run: Run, row: dict[str, Any], to: str) -> tuple[int, int, float]:
    """How many packets were sent to a host, how many came before the transfer ended, and how long
    the latter took in the mean, ms, if none was lost.
    """
    other = {"h1": "h2", "h2": "h1"}[to]
    sent = [one.time_ns for one in passing(run, row, other, to)]
    came = [one.time_ns for one in arrived(run, row, to)]
    return len(sent), len(came), (mean(came) - mean(sorted(sent)[: len(came)])) / MS


def test_each_key_acts_in_its_direction(run: Runs) -> None:
    # Where a request does not fit, nothing comes; acknowledgements alone fill no queue, and are not
    # marked.
    assert {*WAY, "path_mtu", "aqm", "ecn_mark"} == Up.model_fields.keys()
    # As it is, with the key on the way from the client, and with it on both.
    ways = {"": "", **{f"up-{key}": f"up = {{ {key} = {WAY[key]} }}" for key in WAY}}
    for key in WAY:
        given = f"{key} = {WAY[key]}"
        ways[f"both-{key}"] = f"links = [{{ {given} }}, {{ {given} }}]"
    networks = "".join(network(extra, f"line{name}") for name, extra in ways.items())
    done = run(networks, workload='segments = 200\ntimeout = "1000s"')
    rows = {row["network"].removeprefix("line"): row for row in done.transfers.to_dicts()}
    plain = {host: crossing(done, rows[""], host) for host in ("h1", "h2")}
    assert all(sent == came for sent, came, _ in plain.values())
    for name, row in rows.items():
        if not name:
            continue
        where, _, key = name.partition("-")
        for host in ("h1", "h2"):
            sent, came, took = crossing(done, row, host)
            if name in ("both-queue", "both-policer") and host == "h1":
                # Of the few segments that come there are few acknowledgements.
                continue
            if where == "up" and host == "h2":
                assert sent - came in (0, 1), name
            elif key in ("loss", "queue", "loss_bursts", "outages", "policer"):
                assert came < sent - 1, (name, host)
            elif key == "duplicate":
                assert sent * 1.3 < came, (name, host)
            else:
                assert sent - came in (0, 1) or key == "stalls", (name, host)
                later = took - plain[host][2]
                # With jitter a sender may fill the queue less.
                later = abs(later) if key == "jitter" else later
                assert later < -0.5 if key == "reorder" else later > 0.5, (name, host, later)


def test_packets_leave_by_a_trace(run: Runs) -> None:
    links = 'links = [{ rate_from = "steps.trace" }, {}]'
    done = run(f'[networks.line]\nrate = "1Gbit"\ndelay = "10ms"\n{links}')
    (row,) = done.transfers.to_dicts()
    begin = start_ns(done, row)
    full = [one for one in arrived(done, row, "h2") if one.payload_len == 1448]
    assert len(full) > 190
    # Both delays, and the second link's 12 µs for a frame.
    moments = [(one.time_ns - begin) / MS - 20.012 for one in full]
    places = Counter(round(moment) % 40 for moment in moments)
    assert all(abs(moment - round(moment)) < 0.05 for moment in moments)
    assert set(places) == {5, 20, 0}
    # While packets wait each moment carries what it can: 5 in 40 ms.
    per_round = Counter(round(moment - 1) // 40 for moment in moments)
    assert max(per_round.values()) == 5
    assert places[5] == pytest.approx(3 * places[20], rel=0.1)


def waits(run: Run, row: dict[str, Any]) -> list[float]:
    """How long segments that were sent once took, ms, in their order."""
    sent = [one for one in run.capture(row, "h1") if one.sport == 80 and one.payload_len]
    times = Counter(one.seq for one in sent)
    came = {one.seq: one.time_ns for one in arrived(run, row, "h2")}
    once = (one for one in sent if times[one.seq] == 1 and one.seq in came)
    return [(came[one.seq] - one.time_ns) / MS for one in once]


AQM: Final = {
    "fifo": "",
    "codel": 'aqm = "codel"',
    "codel-1ms": 'aqm = { kind = "codel", target = "1ms", interval = "20ms" }',
    "fq_codel": 'aqm = "fq_codel"',
    "pie": 'aqm = "pie"',
    "red": 'aqm = "red"',
    "up": 'up = { rate = "50kbit", aqm = "codel" }',
}


def test_a_managed_queue_keeps_waits_short(run: Runs) -> None:
    networks = "".join(network(f"links = [{{ {of} }}, {{}}]", name) for name, of in AQM.items())
    done = run(networks, workload="segments = 1500")
    rows = {row["network"]: row for row in done.transfers.to_dicts()}
    # The queue's part: of all, and typically once the first burst is over.
    own = {name: [wait - 20 for wait in waits(done, row)] for name, row in rows.items()}
    typical = {name: median(of[700:]) for name, of in own.items()}
    assert rows["fifo"]["retransmissions"] == 0
    assert typical["fifo"] > 100
    for name in AQM.keys() - {"fifo", "up"}:
        assert rows[name]["retransmissions"] > 0, name
        # Two frames take 3.6 ms, of both links.
        assert 3.5 < typical[name] < 20, (name, typical)
    assert max(own["codel-1ms"]) < max(own["codel"]) < max(own["fifo"]) / 1.5
    # One flow alone has all turns.
    assert own["fq_codel"] == pytest.approx(own["codel"], abs=0.1)
    # Acknowledgements that wait are dropped.
    sent, came, _ = crossing(done, rows["up"], "h1")
    assert came < sent / 2


@pytest.mark.parametrize("family", [4, 6])
def test_links_mark_what_they_would_drop(tried: Runs, family: int) -> None:
    ecn = 'links = [{ aqm = { kind = "codel", ecn = true } }, {}]'
    chance = 'links = [{ ecn_mark = "1%" }, {}]'
    configs = '[configs.off]\n[configs.on.sysctl]\n"net.ipv4.tcp_ecn" = 1\n'
    networks = network(ecn, "codel") + network(chance, "chance") + network("", "fifo")
    more = f"{configs}[ip]\nfamily = {family}"
    done = tried(networks, more, "segments = 1500")
    done.done.ok()
    rows = {(row["network"], row["config"]): row for row in done.transfers.to_dicts()}
    assert all(row["complete"] for row in rows.values())
    for (name, config), row in rows.items():
        marked = name != "fifo" and config == "on"
        acks = [one for one in arrived(done, row, "h1") if not one.flags & SYN]
        data = [one for one in arrived(done, row, "h2") if not one.flags & SYN]
        # The receiver echoes a mark until the sender says that it has become slower.
        assert any(one.flags & ECE for one in acks) == marked, (name, config)
        assert any(one.flags & CWR for one in data) == marked, (name, config)
        assert (row["retransmissions"] > 0) == (name == "codel" and config == "off")
    # No less than drops, marks keep the queue short.
    assert median(waits(done, rows["codel", "on"])[700:]) - 20 < 20


@pytest.mark.kernel
@pytest.mark.parametrize("series", KERNELS)
def test_with_marks_the_model_takes_as_long_as_a_kernel(
    me: User, tmp_path: Path, series: str
) -> None:
    # Where each segment is acknowledged, buffers of the receiver's kernel play no part.
    text = """format = 1
workload = { segments = 600 }
route = { quickack = true }
tcp = { congestion_control = ["reno", "cubic", "dctcp"] }
[configs.ecn.sysctl]
"net.ipv4.tcp_ecn" = 1
"""
    for rate in (3, 10):
        links = 'links = [{ aqm = { kind = "codel", ecn = true } }, {}]'
        text += f'[networks.mbit{rate}]\nrate = "{rate}Mbit"\ndelay = "20ms"\n{links}\n'
    (tmp_path / "marks.toml").write_text(text, encoding="utf-8")
    took = []
    for words in (("--kernel", series), ("--engine", "model", "--stack", f"linux-{series}")):
        out = tmp_path / words[1]
        done = Lab(me).rexmit("run", str(tmp_path / "marks.toml"), *words, "--out", str(out))
        done.ok()
        rows = Run(out, done).transfers.sort("congestion_control", "network")
        assert rows["retransmissions"].sum() == 0
        took.append(rows["t_total_s"].to_list())
    assert len(set(took[0])) == 6, "marks cost each another time"
    assert took[1] == pytest.approx(took[0], abs=0.004)


def test_a_policer_passes_its_bucket_and_its_rate(run: Runs) -> None:
    links = 'links = [{ rate = "100Mbit", policer = { rate = "5Mbit", burst = "15kB" } }, {}]'
    done = run(f'[networks.line]\nrate = "100Mbit"\ndelay = "10ms"\n{links}')
    (row,) = done.transfers.to_dicts()
    data = [one for one in arrived(done, row, "h2") if one.payload_len]
    times = [one.time_ns for one in data]
    passed = [0, *accumulate(one.payload_len + 66 for one in data)]
    for first in range(len(data)):
        for last in range(first, len(data)):
            # The link may bring together what it let wait, a bucket at most: 1.2 ms.
            ns = times[last] - times[first] + 1.2 * MS
            assert passed[last + 1] - passed[first] <= 15_000 + ns * 5e-3 / 8 + 1
    # Of the ten segments of the first flight the full bucket passes nine.
    sent = [one.seq for one in done.capture(row, "h1") if one.sport == 80 and one.payload_len]
    assert [one.seq for one in data[:9]] == sent[:9]
    assert data[9].seq != sent[9]


def test_a_path_takes_no_larger_packets_than_its_mtu(tried: Runs) -> None:
    hole = "links = [{}, { path_mtu = { bytes = 1300 } }]"
    probing = '[configs.one]\n[configs.probing.sysctl]\n"net.ipv4.tcp_mtu_probing" = 1\n'
    work = 'segments = 20\ntimeout = "20s"'
    done = tried(network("") + network(hole, "hole"), "[configs.one]\n", work)
    done.done.ok()
    rows = {row["network"]: row for row in done.transfers.to_dicts()}
    assert rows["line"]["complete"]
    assert not rows["hole"]["complete"]
    assert max(one.payload_len for one in arrived(done, rows["hole"], "h2")) < 1300
    if done.meta["engine"] == "model":
        said = tried(network(hole.replace("1300", "1300, icmp = true"))).done
        assert "path_mtu.icmp: the model's hosts take no ICMP" in said.err
        return
    done = tried(network(hole, "hole"), probing, work)
    rows = {row["config"]: row for row in done.transfers.to_dicts()}
    assert [rows[name]["complete"] for name in ("one", "probing")] == [False, True]
    # A timeout, and three more before it probes (`tcp_write_timeout`: tcp_retries1).
    assert rows["probing"]["timeouts"] == 4


@pytest.mark.parametrize("tried", ENGINES[1:], indirect=True, ids=KERNELS)
@pytest.mark.parametrize("family", [4, 6])
def test_a_router_tells_a_sender_what_fits_each_time(run: Runs, family: int) -> None:
    told = "repeat = 2\nlinks = [{}, { path_mtu = { bytes = 1300, icmp = true } }]"
    done = run(network(told), f"[configs.one]\n[ip]\nfamily = {family}", "segments = 20")
    for row in done.transfers.to_dicts():
        # The segments of the first flight are too large, and each is sent again at once.
        assert row["retransmissions"] >= 10
        assert row["timeouts"] == 0
        assert row["client_s"] < 0.3


OPENINGS = {
    "ack syn": 1.0,
    "data syn-ack": 1.0,
    "ack request": 0.245,
    "ack request#1..2": 0.493,
}
"""By how much a pattern makes a client wait longer, seconds: the first timeout of a SYN or SYN-ACK
(RFC 6298 section 2.1), and a probe of a round trip's timing."""


def test_lost_openings_cost_the_client_a_timeout_and_the_transfer_nothing(run: Runs) -> None:
    patterns = ", ".join(f'"{pattern}"' for pattern in ("none", *OPENINGS))
    loss = f'[loss]\nrule = "pattern"\npattern = [{patterns}]'
    done = run(network(""), loss, "segments = 20")
    rows = {row["loss_pattern"]: row for row in done.transfers.to_dicts()}
    for pattern, later in OPENINGS.items():
        row = rows[pattern]
        assert row["client_s"] - rows["none"]["client_s"] == pytest.approx(later, abs=0.02), pattern
        assert row["t_total_s"] == pytest.approx(rows["none"]["t_total_s"], abs=1e-4), pattern
        assert row["retransmissions"] == row["dropped_segments"] == 0
    syns = [packet for packet in done.capture(rows["ack syn"], "h1") if packet.flags & SYN]
    assert len({packet.seq for packet in syns if not packet.flags & ACK}) == 1
    at_h1 = arrived(done, rows["ack syn"], "h1")
    assert at_h1[0].time_ns - start_ns(done, rows["ack syn"]) > 1000 * MS


def test_an_outage_lets_nothing_through_and_nothing_else_fails(run: Runs) -> None:
    down, up = 'outages = ["100ms..400ms", "1s..1.2s"]', '[networks.up.up]\noutages = "70ms..2s"'
    done = run(network(down, "both") + network("", "up") + up, workload="segments = 400")
    for row in done.transfers.to_dicts():
        begin = start_ns(done, row)
        at = {
            host: [packet.time_ns - begin for packet in arrived(done, row, host)]
            for host in ("h1", "h2")
        }
        if row["network"] == "both":
            for host, times in at.items():
                # What has passed both links when the first of them fails, and has 20 ms and its
                # queue to come.
                assert not [time for time in times if 130 * MS < time < 410 * MS], host
            assert row["retransmissions"] > 0
            continue
        # The server's packets go on to come while none of the client's does.
        assert not [time for time in at["h1"] if 92 * MS < time < 2010 * MS]
        assert len([time for time in at["h2"] if 72 * MS < time < 2000 * MS]) > 5


def test_outages_cost_what_they_cost_on_a_kernel(run: Runs) -> None:
    row = run(network('outages = "100ms..1.3s"')).transfers.to_dicts()[0]
    # The third timeout, at 200 and 400 and 800 ms and a bit, comes after the end of it.
    assert row["t_total_s"] == pytest.approx(2.47, abs=0.03)
    assert (row["timeouts"], row["mechanism"]) == (3, "rto")


def late(packets: list[Packet]) -> int:
    """How many data packets came after one with higher sequence numbers."""
    data = [packet.seq for packet in packets if packet.payload_len]
    first, highest, found = data[0], 0, 0
    for seq in data:
        place = (seq - first + 2**31) % 2**32
        found += place < highest
        highest = max(highest, place)
    return found


def test_reordering_is_by_the_delay_and_jitter_makes_none(run: Runs) -> None:
    near = 'links = [{ delay = "3ms", reorder = "10%" }, { delay = "17ms" }]'
    far = 'links = [{ delay = "17ms", reorder = "10%" }, { delay = "3ms" }]'
    networks = network(near, "near") + network(far, "far") + network('jitter = "9ms"', "jitter")
    done = run(networks)
    rows = {row["network"]: row for row in done.transfers.to_dicts()}
    count = {name: late(arrived(done, row, "h2")) for name, row in rows.items()}
    assert count["jitter"] == rows["jitter"]["retransmissions"] == 0
    assert min(count["near"], count["far"]) > 20
    for name in ("near", "far"):
        # Nothing is lost: what is sent again is spurious, and RACK's.
        row = rows[name]
        assert row["retransmissions"] == row["spurious_retransmissions"] > 0
        assert row["mechanism"] == "rack"


def test_each_direction_has_its_own_rate(run: Runs) -> None:
    done = run(network("") + '[networks.line.up]\nrate = "100kbit"')
    row = done.transfers.to_dicts()[0]
    gaps = {
        host: [
            later.time_ns - sooner.time_ns
            for sooner, later in pairwise(arrived(done, row, host)[5:])
            if later.payload_len == sooner.payload_len
        ]
        for host in ("h1", "h2")
    }
    # An acknowledgement of 66 bytes at 100 kbit/s, a segment of 1,514 at 10 Mbit/s.
    assert min(gaps["h1"]) == pytest.approx(66 * 8 * 10_000, rel=0.01)
    assert min(gaps["h2"]) == pytest.approx(1514 * 8 * 100, rel=0.01)


def test_bursts_of_loss_have_their_length_and_their_share(run: Runs) -> None:
    bursts = 'links = [{ loss_bursts = { to_bad = "1.5%", to_good = "30%" } }, {}]'
    single = 'links = [{ loss = "4.76%" }, {}]'
    done = run("repeat = 10\n" + network(bursts, "bursts") + network(single, "single"))
    runs: dict[str, list[int]] = {"bursts": [], "single": []}
    sent = dict.fromkeys(runs, 0)
    for row in done.transfers.to_dicts():
        assert row["line_loss"] == pytest.approx(0.0476, abs=1e-4)
        out = [one for one in done.capture(row, "h1") if one.sport == 80 and one.payload_len]
        times = Counter((one.seq, one.payload_len) for one in out)
        came = Counter((one.seq, one.payload_len) for one in arrived(done, row, "h2"))
        # In the order in which they went first.
        fates = [came[one] < times[one] for one in times]
        sent[row["network"]] += len(fates)
        runs[row["network"]] += [len(list(group)) for lost, group in groupby(fates) if lost]
    share = {name: sum(lengths) / sent[name] for name, lengths in runs.items()}
    mean = {name: sum(lengths) / len(lengths) for name, lengths in runs.items()}
    assert mean["single"] < 1.4 < 2.2 < mean["bursts"] < 5, mean
    assert all(0.03 < one < 0.08 for one in share.values()), share


def test_a_path_that_fails_leaves_the_other(run: Runs) -> None:
    paths = 'paths = [{ delay = "10ms", outages = "200ms..1.5s" }, { delay = "15ms" }]'
    mptcp = '[configs.one]\nprotocol = "mptcp"'
    networks = f'[networks.two]\nrate = "10Mbit"\n{paths}'
    done = run(networks, mptcp, "segments = 500")
    (row,) = done.transfers.to_dicts()
    begin = start_ns(done, row)
    in_outage = {
        packet.dst
        for packet in arrived(done, row, "h2")
        if 500 * MS < packet.time_ns - begin < 1500 * MS and packet.payload_len
    }
    assert in_outage == {"10.0.2.2"}
    assert row["t_total_s"] < 1.5


LOOP: Final = """
server = "burst"
bursts = 4
burst_segments = 10
request = "200B"
gap = "300ms"
server_think = "50ms"
last_byte_after = "200ms"
"""


def flights(packets: list[Packet], least_ns: int) -> Iterator[list[Packet]]:
    """Packets with data, parted where none is sent for so long."""
    data = sorted((one for one in packets if one.payload_len), key=lambda one: one.time_ns)
    flight = data[:1]
    for sooner, later in pairwise(data):
        if later.time_ns - sooner.time_ns > least_ns:
            yield flight
            flight = []
        flight.append(later)
    yield flight


def test_a_client_asks_when_it_has_thought_and_a_server_answers_when_it_has(run: Runs) -> None:
    done = run(network(""), workload=LOOP)
    (row,) = done.transfers.to_dicts()
    answers = done.bursts.to_dicts()
    assert [one["burst"] for one in answers] == [1, 2, 3, 4]
    for sooner, later in pairwise(answers):
        read = sooner["t_start_s"] + sooner["completion_s"]
        assert later["t_start_s"] - read == pytest.approx(0.3, abs=1e-4)
    assert row["t_total_s"] == answers[-1]["completion_s"]
    # What the client says when the connection opens comes before them.
    came = [one for one in arrived(done, row, "h1") if one.payload_len == 200]
    sent = [one for one in done.capture(row, "h1") if one.sport == 80]
    parts = list(flights(sent, 120 * MS))
    assert len(came) == 4
    assert len(parts) == 8
    for asked, body, last, answer in zip(came, parts[::2], parts[1::2], answers, strict=True):
        assert body[0].time_ns - asked.time_ns == pytest.approx(50 * MS, abs=MS / 10)
        assert sum(one.payload_len for one in (*body, *last)) == answer["bytes"] == 14480
        assert [one.payload_len for one in last] == [1]
        # The socket takes all of a body at once.
        assert last[0].time_ns - body[0].time_ns == pytest.approx(200 * MS, abs=MS / 10)
        # A round trip of 40 ms, both pauses, and a byte's frame on two links.
        assert answer["completion_s"] == pytest.approx(0.29, abs=1e-3)


def test_a_request_of_a_loop_that_is_lost_costs_the_answer_to_it(run: Runs) -> None:
    loss = '[loss]\nrule = "pattern"\npattern = ["none", "burst 3 ack request"]'
    done = run(network(""), loss, LOOP)
    rows = {row["loss_pattern"]: row for row in done.transfers.to_dicts()}
    table = done.bursts.to_dicts()
    took = {
        name: [one["completion_s"] for one in table if one["cell"] == row["cell"]]
        for name, row in rows.items()
    }
    later = [
        slow - fast for slow, fast in zip(took["burst 3 ack request"], took["none"], strict=True)
    ]
    # Alone in flight a request waits for its probe as long as for its timeout.
    assert later[2] == pytest.approx(0.245, abs=0.02)
    assert [later[0], later[1], later[3]] == pytest.approx([0, 0, 0], abs=1e-3)


def test_a_server_may_think_for_longer_than_a_client_waits(run: Runs) -> None:
    done = run(network(""), workload=f'{LOOP}timeout = "20ms"')
    assert done.bursts["completion_s"].to_list() == pytest.approx([0.29] * 4, abs=1e-3)


def test_a_client_reads_at_its_rate(run: Runs) -> None:
    workload = 'segments = 200\nread_rate = "2Mbit"\nreceive_window = "32kB"'
    done = run(network(""), workload=workload)
    row = done.transfers.to_dicts()[0]
    # Besides, it waits for the first packets, and for the window to open again.
    assert row["client_s"] == pytest.approx(row["transfer_size_bytes"] * 8 / 2e6, rel=0.1)
    # What it has not read yet narrows the window: nothing else holds the server up.
    windows = [packet.window for packet in passing(done, row, "h2", "h1")]
    assert min(windows) < max(windows) / 2


def test_a_response_without_nopush_begins_with_its_head(run: Runs) -> None:
    networks = network("")
    for nopush, expected in (("true", [1448, 1448]), ("false", [230, 1448])):
        done = run(networks, workload=f"segments = 20\ntcp_nopush = {nopush}")
        row = done.transfers.to_dicts()[0]
        data = [p.payload_len for p in arrived(done, row, "h2") if p.payload_len]
        assert data[:2] == pytest.approx(expected, abs=30 if nopush == "false" else 0)
