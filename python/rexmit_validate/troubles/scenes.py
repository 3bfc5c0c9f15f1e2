"""Connections with one trouble each, and whose the time of each was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

PLACES: Final = ("server", "midway", "client")
"""Where each connection is captured."""

SERVER: Final = "10.0.0.1"
PORT: Final = 8080

LOSS: Final = ("small-window", "recovery-fast", "recovery-timer", "recovery-probe")
"""What a path that loses packets costs: all of them name it."""

QUIET: Final = ("healthy",)


@dataclass(frozen=True)
class Pace:
    """How a program writes or reads: so many bytes at a time with a pause between, the first after
    `first_s`, through a socket with such a `buffer`."""

    piece: int = 65_536
    pause_s: float = 0
    first_s: float = 0
    buffer: int | None = None


@dataclass(frozen=True)
class Scene:
    """A network, what both programs do, and whose most of the time is (`owners`: each of them is
    right; at some places others, of which they cannot tell). The server answers each of `requests`
    with `size` bytes, after `thinks_s`; of an `upload` each request has as many, and the answers
    are short. The client waits for `before_s` before the first request, for `between_s` before each
    other.
    """

    owners: tuple[str, ...]
    elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    size: int = 20_000
    requests: int = 3
    upload: bool = False
    thinks_s: float = 0
    before_s: float = 0
    between_s: float = 0
    after_s: float = 0
    """The client closes the connection so much later."""
    writes: Pace = Pace()
    reads: Pace = Pace()
    """Of the end that sends most, and of the other."""
    split: bool = False
    """The client writes each request in two pieces."""
    nagle: bool = False
    """No TCP_NODELAY."""
    gives_up_s: float = 20
    """The client waits no longer for an answer."""
    answers: int = 1_000
    """So many requests are answered."""
    resets: bool = False
    """The server resets the connection instead of answering one."""
    keepalive_s: int = 0
    """The client sends keep-alives when it was silent for so long."""
    shakes_s: float = 0
    """With TLS: the server waits before its part of the set-up."""
    delay_ms: float = 5
    """Of each of the two links, one way."""
    rate: str = "100Mbit"
    """Of the link behind the switch, as most data go, with the packets that it holds, and netem's
    further words."""
    limit: int = 1_000
    trouble: str = ""
    back: str = ""
    """netem's words for the way back, at the same link."""
    near: bool = False
    """All that is of the link before the switch, instead."""
    before_switch: bool = False
    """The monitor midway stands before the queue of the switch."""
    setup: tuple[str, ...] = ()
    """Commands beforehand, the first word of each the host that it runs on."""
    later: tuple[tuple[float, str], ...] = ()
    """Commands, so long after the client has begun."""
    tls: bool = False
    to: tuple[str, int] = (SERVER, PORT)
    """Where the client connects to."""
    looks_up: tuple[float, int] | None = None
    """The client asks the server's host for its address first, which answers so late, and does not
    hear as many questions."""
    pipelined: bool = False
    """The client sends all requests at once."""

    def at(self, place: str) -> tuple[str, ...]:
        """What is right at this place."""
        return self.elsewhere.get(place, self.owners)


def bucket(rate: str, burst: str, device: str = "s1-eth2") -> tuple[str, ...]:
    """A token bucket with room for two packets: what finds no token is dropped."""
    return (f"s1 tc qdisc add dev {device} root tbf rate {rate} burst {burst} limit 3100",)


def lossy(device: str, part: str, delay_ms: int = 5) -> str:
    """A link of the switch with other loss."""
    at = f"s1 tc qdisc change dev {device} parent 1:1 handle 10:"
    return f"{at} netem limit 1000 delay {delay_ms}ms rate 100Mbit loss {part}"


