"""`rexmit tcpfilter` behind a real NFQUEUE, in a guest with nginx and curl."""

from __future__ import annotations

import json
import re
import sys

import pytest
from tests.lab.conftest import Done, Lab

from rexmit.cli.tcpfilter import EXAMPLES
from rexmit.guest import guest_binary

ROW = re.compile(r"\d+, \d+, \d+, (\d+\.\d{9}|nan), (\d+\.\d{9}|nan), ([01]|nan)")

PRELUDE = """
    set -u
    guest=$1 words=$2
    mkdir -p /run/web/www; cd /run/web
    cat > conf <<END
daemon off; master_process off; user root root; pid /run/web/pid; error_log stderr warn;
events { worker_connections 64; }
http { access_log off; sendfile on; tcp_nopush on; default_type text/plain;
  keepalive_timeout $3;
  client_body_temp_path /run/web/1; proxy_temp_path /run/web/2; fastcgi_temp_path /run/web/3;
  uwsgi_temp_path /run/web/4; scgi_temp_path /run/web/5;
  server { listen 10.0.0.1:80; root /run/web/www; } }
END
    page() { head -c "$1" /dev/zero | tr '\\0' a > www/page; }
    page 100000
    nginx -p /run/web -c conf -e stderr & sleep 0.2
    nft add table inet t
    nft add chain inet t sent '{ type filter hook output priority 0; }'
    nft add rule inet t sent tcp sport 80 queue num 7
    start() { "$guest" tcpfilter $words --queue 7 > rows 2> said & filter=$!; sleep 0.2; }
    end() { kill -$1 $filter; wait $filter; echo "ended $?"; cat rows; cat said >&2; }
    get() {
        ip netns exec h2 curl -s -o got -w '%{http_code} %{time_total}\\n' "$@" http://10.0.0.1/page
        cmp got www/page && echo same
    }
"""


def serve(
    lab: Lab, words: str, script: str, network: str = "high-speed", keep_alive_s: int = 0
) -> Done:
    """Run a script on the web server's host; the filter gets `words` when it calls `start`."""
    arguments = (str(guest_binary()), words, str(keep_alive_s))
    return lab.sh(PRELUDE + script, *arguments, options=lab.on_network(f"network={network}")).ok()


