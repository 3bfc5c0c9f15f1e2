"""Captures that a hostile sender could make, each kind to make one part of the analysis slow."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

CLIENT: Final = 0x0A00_0001
SERVER: Final = 0x0A00_0002
PORTS: Final = (40_000, 80)

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
DATA: Final = PSH | ACK

MSS: Final = struct.pack(">BBH", 2, 4, 1460)
SYN_OPTIONS: Final = MSS + bytes([4, 2, 3, 3, 14])
"""Segments of 1,460 bytes, SACK, and windows of up to a gigabyte."""

SEGMENT: Final = 1000

Kind = Callable[["Capture", int], None]
"""Writes so many packets, or a few more or less."""


class Capture:
    """A capture of IPv4 packets that is being written, its clock, and its source of chance."""

    def __init__(self) -> None:
        self.chance = random.Random(1)  # noqa: S311 - the same every time
        self.now_ns = 1_700_000_000 * 10**9
        self.packets = 0
        self._parts = [struct.pack("<IHHiIII", 0xA1B2_3C4D, 2, 4, 0, 0, 65_535, 101)]

    def contents(self) -> bytes:
        """The capture as a file's contents."""
        return b"".join(self._parts)

    def wait(self, nanoseconds: int) -> None:
        """Lets time go by; a negative number sets the clock back."""
        self.now_ns += nanoseconds

    def record(self, packet: bytes, cut: int = 0) -> None:
        """A packet of which the last `cut` bytes are not in the capture."""
        self.now_ns += 1000
        self.packets += 1
        times = divmod(self.now_ns, 10**9)
        self._parts.append(struct.pack("<IIII", *times, len(packet), len(packet) + cut) + packet)

    def send(
        self,
        flags: int,
        seq: int,
        ack: int,
        length: int = 0,
        *,
        hosts: tuple[int, int] = (SERVER, CLIENT),
        ports: tuple[int, int] = (PORTS[1], PORTS[0]),
        options: bytes = b"",
        window: int = 65_535,
        ident: int = 0,
        payload: bytes = b"",
    ) -> None:
        """A TCP packet, of the server to the client unless other hosts are named. Behind its
        payload it has `length` bytes more that are not in the capture.
        """
        tcp = tcp_header(ports, seq, ack, flags, window, options) + payload
        packet = ip_header(hosts, 20 + len(tcp) + length, ident=ident) + tcp
        self.record(packet, cut=length)

    def line(self, text: str) -> None:
        """A packet as a line of text: what is written is a list of packets, and no pcap."""
        if not self.packets:
            self._parts.clear()
        self.now_ns += 1000
        self.packets += 1
        seconds, rest = divmod(self.now_ns, 10**9)
        self._parts.append(f"{seconds}.{rest:09} {text}\n".encode())

    def answer(self, ack: int, options: bytes = b"", *, seq: int = 1, window: int = 65_535) -> None:
        """An acknowledgement of the client to the server."""
        self.send(
            ACK, seq, ack, hosts=(CLIENT, SERVER), ports=PORTS, options=options, window=window
        )

    def data(self, at: int, length: int = SEGMENT, options: bytes = b"") -> None:
        """Data of the server, whose first byte has the number 1."""
        self.send(DATA, at, 1, length, options=options)

    def open(
        self,
        hosts: tuple[int, int] = (CLIENT, SERVER),
        ports: tuple[int, int] = PORTS,
        options: Sequence[bytes] = (SYN_OPTIONS, SYN_OPTIONS, b""),
    ) -> None:
        """A handshake of three packets, with these options."""
        back = (hosts[::-1], ports[::-1])
        self.send(SYN, 0, 0, hosts=hosts, ports=ports, options=options[0])
        self.send(SYN | ACK, 0, 1, hosts=back[0], ports=back[1], options=options[1])
        self.send(ACK, 1, 1, hosts=hosts, ports=ports, options=options[2])


def ip_header(
    hosts: tuple[int, int],
    length: int,
    *,
    ident: int = 0,
    protocol: int = 6,
    fragment: int = 0x4000,
) -> bytes:
    """An IPv4 header."""
    return struct.pack(
        ">BBHHHBBHII", 0x45, 0, length & 0xFFFF, ident & 0xFFFF, fragment, 64, protocol, 0, *hosts
    )