def _policers() -> dict[str, Scene]:
    scenes = {}
    for rate, burst, size, delay_ms in (
        ("1mbit", "30kb", 800_000, 10),
        ("1mbit", "120kb", 1_500_000, 25),
        ("2mbit", "60kb", 1_500_000, 5),
        ("4mbit", "120kb", 3_000_000, 10),
        ("4mbit", "500kb", 4_000_000, 40),
        ("8mbit", "250kb", 6_000_000, 15),
        ("10mbit", "64kb", 6_000_000, 20),
        ("20mbit", "500kb", 12_000_000, 10),
        ("12mbit", "128kb", 8_000_000, 12),
        ("1500kbit", "50kb", 1_200_000, 18),
        ("6mbit", "80kb", 5_000_000, 25),
        ("3mbit", "40kb", 2_500_000, 8),
        ("5mbit", "200kb", 4_000_000, 35),
        ("15mbit", "300kb", 9_000_000, 6),
        ("700kbit", "20kb", 600_000, 15),
        ("25mbit", "1mb", 15_000_000, 20),
    ):
        for before in (False, True):
            name = f"policer-{rate}-{burst}" + ("-before" if before else "")
            scenes[name] = Scene(
                ("policer",),
                size=size,
                requests=1,
                delay_ms=delay_ms,
                setup=bucket(rate, burst),
                before_switch=before,
            )
    return scenes


IDLE = ("healthy", "between-requests", "messages")