def test_a_row_for_every_transfer_as_the_paper_prints_it(each: Lab) -> None:
    done = serve(each, "5", "start; get; cat rows; get; page 300000; get; end TERM")
    assert done.lines.count("same") == 3
    assert ROW.fullmatch(done.lines[2]), "while it runs"
    at = done.lines.index("ended 0")
    rows = done.lines[at + 1 :]
    assert len(rows) == 3
    assert all(ROW.fullmatch(row) for row in rows), rows
    sizes = []
    for row in rows:
        size, segments, dropped, total, recover, flag = row.split(", ")
        sizes.append(int(size))
        assert int(segments) == -(-int(size) // 1448)
        assert (dropped, flag) == ("5", "1")
        # A probe: two round trips of 10 ms and a little, after the last acknowledgement.
        assert 0.030 < float(recover) < 0.050
        assert float(recover) < float(total) < 0.3
    # The head is the same but for the digits of the length.
    assert sizes[0] == sizes[1]
    assert sizes[2] - sizes[0] == 200_000
    assert 100_100 < sizes[0] < 100_400
    assert "dropping the last 5 segments of each transfer, sequence mode" in done.err


def test_without_the_probe_the_flag_is_zero(lab: Lab) -> None:
    script = "sysctl -q -w net.ipv4.tcp_early_retrans=0; start; get; end INT"
    done = serve(lab, "3", script)
    assert done.lines[2] == "ended 0"
    row = done.lines[3]
    assert ROW.fullmatch(row)
    assert row.endswith(", 0")
    assert float(row.split(", ")[4]) > 0.2, "a timeout"


def test_the_flag_is_not_valid_for_fewer_than_two_drops(lab: Lab) -> None:
    script = "for words in 0 1 2; do start; get; end TERM; done"
    rows = [line.split(", ") for line in serve(lab, "", script).lines if ROW.fullmatch(line)]
    assert [(row[2], row[5]) for row in rows] == [("0", "nan"), ("1", "nan"), ("2", "1")]
    assert [row[4] == "nan" for row in rows] == [True, False, False]
    assert "nan" not in [row[3] for row in rows]


def test_hold_mode_does_the_same_on_a_fast_link(lab: Lab) -> None:
    script = "start; get; end TERM"
    sequence, hold = (serve(lab, f"5 --mode {mode}", script).lines for mode in ("sequence", "hold"))
    assert ROW.fullmatch(hold[-1])
    assert hold[-1] == sequence[-1]


def test_json_has_one_object_a_line(lab: Lab) -> None:
    done = serve(lab, "2 --json", "start; get; get; end TERM")
    rows = [json.loads(line) for line in done.lines if line.startswith("{")]
    assert len(rows) == 2
    for row in rows:
        assert row["dropped_segments"] == row["retransmissions"] == 2
        assert (row["exact"], row["complete"], row["is_tlp"]) == (True, True, True)
        assert row["flow"].startswith("10.0.0.1:80 > 10.0.0.2:")


def test_responses_of_one_connection_are_transfers_of_their_own(lab: Lab) -> None:
    script = """
        start
        ip netns exec h2 curl -s -o got -o got2 -o got3 \\
            http://10.0.0.1/page http://10.0.0.1/page http://10.0.0.1/page
        for file in got got2 got3; do cmp $file www/page && echo same; done
        end TERM
    """
    done = serve(lab, "4 --json", script, keep_alive_s=60)
    assert done.lines[:3] == ["same"] * 3
    rows = [json.loads(line) for line in done.lines if line.startswith("{")]
    assert [row["dropped_segments"] for row in rows] == [4, 4, 4]
    assert [row["retransmissions"] for row in rows] == [4, 4, 4]
    assert len({row["flow"] for row in rows}) == 1, "one connection"
    assert [row["fin_on_data"] for row in rows] == [None] * 3


def test_two_clients_at_a_time(lab: Lab) -> None:
    script = """
        start
        for n in 1 2 3 4; do
            ip netns exec h2 curl -s -o "got$n" http://10.0.0.1/page & all="${all:-} $!"
        done
        wait $all
        for n in 1 2 3 4; do cmp "got$n" www/page && echo same; done
        end TERM
    """
    done = serve(lab, "5", script)
    assert done.lines.count("same") == 4
    rows = [line.split(", ") for line in done.lines if ROW.fullmatch(line)]
    assert [row[2] for row in rows] == ["5"] * 4


# In each of these the filter is ended in the middle of a transfer, and then its firewall rule.
INTERRUPTED = """
    start
    get & client=$!
    sleep {after}
    wc -l < rows
    before=$(date +%s%N)
    end {signal}
    echo "took $(( ($(date +%s%N) - before) / 1000000 ))"
    nft delete table inet t
    wait $client
"""


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_a_signal_while_packets_are_held_lets_them_go(lab: Lab, signal: str) -> None:
    # On the slow link the filter holds packets for three seconds, and the sender stands still.
    script = INTERRUPTED.format(after=2, signal=signal)
    done = serve(lab, "5 --mode hold", script, "mobile")
    assert done.lines[:2] == ["0", "ended 0"]
    assert int(done.lines[3].removeprefix("took ")) < 100
    assert done.lines[-1] == "same"
    code, seconds = done.lines[-2].split()
    assert code == "200"
    assert float(seconds) < 3, "sooner than the hold would have ended"
    assert "the measurement ended before the transfer" in done.err


def test_a_signal_in_the_middle_of_a_transfer_spoils_nothing(lab: Lab) -> None:
    script = INTERRUPTED.format(after=1.5, signal="TERM")
    done = serve(lab, "5", script, "satellite")
    assert done.lines[:2] == ["0", "ended 0"]
    row = done.lines[2].split(", ")
    assert row[2:] == ["0", "nan", "nan", "nan"]
    assert done.lines[-1] == "same"


def test_a_signal_ends_it_under_load(lab: Lab) -> None:
    # Four downloads fill the link: there is always one more packet to judge.
    script = """
        page 5000000; start
        for n in 1 2 3 4; do
            ip netns exec h2 curl -s -o "got$n" http://10.0.0.1/page & all="${all:-} $!"
        done
        sleep 0.5
        before=$(date +%s%N); end TERM; echo "took $(( ($(date +%s%N) - before) / 1000000 ))"
        nft delete table inet t
        wait $all
        for n in 1 2 3 4; do cmp "got$n" www/page && echo same; done
    """
    done = serve(lab, "5", script)
    (took,) = (int(line.split()[1]) for line in done.lines if line.startswith("took"))
    assert took < 100, "milliseconds of virtual time"
    assert done.lines.count("same") == 4


@pytest.mark.parametrize("signal", ["TERM", "KILL"])
def test_with_the_rule_of_the_help_the_server_serves_on_after_the_filter(
    lab: Lab, signal: str
) -> None:
    (rule,) = (line.strip() for line in EXAMPLES.splitlines() if "NFQUEUE" in line)
    script = f"""
        nft delete table inet t
        # The guest's kernel has the tables that iptables used before nftables.
        iptables() {{ iptables-legacy "$@"; }}
        {rule}
        start() {{ "$guest" tcpfilter 5 --queue 0 > rows 2> said & filter=$!; sleep 0.2; }}
        start; get; end {signal}
        rm got; get --max-time 20
    """
    done = serve(lab, "5", script)
    assert [line.split()[0] for line in done.lines if line.startswith("200 ")] == ["200"] * 2
    assert done.lines.count("same") == 2
    (row,) = (line.split(", ") for line in done.lines if ROW.fullmatch(line))
    assert row[2] == "5", "the rule does send the server's packets to the filter"


def test_a_pattern_drops_by_position(lab: Lab) -> None:
    script = """
        nft add chain inet t got '{ type filter hook input priority 0; }'
        nft add rule inet t got tcp dport 80 queue num 7
        start() { "$guest" tcpfilter --pattern 'data 3 3#2 -1; ack 2' --json \\
                  --queue 7 > rows 2> said &
                  filter=$!; sleep 0.2; }
        start; get; end TERM
    """
    done = serve(lab, "0", script)
    assert "same" in done.lines
    assert "dropping of each transfer: data 3 3#2 -1; ack 2" in done.err
    (row,) = (json.loads(line) for line in done.lines if line.startswith("{"))
    assert row["dropped_segments"] == 2
    assert row["retransmissions"] >= 3
    assert row["complete"]
    assert row["exact"]


def test_a_pattern_drops_openings(lab: Lab) -> None:
    script = """
        nft add chain inet t got '{ type filter hook input priority 0; }'
        nft add rule inet t got tcp dport 80 queue num 7
        start() { "$guest" tcpfilter --pattern "$words" --queue 7 > rows 2> said &
                  filter=$!; sleep 0.2; }
        start; get; end TERM
    """
    waits = {"none": 0.0, "data syn-ack": 1.0, "ack syn": 1.0, "ack request": 0.2}
    for pattern, wait in waits.items():
        done = serve(lab, pattern, script)
        (took_s,) = (float(line.split()[1]) for line in done.lines if line[:4] == "200 ")
        assert wait < took_s < wait + 0.15, pattern


MULTIPATH = """
import socket, sys, time
MPTCP = 262
BODY = 200_000
if sys.argv[1] == "serve":
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("10.0.0.1", 80))
    listener.listen()
    talk, _ = listener.accept()
    talk.recv(100)
    head = f"HTTP/1.1 200 OK\\r\\nContent-Length: {BODY}\\r\\nConnection: close\\r\\n\\r\\n"
    talk.sendall(head.encode() + bytes(BODY))
    talk.close()
    time.sleep(2)
else:
    talk = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    talk.connect(("10.0.0.1", 80))
    time.sleep(0.5)
    talk.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
    got = 0
    while piece := talk.recv(65536):
        got += len(piece)
    print("got", got - BODY)
"""


def test_a_pattern_names_a_subflow(each: Lab) -> None:
    """A server and a client of Multipath TCP, the client with two addresses."""
    script = """
        guest=$1 python=$2 code=$3
        ip netns exec h2 ip addr add 10.0.0.3/8 dev h2-eth0
        ip mptcp limits set subflow 2 add_addr_accepted 2
        ip netns exec h2 ip mptcp limits set subflow 2 add_addr_accepted 2
        ip netns exec h2 ip mptcp endpoint add 10.0.0.3 subflow
        nft add table inet t
        nft add chain inet t sent '{ type filter hook output priority 0; }'
        nft add rule inet t sent tcp sport 80 queue num 7
        "$guest" tcpfilter --pattern 'path 2 data 3 3#2; path 1 data 2' --queue 7 --json > rows &
        filter=$!; sleep 0.2
        "$python" -I -S -c "$code" serve & sleep 0.5
        ip netns exec h2 "$python" -I -S -c "$code" get
        sleep 1; kill -TERM $filter; wait $filter; cat rows
    """
    arguments = (str(guest_binary()), sys.executable, MULTIPATH)
    options = each.on_network("network=high-speed")
    done = each.sh(script, *arguments, options=options).ok()
    (head,) = (int(line.split()[1]) for line in done.lines if line.startswith("got "))
    (row,) = (json.loads(line) for line in done.lines if line.startswith("{"))
    assert 0 < head < 100, "the client has it all"
    assert row["transfer_size_bytes"] == 200_000 + head
    # The third packet of the second subflow, twice unless it went again on the first; the second of
    # the first.
    assert row["dropped_segments"] == 2
    assert row["complete"]
    assert row["exact"]
    assert row["retransmissions"] >= 2


def test_a_taken_queue_is_told_plainly(lab: Lab) -> None:
    script = """
        start
        "$guest" tcpfilter 5 --queue 7; echo "second $?"
        "$guest" tcpfilter 5 --queue 8 & other=$!; sleep 0.1; kill -INT $other; wait $other
        echo "third $?"
        get; end TERM
    """
    done = serve(lab, "1", script)
    assert done.lines[:2] == ["second 1", "third 0"]
    assert "same" in done.lines, "the first one works on"
    assert "queue 7 is taken: another program listens there" in done.err
    assert "panicked" not in done.err


def test_missing_rights_are_told_plainly(lab: Lab) -> None:
    done = lab.exec(
        *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
        *(str(guest_binary()), "tcpfilter", "5"),
    )
    assert done.status == 1
    assert done.err.startswith("rexmit tcpfilter: queue 0 needs the right to administer")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("words", [(), ("5", "--queue", "65536"), ("5", "--mode", "paper")])
def test_wrong_usage(lab: Lab, words: tuple[str, ...]) -> None:
    done = lab.rexmit("tcpfilter", *words)
    assert done.status == 2
    assert "Traceback" not in done.err


def test_the_command_starts_the_filter(lab: Lab, me_words: tuple[str, ...]) -> None:
    # The whole way through Python, in the guest.
    done = lab.sh('"$@" tcpfilter 5 --queue 3 & f=$!; sleep 1; kill -INT $f; wait $f', *me_words)
    assert done.status == 0
    assert "dropping the last 5 segments" in done.err


@pytest.fixture
def me_words(lab: Lab) -> tuple[str, ...]:
    return lab.user.words