def tcp_header(
    ports: tuple[int, int], seq: int, ack: int, flags: int, window: int, options: bytes
) -> bytes:
    """A TCP header."""
    options += b"\1" * (-len(options) % 4)
    words = (5 + len(options) // 4) << 4
    fixed = (*ports, seq & 0xFFFF_FFFF, ack & 0xFFFF_FFFF, words, flags, window, 0, 0)
    return struct.pack(">HHIIBBHHH", *fixed) + options


def sack(*blocks: tuple[int, int]) -> bytes:
    """A SACK option."""
    numbers = [number & 0xFFFF_FFFF for block in blocks for number in block]
    return struct.pack(f">BBBB{len(numbers)}I", 1, 1, 5, 2 + 4 * len(numbers), *numbers)


def stamps(value: int, echo: int) -> bytes:
    """A timestamp option."""
    return struct.pack(">BBBBII", 1, 1, 8, 10, value & 0xFFFF_FFFF, echo & 0xFFFF_FFFF)


def block(segment: int) -> tuple[int, int]:
    """The numbers of a segment."""
    return 1 + segment * SEGMENT, 1 + (segment + 1) * SEGMENT


def each(capture: Capture, count: int) -> None:
    """So many segments, in their order."""
    for segment in range(count):
        capture.data(block(segment)[0])


# One connection whose pieces lie otherwise than they were sent.


def holes(capture: Capture, count: int) -> None:
    """Every other segment is missed by the monitor, SACKed, and the others come afterwards."""
    capture.open()
    for parity in (0, 1):
        for segment in range(parity, count * 2 // 3, 2):
            capture.data(block(segment)[0])
        for segment in range(0, count * 2 // 3, 2) if parity == 0 else ():
            capture.answer(1, sack(block(segment)))


def sacks_backwards(capture: Capture, count: int) -> None:
    """Every other segment is SACKed, the last first; then the rest is sent again."""
    capture.open()
    each(capture, count // 2)
    for segment in range(count // 2 - 1, 0, -2):
        capture.wait(10**5)
        capture.answer(1, sack(block(segment)))
    for segment in range(0, count // 2, 2):
        capture.data(block(segment)[0])


def sacks_at_random(capture: Capture, count: int) -> None:
    """SACKs of three segments anywhere, and retransmissions anywhere."""
    capture.open()
    segments = count * 3 // 7
    each(capture, segments)
    for number in range(segments):
        some = capture.chance.sample(range(1, segments), 3)
        capture.answer(1, sack(*map(block, some)))
        if number % 3 == 0:
            capture.data(block(capture.chance.randrange(segments))[0])


def sacks_of_bytes(capture: Capture, count: int) -> None:
    """SACKs of single bytes cut every segment into pieces."""
    capture.open()
    each(capture, count // 10)
    for _ in range(count * 9 // 10):
        places = capture.chance.sample(range(2, count // 10 * SEGMENT), 3)
        capture.answer(1, sack(*((place, place + 1) for place in places)))


def duplicates_of_all(capture: Capture, count: int) -> None:
    """D-SACKs that report all that was sent to have come twice."""
    capture.open()
    each(capture, count // 2)
    end = block(count // 2)[0]
    capture.answer(end)
    for number in range(count // 2):
        if number % 4 == 0:
            capture.data(block(capture.chance.randrange(count // 2))[0])
        capture.answer(end, sack((1, end)))


def sacks_of_all(capture: Capture, count: int) -> None:
    """SACKs of all but the first segment, again and again, while it is sent again."""
    capture.open()
    each(capture, count // 2)
    for number in range(count // 2):
        capture.answer(1, sack((block(1)[0], block(count // 2)[0])))
        if number % 8 == 0:
            capture.data(1)


def one_again(capture: Capture, count: int) -> None:
    """A hundred segments are sent again without an end."""
    capture.open()
    each(capture, 100)
    for number in range(count - 100):
        capture.wait(10**6)
        capture.data(block(number % 100)[0])


def one_byte_again(capture: Capture, count: int) -> None:
    """A single segment is sent again without an end, and each copy acknowledged as the last was."""
    capture.open()
    capture.data(1)
    for _ in range(count // 2):
        capture.wait(10**6)
        capture.data(1)
        capture.answer(1)


def window_again(capture: Capture, count: int) -> None:
    """A whole window is sent four times and never acknowledged."""
    capture.open()
    for _ in range(4):
        each(capture, count // 4)
        capture.wait(10**9)


def bytes_at_random(capture: Capture, count: int) -> None:
    """Segments of one byte in any order, then an acknowledgement of each."""
    capture.open()
    places = list(range(1, count // 2 + 1))
    capture.chance.shuffle(places)
    for place in places:
        capture.data(place, 1)
    for place in range(1, count // 2 + 1):
        capture.answer(place)


def bytes_without_answer(capture: Capture, count: int) -> None:
    """Segments of one byte in any order, and nothing else."""
    capture.open()
    places = list(range(1, count + 1))
    capture.chance.shuffle(places)
    for place in places:
        capture.data(place, 1)


def backwards(capture: Capture, count: int) -> None:
    """The window is sent from its end to its beginning."""
    capture.open()
    for segment in range(count // 2, -1, -1):
        capture.data(1 + segment * 100, 100)
    for segment in range(count // 2):
        capture.answer(1 + segment * 100)


def overlaps(capture: Capture, count: int) -> None:
    """Many small segments, then large ones that send thousands of them again at once."""
    capture.open()
    small = count // 2
    for place in range(small):
        capture.data(1 + place, 1)
    for number in range(count // 2):
        capture.wait(10**5)
        capture.data(1 + number % 1000, min(60_000, small - 1000))


def gaps(capture: Capture, count: int) -> None:
    """Every segment begins two hundred segments after the one before."""
    capture.open()
    for number in range(count):
        capture.data(1 + number * 200 * SEGMENT)


def gaps_of_many(capture: Capture, count: int) -> None:
    """Segments of two hundred connections in turn, each two hundred behind the one before."""
    clients = range(CLIENT + 0x100, CLIENT + 0x100 + 200)
    for client in clients:
        capture.open((client, SERVER))
    for number in range(count // 200):
        for client in clients:
            at, ports = 1 + number * 200 * SEGMENT, (PORTS[1], PORTS[0])
            capture.send(DATA, at, 1, SEGMENT, hosts=(SERVER, client), ports=ports)


def duplicate_acknowledgements(capture: Capture, count: int) -> None:
    """A thousand segments, and duplicate acknowledgements of the first."""
    capture.open()
    each(capture, 1000)
    for _ in range(count - 1000):
        capture.wait(10**4)
        capture.answer(1)


def answers_afterwards(capture: Capture, count: int) -> None:
    """All is acknowledged, some of it sent again, and the acknowledgement repeated."""
    capture.open()
    third = count // 3
    each(capture, third)
    end = block(third)[0]
    capture.answer(end)
    each(capture, third)
    for _ in range(third):
        capture.answer(end)


def timeouts(capture: Capture, count: int) -> None:
    """A large window, whose first segment is sent again after a second each time."""
    capture.open()
    each(capture, count // 2)
    for number in range(count // 2):
        capture.wait(10**9)
        capture.data(1)
        if number % 16 == 0:
            capture.answer(1, sack(block(number + 1)))


def timeouts_taken_back(capture: Capture, count: int) -> None:
    """Timeouts of a large window that has arrived but for its first; a SACK takes each back."""
    capture.open()
    third = count // 3
    each(capture, third + 1)
    capture.answer(1, sack((block(1)[0], block(third)[0])))
    for segment in range(third, third + count * 2 // 9):
        capture.wait(10**9)
        capture.data(1)
        capture.answer(1, sack(block(segment)))
        capture.data(block(segment + 1)[0])


def waits_for_reordered(capture: Capture, count: int) -> None:
    """A round trip of a second, and reordering: all below what is SACKed is waited for."""
    capture.send(SYN, 0, 0, hosts=(CLIENT, SERVER), ports=PORTS, options=SYN_OPTIONS)
    capture.send(SYN | ACK, 0, 1, options=SYN_OPTIONS)
    capture.wait(10**9)
    capture.send(ACK, 1, 1, hosts=(CLIENT, SERVER), ports=PORTS)
    half = count // 2
    each(capture, half)
    capture.wait(10**9)
    for segment in range(half - 1, 0, -1):
        capture.answer(1, sack(block(segment)))


def duplicates_in_flight(capture: Capture, count: int) -> None:
    """D-SACKs of a whole window in flight, of which a segment was sent again before each."""
    capture.open()
    half = count // 2
    each(capture, half)
    end = block(half - 1)[0]
    for number in range(half // 2):
        capture.data(block(number)[0])
        capture.answer(1, sack((1 + SEGMENT, end), (1 + SEGMENT, end + SEGMENT)))


def sacks_upwards(capture: Capture, count: int) -> None:
    """The last segment is SACKed, then every other one from the first on."""
    capture.open()
    segments = count * 2 // 3
    each(capture, segments)
    capture.answer(1, sack(block(segments - 1)))
    for segment in range(1, segments - 1, 2):
        capture.answer(1, sack(block(segment)))


def answers_of_nothing(capture: Capture, count: int) -> None:
    """Acknowledgements, of anything, where the monitor sees no data."""
    capture.open()
    for _ in range(count):
        capture.answer(capture.chance.getrandbits(20))


def wraps(capture: Capture, count: int) -> None:
    """Numbers that jump by half the circle."""
    capture.open()
    at = 1
    for _ in range(count // 2):
        at += capture.chance.choice([2**31 - 1, 2**30, 2**31, 1000, -(2**30)])
        capture.data(at)
        capture.answer(at + SEGMENT, sack((at + 5000, at + 6000)))


# What is no data: windows, probes, stamps, clocks and identifications.


def window_probes(capture: Capture, count: int) -> None:
    """A window that is shut, and probes of it."""
    capture.open()
    each(capture, 10)
    end = block(10)[0]
    capture.answer(end, window=0)
    for _ in range(count // 2):
        capture.wait(10**8)
        capture.data(end - 1, 0)
        capture.answer(end, window=0)


def zero_windows(capture: Capture, count: int) -> None:
    """The window is shut after each segment, and opened for the next."""
    capture.open()
    for segment in range(count // 3):
        capture.data(block(segment)[0])
        capture.answer(block(segment + 1)[0], window=0)
        capture.answer(block(segment + 1)[0], window=1)


def keep_alives(capture: Capture, count: int) -> None:
    """A connection that only asks whether the other is there."""
    capture.open()
    capture.data(1)
    capture.answer(1 + SEGMENT)
    for _ in range(count // 2):
        capture.wait(10**9)
        capture.data(SEGMENT, 1)
        capture.answer(1 + SEGMENT, sack((SEGMENT, SEGMENT + 1)))


def stamps_at_random(capture: Capture, count: int) -> None:
    """Stamps and echoes of any number."""
    capture.open()

    def some() -> bytes:
        return stamps(capture.chance.getrandbits(32), capture.chance.getrandbits(32))

    for segment in range(count * 5 // 11):
        capture.data(block(segment)[0], options=some())
        if segment % 5 == 0:
            capture.data(block(max(segment - 50, 0))[0], options=some())
        capture.answer(block(segment)[0], some())


def stamps_that_jump(capture: Capture, count: int) -> None:
    """Stamps that go a quarter of the circle further each time, echoed a long time afterwards."""
    capture.open()
    for segment in range(count // 2):
        capture.data(block(segment)[0], options=stamps(segment << 30, segment << 10))
        capture.answer(1, stamps(segment << 10, (segment // 2) << 30))


def clock_back(capture: Capture, count: int) -> None:
    """A monitor's clock that goes back with every other packet."""
    capture.open()
    for segment in range(count // 2):
        capture.wait(-4000 if segment % 2 else -1000)
        capture.data(block(segment)[0])
        capture.answer(block(segment)[0])


def identifications(capture: Capture, count: int) -> None:
    """IP identifications at random: by them, any packet may be older than any other."""
    capture.open()
    for segment in range(count // 2):
        ident = capture.chance.getrandbits(16)
        capture.send(DATA, block(segment)[0], 1, SEGMENT, ident=ident)
        capture.answer(block(segment // 2)[0])


# Many connections.


def half_open(capture: Capture, count: int) -> None:
    """A SYN flood under forged addresses."""
    for _ in range(count):
        source = capture.chance.randrange(0x1000_0000, 0xDF00_0000)
        port = capture.chance.randrange(1024, 65_536)
        number = capture.chance.getrandbits(32)
        capture.send(SYN, number, 0, hosts=(source, SERVER), ports=(port, 80), options=SYN_OPTIONS)


def resets(capture: Capture, count: int) -> None:
    """FINs and RSTs of connections that nobody saw, from anywhere."""
    for number in range(count):
        source = capture.chance.randrange(0x1000_0000, 0xDF00_0000)
        flags = FIN | ACK if number % 2 else RST
        capture.send(flags, number, 1, hosts=(source, SERVER), ports=(1024 + number % 60_000, 80))


def reset_storm(capture: Capture, count: int) -> None:
    """One connection, ended again and again by FINs and RSTs."""
    capture.open()
    for number in range(count):
        capture.send(RST if number % 2 else FIN | ACK, 1 + number % 5, 1)


def reuse(capture: Capture, count: int) -> None:
    """The same addresses and ports for one connection after the other."""
    ours: Sequence[tuple[tuple[int, int], tuple[int, int]]] = (
        ((CLIENT, SERVER), PORTS),
        ((SERVER, CLIENT), (PORTS[1], PORTS[0])),
    )
    for number in range(count // 4):
        there, back = number * 100_000, number * 7_777_777
        steps = [(SYN, there, 0), (SYN | ACK, back, there + 1)]
        steps += [(FIN | ACK, there + 1, back + 1), (FIN | ACK, back + 1, there + 2)]
        for step, (flags, seq, ack) in enumerate(steps):
            hosts, ports = ours[step % 2]
            capture.send(flags, seq, ack, hosts=hosts, ports=ports)


def one_host(capture: Capture, count: int) -> None:
    """Short connections of one server, each with a retransmission."""
    for number in range(count // 7):
        client, port = CLIENT + 0x100 + number // 60_000, 1024 + number % 60_000
        capture.open((client, SERVER), (port, 80), (MSS + b"\4\2", MSS + b"\4\2", b""))
        hosts, ports = (SERVER, client), (80, port)
        capture.send(DATA, 1, 1, SEGMENT, hosts=hosts, ports=ports)
        capture.wait(3 * 10**8)
        capture.send(DATA, 1, 1, SEGMENT, hosts=hosts, ports=ports)
        capture.send(ACK, 1, 1 + SEGMENT, hosts=(client, SERVER), ports=(port, 80))
        capture.send(RST, 1 + SEGMENT, 1, hosts=hosts, ports=ports)


def many_hosts(capture: Capture, count: int) -> None:
    """Whole small connections, each between two hosts that nobody else has."""
    for number in range(count // 5):
        hosts = (0x1400_0000 + number, 0x2000_0000 + number)
        capture.open(hosts)
        capture.send(DATA, 1, 1, SEGMENT, hosts=hosts[::-1], ports=PORTS[::-1])
        capture.send(RST, 1, 1 + SEGMENT, hosts=hosts, ports=PORTS)


def interleaved(capture: Capture, count: int) -> None:
    """Connections that are all open until the end."""
    clients = [(CLIENT + 0x100 + number, 1024 + number % 60_000) for number in range(count // 5)]
    for client, port in clients:
        capture.open((client, SERVER), (port, 80))
    for _ in range(2):
        for client, port in clients:
            capture.send(DATA, 1, 1, SEGMENT, hosts=(SERVER, client), ports=(80, port))


# Other layers.


def fragments(capture: Capture, count: int) -> None:
    """First fragments of packets that never become whole, and last ones without a first."""
    capture.open()
    for number in range(count // 2):
        hosts = (SERVER, CLIENT)
        tcp = tcp_header(PORTS[::-1], 1 + number * SEGMENT, 1, DATA, 65_535, b"")
        first = ip_header(hosts, 20 + len(tcp) + 492, ident=number, fragment=0x2000)
        capture.record(first + tcp, cut=492)
        rest = ip_header(hosts, 20 + 508, ident=number * 7, fragment=64)
        capture.record(rest, cut=508)


def tunnels(capture: Capture, count: int) -> None:
    """Packets in packets in packets, each outer pair of hosts another."""
    for number in range(count):
        tcp = tcp_header(PORTS, 1 + number, 1, DATA, 65_535, b"")
        packet = ip_header((CLIENT + number % 1000, SERVER), 40 + SEGMENT) + tcp
        for depth in range(3):
            outer = (0x1400_0000 + number * 3 + depth, 0x2000_0000)
            packet = ip_header(outer, 20 + len(packet) + SEGMENT, protocol=4) + packet
        capture.record(packet, cut=SEGMENT)


KEY: Final = struct.pack(">Q", 1)
TOKEN: Final = hashlib.sha256(KEY).digest()[:4]


def multipath(capture: Capture) -> None:
    """The handshake of a Multipath TCP connection (RFC 8684)."""
    asked, offered = bytes([30, 4, 1, 1]), bytes([30, 12, 1, 1]) + KEY
    both = bytes([30, 20, 1, 1]) + struct.pack(">Q", 2) + KEY
    capture.open(options=(asked, offered, both))


def mapping(data: int, at: int, length: int) -> bytes:
    """An option that maps bytes of a subflow to the connection's."""
    return bytes([30, 20, 0x20, 5]) + struct.pack(">IIIHH", 1, data & 0xFFFF_FFFF, at, length, 0)


def subflows(capture: Capture, count: int) -> None:
    """A multipath connection that subflows join from everywhere."""
    multipath(capture)
    for number in range(count // 3):
        hosts, ports = (CLIENT + 0x100 + number // 100, SERVER), (1024 + number % 60_000, 80)
        nonce = struct.pack(">I", number)
        asks = bytes([30, 12, 0x10, number & 255]) + TOKEN + nonce
        answers = bytes([30, 16, 0x10, number & 255]) + bytes(8) + nonce
        data = mapping(capture.chance.getrandbits(32), 1, 100)
        capture.send(SYN, 0, 0, hosts=hosts, ports=ports, options=asks)
        capture.send(SYN | ACK, 0, 1, hosts=hosts[::-1], ports=ports[::-1], options=answers)
        capture.send(DATA, 1, 1, 100, hosts=hosts, ports=ports, options=data)


def addresses(capture: Capture, count: int) -> None:
    """A multipath connection that announces an address with every packet, and takes it back."""
    multipath(capture)
    for number in range(count // 2):
        address = struct.pack(">I", 0x1400_0000 + number)
        capture.data(1, 0, options=bytes([30, 8, 0x30, number & 255]) + address)
        capture.data(1, 0, options=bytes([30, 4, 0x40, number & 255]))


def mappings(capture: Capture, count: int) -> None:
    """A multipath connection whose mappings lie anywhere."""
    multipath(capture)
    for number in range(count * 4 // 5):
        at = 1 + number * 100
        capture.data(at, 100, mapping(capture.chance.getrandbits(32), at, 100))
        if number % 4 == 0:
            capture.answer(at)


def mappings_near(capture: Capture, count: int) -> None:
    """A multipath connection whose bytes, one a packet, are sent in any order."""
    multipath(capture)
    places = list(range(1, count + 1))
    capture.chance.shuffle(places)
    for number, place in enumerate(places):
        capture.data(1 + number, 1, mapping(place, 1 + number, 1))


# What programs say.


class Talk:
    """A connection whose client asks and whose server answers; all is acknowledged at once."""

    def __init__(
        self,
        capture: Capture,
        hosts: tuple[int, int] = (CLIENT, SERVER),
        ports: tuple[int, int] = PORTS,
    ) -> None:
        self._capture = capture
        self._hosts, self._ports = hosts, ports
        self._next = [1, 1]
        capture.open(hosts, ports)

    def ask(self, payload: bytes) -> None:
        """A packet of the client."""
        self._say(0, self._hosts, self._ports, payload)

    def answer(self, payload: bytes) -> None:
        """A packet of the server."""
        self._say(1, self._hosts[::-1], self._ports[::-1], payload)

    def _say(self, of: int, hosts: tuple[int, int], ports: tuple[int, int], payload: bytes) -> None:
        seq, ack = self._next[of], self._next[1 - of]
        self._capture.send(DATA, seq, ack, hosts=hosts, ports=ports, payload=payload)
        self._next[of] += len(payload)


OK: Final = b"HTTP/1.1 200 OK\r\n\r\n"


def request(path: str, host: str = "a") -> bytes:
    """The head of a request."""
    return f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def requests(capture: Capture, count: int) -> None:
    """Slow requests of one connection, with long names."""
    talk = Talk(capture)
    for number in range(count // 2):
        capture.wait(10**8)
        talk.ask(request(f"{number}{'p' * 240}", f"h{number}.{'h' * 240}"))
        capture.wait(3 * 10**8)
        talk.answer(OK)


def requests_in_no_time(capture: Capture, count: int) -> None:
    """Requests of one connection while the monitor's clock stands still or goes back."""
    talk = Talk(capture)
    for number in range(count // 2):
        capture.wait(-1000)
        talk.ask(request(f"{number}"))
        capture.wait(-2000)
        talk.answer(OK)


def requests_at_once(capture: Capture, count: int) -> None:
    """Many requests in each packet, all before the first answer."""
    talk = Talk(capture)
    for _ in range(count // 2):
        talk.ask(request("") * 40)
    for _ in range(count // 2):
        talk.answer(OK)


def requests_without_end(capture: Capture, count: int) -> None:
    """Heads of fields without number, and none that ends."""
    talk = Talk(capture)
    for _ in range(count):
        talk.ask(b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 100)


def requests_on_their_way(capture: Capture, count: int) -> None:
    """Requests and answers that acknowledge nothing, of a path that seems to take ten seconds: all
    the time of all of them is the path's.
    """
    back = (PORTS[1], PORTS[0])
    capture.send(SYN, 0, 0, hosts=(CLIENT, SERVER), ports=PORTS, options=MSS)
    capture.wait(10**10)
    capture.send(SYN | ACK, 0, 1, ports=back, options=MSS)
    capture.wait(10**10)
    capture.answer(1)
    asks, answers = 1, 1
    for number in range(count // 2):
        payload = request(f"{number}{'p' * 240}", "h" * 240)
        capture.send(PSH, asks, 0, hosts=(CLIENT, SERVER), ports=PORTS, payload=payload)
        capture.send(PSH, answers, 0, ports=back, payload=OK)
        asks, answers = asks + len(payload), answers + len(OK)


def answers_unasked(capture: Capture, count: int) -> None:
    """Responses to no request, the most of them interim ones."""
    talk = Talk(capture)
    for number in range(count):
        capture.wait(10**6)
        talk.answer(OK if number % 9 == 0 else b"HTTP/1.1 100 Continue\r\n\r\n")


def hellos(capture: Capture, count: int) -> None:
    """Hellos of TLS, each cut into single bytes."""
    talk = Talk(capture)
    head = b"\x16\3\1\0\x80\1\0\0\x7c\3\3"
    for number in range(count):
        talk.ask(head[number % len(head) :][:1])


def names(capture: Capture, count: int) -> None:
    """Answers of DNS over UDP, each with a new name of many addresses, and a SYN to one of them."""
    for number in range(count // 2):
        name = b"\x3f" + b"a" * 63 + b"\x08" + f"{number:08}".encode() + b"\0"
        first = 0x1400_0000 + number * 64
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIHI", 1, 1, 9, 4, first + place) for place in range(64)
        )
        head = struct.pack(">6H", 0, 0x8180, 1, 64, 0, 0)
        message = head + name + struct.pack(">HH", 1, 1) + records
        udp = struct.pack(">4H", 53, 5000, 8 + len(message), 0) + message
        capture.record(ip_header((SERVER, CLIENT), 20 + len(udp), protocol=17) + udp)
        capture.send(SYN, 0, 0, hosts=(CLIENT, first), ports=(1024 + number % 60_000, 80))


PROXY: Final = 0x0A00_0009


def proxies(capture: Capture, count: int) -> None:
    """A proxy that asks a server for each of its clients, all of which wait at the same time."""
    numbers = range(count // 10)
    ports = [1024 + number % 60_000 for number in numbers]
    fronts = [Talk(capture, (CLIENT + 0x100, PROXY), (port, 80)) for port in ports]
    for front in fronts:
        front.ask(request("front"))
    backs = [Talk(capture, (PROXY, SERVER + 0x100), (port, 8080)) for port in ports]
    for back in backs:
        back.ask(request("back"))
    capture.wait(10**9)
    for one in backs + fronts:
        one.answer(OK)


def causes(capture: Capture, count: int) -> None:
    """Each stretch of time is another cause's than the one before it, on a clock that jumps."""
    talk = Talk(capture)
    for number in range(count // 3):
        capture.wait((10**6, 3 * 10**8, 10**3, -(10**6), 5 * 10**7)[number % 5])
        talk.answer(bytes(1000 if number % 3 else 10))
        capture.wait((10**6, 2 * 10**8, 10**4)[number % 3])
        talk.ask(bytes(1))
        capture.send(ACK, 0, 0, window=0 if number % 7 == 0 else 60_000)


# Lists of packets as text.


def lines_of_hosts(capture: Capture, count: int) -> None:
    """Lines of hosts and ports that have names, each of another connection."""
    for number in range(count):
        ends = f"host-{number}.{'x' * 200}.p{number % 2000} > server.80"
        capture.line(f"IP {ends}: Flags [P.], seq 1:1001, ack 1, win 9, length 1000")


def lines_without_numbers(capture: Capture, count: int) -> None:
    """Lines without TCP's numbers, of one of many connections between two hosts."""
    for port in range(256):
        numbers = f"TCP 54 {1024 + port} \u2192 80 [SYN] Seq=0 Win=1000 Len=0"
        capture.line(f"10.0.0.1 \u2192 10.0.0.2 {numbers}")
    for _ in range(count - 256):
        capture.line("10.0.0.1 \u2192 10.0.0.2 HTTP 566 GET / HTTP/1.1")


def lines_that_go_on(capture: Capture, count: int) -> None:
    """Lines as long as they are read, of arrows and options, which others go on with."""
    for number in range(count // 100):
        head = "IP 10.0.0.1.1 > 10.0.0.2.80: Flags [P.], seq 1:1001, ack 1, win 9, options ["
        more = "nop," * 900 if number % 2 else "sack 1 " + "{1:2}" * 700
        capture.line(f"{head}{more}], length 1000")
        capture.line("IP " + "a > b, " * 500 + "\n x" * 50)


KINDS: Final[dict[str, Kind]] = {
    kind.__name__.replace("_", "-"): kind
    for kind in (
        *(holes, sacks_backwards, sacks_at_random, sacks_of_bytes, duplicates_of_all),
        *(sacks_of_all, one_again, one_byte_again, window_again, bytes_at_random),
        *(bytes_without_answer, backwards, overlaps, gaps, gaps_of_many),
        duplicate_acknowledgements,
        *(
            answers_afterwards,
            timeouts,
            timeouts_taken_back,
            waits_for_reordered,
            duplicates_in_flight,
            sacks_upwards,
            answers_of_nothing,
            wraps,
            window_probes,
            zero_windows,
            keep_alives,
        ),
        *(stamps_at_random, stamps_that_jump, clock_back, identifications, half_open, resets),
        *(reset_storm, reuse, one_host, many_hosts, interleaved, fragments, tunnels),
        *(subflows, addresses, mappings, mappings_near),
        *(requests, requests_in_no_time, requests_at_once, requests_without_end),
        *(requests_on_their_way, answers_unasked),
        *(hellos, names, proxies, causes),
        *(lines_of_hosts, lines_without_numbers, lines_that_go_on),
    )
}


def write(kind: str, packets: int, path: Path, later_ns: int = 0) -> int:
    """Writes a capture of a kind, of a point that packets pass so much later; how many it has."""
    capture = Capture()
    capture.wait(later_ns)
    KINDS[kind](capture, packets)
    path.write_bytes(capture.contents())
    return capture.packets