SCENES: Final[Mapping[str, Scene]] = {
    "healthy": Scene(QUIET, requests=10),
    "healthy-upload": Scene(QUIET, requests=10, upload=True),
    "healthy-bulk": Scene(("healthy", "path-rate"), size=3_000_000, requests=1, delay_ms=2),
    "server": Scene(("server",), thinks_s=2.5),
    "server-300ms": Scene(("server",), thinks_s=0.3),
    "server-once": Scene(("server",), thinks_s=0.3, requests=1, size=2_000),
    "server-many": Scene(("server",), thinks_s=0.06, requests=30, size=2_000),
    "server-upload": Scene(("server",), thinks_s=1, requests=3, upload=True, size=200_000),
    "server-within": Scene(
        ("server",), size=300_000, requests=1, writes=Pace(100_000, pause_s=1.0)
    ),
    "server-paced": Scene(
        ("server",), size=1_600_000, requests=1, writes=Pace(16_000, pause_s=0.05)
    ),
    "sender-paced": Scene(
        ("sender", "server"),
        size=1_600_000,
        requests=1,
        delay_ms=20,
        writes=Pace(8_000, pause_s=0.02),
    ),
    "client-before": Scene(("client",), before_s=1.5),
    "client-between": Scene(("between-requests",), between_s=1.5),
    "client-within": Scene(
        ("client",), size=300_000, requests=1, upload=True, writes=Pace(100_000, pause_s=1.0)
    ),
    "client-paced": Scene(
        ("client",), size=800_000, requests=1, upload=True, writes=Pace(16_000, pause_s=0.05)
    ),
    "reader-slow": Scene(
        ("receiver-window",), size=4_000_000, requests=1, reads=Pace(32_768, pause_s=0.05)
    ),
    "reader-stops": Scene(
        ("receiver-window",), size=8_000_000, requests=1, reads=Pace(first_s=8), delay_ms=10
    ),
    "reader-slow-upload": Scene(
        ("receiver-window",),
        size=4_000_000,
        requests=1,
        upload=True,
        reads=Pace(32_768, pause_s=0.05),
    ),
    "receive-buffer": Scene(
        ("receiver-window",), size=800_000, requests=1, reads=Pace(buffer=16_000), delay_ms=20
    ),
    "receive-buffer-long": Scene(
        ("receiver-window",), size=3_000_000, requests=1, reads=Pace(buffer=60_000), delay_ms=60
    ),
    "receive-buffer-upload": Scene(
        ("receiver-window",),
        size=800_000,
        requests=1,
        upload=True,
        reads=Pace(buffer=16_000),
        delay_ms=20,
    ),
    "send-buffer": Scene(
        ("sender",), size=2_000_000, requests=1, writes=Pace(buffer=16_000), delay_ms=30
    ),
    "send-buffer-upload": Scene(
        ("sender",),
        size=2_000_000,
        requests=1,
        upload=True,
        writes=Pace(buffer=16_000),
        delay_ms=30,
    ),
    "sender-rate": Scene(
        ("sender",),
        size=1_500_000,
        requests=1,
        setup=("h1 tc qdisc replace dev h1-eth0 root fq maxrate 4mbit",),
    ),
    "nagle": Scene(("nagle",), size=200, requests=25, nagle=True, split=True),
    "nagle-answer": Scene(("nagle",), size=600, requests=25, nagle=True, writes=Pace(200)),
    "slow-start": Scene(("slow-start",), size=1_500_000, requests=1, delay_ms=50),
    "slow-start-upload": Scene(
        ("slow-start",), size=1_500_000, requests=1, delay_ms=50, upload=True
    ),
    "far": Scene(("round-trip", "slow-start"), size=30_000, requests=2, delay_ms=150),
    "loss-1": Scene(LOSS, size=4_000_000, requests=1, delay_ms=20, trouble="loss 1%"),
    "loss-1-near": Scene(
        LOSS, size=4_000_000, requests=1, delay_ms=20, trouble="loss 1%", near=True
    ),
    "loss-half": Scene(LOSS, size=6_000_000, requests=1, delay_ms=30, trouble="loss 0.5%"),
    "loss-5": Scene(LOSS, size=600_000, requests=1, delay_ms=15, trouble="loss 5%"),
    "loss-heavy": Scene(LOSS, size=1_500_000, requests=1, delay_ms=31, trouble="loss 4.5%"),
    "loss-heavy-near": Scene(
        LOSS, size=1_500_000, requests=1, delay_ms=31, trouble="loss 4.5%", near=True
    ),
    "loss-upload": Scene(
        LOSS, size=1_500_000, requests=1, delay_ms=31, trouble="loss 3%", upload=True
    ),
    "bursts": Scene(LOSS, size=3_000_000, requests=1, delay_ms=20, trouble="loss gemodel 1% 30%"),
    "bursts-near": Scene(
        LOSS, size=3_000_000, requests=1, delay_ms=20, trouble="loss gemodel 1% 30%", near=True
    ),
    "syn-lost": Scene(
        ("connecting",),
        {"server": QUIET},
        setup=(lossy("h1-wire", "100%"),),
        later=((0.3, lossy("h1-wire", "0%")),),
    ),
    "syn-ack-lost": Scene(
        ("connecting",),
        setup=(lossy("h2-wire", "100%"),),
        later=((0.3, lossy("h2-wire", "0%")),),
    ),
    "request-lost": Scene(
        LOSS,
        # Nobody can tell it from a client that is silent.
        {"server": ("client", *LOSS)},
        before_s=0.1,
        requests=1,
        later=((0.05, lossy("h1-wire", "100%")), (0.15, lossy("h1-wire", "0%"))),
    ),
    # All that the first window had no room for.
    "last-lost": Scene(
        LOSS,
        size=20_000,
        requests=1,
        delay_ms=20,
        later=((0.21, lossy("h2-wire", "100%", 20)), (0.33, lossy("h2-wire", "0%", 20))),
    ),
    **_policers(),
    "queue": Scene(
        ("path-rate",), size=4_000_000, requests=1, rate="8Mbit", delay_ms=20, limit=400
    ),
    "queue-near": Scene(
        ("path-rate",), size=4_000_000, requests=1, rate="8Mbit", delay_ms=20, limit=400, near=True
    ),
    "queue-upload": Scene(
        ("path-rate",), size=4_000_000, requests=1, rate="8Mbit", delay_ms=20, upload=True
    ),
    "queue-slow": Scene(
        ("path-rate",), size=600_000, requests=1, rate="1Mbit", delay_ms=10, limit=400
    ),
    "queue-short": Scene(
        ("path-rate", *LOSS), size=4_000_000, requests=1, rate="8Mbit", delay_ms=10, limit=40
    ),
    "unanswered": Scene(("unanswered",), answers=2, gives_up_s=4),
    "peer-gone": Scene(
        ("peer-gone",),
        {"client": QUIET},
        size=40_000_000,
        requests=1,
        gives_up_s=12,
        later=((0.3, "h2 ip link set h2-eth0 down"),),
    ),
    "server-gone": Scene(
        ("peer-gone", "unanswered"),
        {"server": IDLE},
        size=2_000,
        requests=10,
        between_s=0.2,
        gives_up_s=12,
        later=((0.5, "h1 ip link set h1-eth0 down"),),
    ),
    "path-mtu": Scene(
        ("path-mtu",),
        {"midway": ("unanswered",), "client": ("unanswered",)},
        size=60_000,
        requests=1,
        setup=("s1 ip link set s1-eth2 mtu 1300",),
    ),
    # The last packet is small enough.
    "path-mtu-short": Scene(
        ("path-mtu",),
        {"midway": ("path-mtu", "unanswered"), "client": ("path-mtu", "unanswered")},
        size=2_000,
        requests=1,
        setup=("s1 ip link set s1-eth2 mtu 1300",),
    ),
    # With the sender's black hole detection (RFC 4821); behind the hole it is a late answer, or one
    # whose packets' numbers say that others were lost before.
    "path-mtu-found": Scene(
        ("path-mtu",),
        dict.fromkeys(("midway", "client"), ("path-mtu", "server", "recovery-timer")),
        size=60_000,
        requests=1,
        setup=(
            "s1 ip link set s1-eth2 mtu 1300",
            "h1 sysctl -qw net.ipv4.tcp_mtu_probing=1",
        ),
    ),
    "reset": Scene(("unanswered",), answers=2, resets=True),
    "refused": Scene(("connecting",), to=(SERVER, 8_081)),
    "unreachable": Scene(
        ("connecting",),
        to=("10.0.9.9", PORT),
        setup=(
            "h2 ip route replace 10.0.9.9 via 10.0.0.1",
            "h1 ip route replace unreachable 10.0.9.9",
            "h1 sysctl -qw net.ipv4.ip_forward=1",
        ),
    ),
    "name-late": Scene(("dns",), looks_up=(1.5, 0)),
    "name-lost": Scene(("dns",), looks_up=(0, 1)),
    "name-unanswered": Scene(("dns",), looks_up=(0, 9)),
    "server-pipelined": Scene(("server",), thinks_s=0.5, pipelined=True),
    "idle": Scene(IDLE, requests=1, after_s=30),
    "keep-alive": Scene(IDLE, requests=2, between_s=20, keepalive_s=5),
    "acks-lost": Scene(
        # SYNs are lost as well.
        (*QUIET, "path-rate", "slow-start", "connecting", *LOSS),
        size=3_000_000,
        requests=1,
        back="loss 20%",
    ),
    "reordered": Scene(
        (*QUIET, "path-rate", "slow-start", *LOSS),
        size=3_000_000,
        requests=1,
        trouble="reorder 97%",
    ),
    "duplicated": Scene(
        (*QUIET, "path-rate", "slow-start"), size=3_000_000, requests=1, trouble="duplicate 5%"
    ),
    "tls-set-up": Scene(("tls-set-up",), tls=True, shakes_s=1.0, requests=1),
    "tls-first": Scene(("server",), tls=True, thinks_s=1.0, requests=1),
    "tls-first-nagle": Scene(("server",), tls=True, thinks_s=1.0, requests=1, nagle=True),
    "tls-client": Scene(("client",), tls=True, before_s=1.0, requests=1),
}
"""By name; each is made over TLS, too."""

TLS: Final = "tls"


def of_variant(name: str) -> Scene:
    """The scene that is called `NAME`, `NAME+KIND`, or over TLS `NAME+tls` and `NAME+tls+KIND`."""
    name, *kinds = name.split("+")
    return replace(SCENES[name], tls=SCENES[name].tls or TLS in kinds)
