"""A live Linux host behind a wire with loss: two network namespaces, and this process between them.

The sender's card cuts its segments (its `veth` takes up to 64 kB as one packet), so that a capture
there shows them as they leave the stack: several as one packet, paced if the congestion control
paces. The wire cuts them, delays, loses some, and sends at a bottleneck's rate.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

DELAY_S = 0.01
RATE_BPS = 40e6
QUEUE_BYTES = 150_000
SNAP = 120
VNET_HEADER = 10
NEEDS_CHECKSUM = 1
ETHERNET, IPV4, TCP_AT = 14, 20, 34
SERVER, CLIENT = "10.99.0.1", "10.99.0.2"
PACKET_VNET_HDR, SOL_PACKET, ETH_P_ALL = 15, 263, 3
SO_TIMESTAMPNS = 35


def run(*words: str) -> None:
    """A command that must succeed."""
    subprocess.run(words, check=True, capture_output=True)


def packets_of(name: str, *, headers: bool) -> socket.socket:
    """All packets of a device, with the kernel's notes on offloads before each if asked for."""
    taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    if headers:
        taken.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    taken.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
    taken.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    taken.bind((name, 0))
    return taken


def checksum(data: bytes) -> int:
    """Of RFC 1071, not inverted."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def segments(frame: bytes) -> list[bytes]:
    """The frame, its notes before it, as the frames that the wire carries."""
    _, kind, _, size, _, _ = struct.unpack_from("<BBHHHH", frame)
    if kind == 0:
        return [frame]
    data = frame[VNET_HEADER:]
    begin = TCP_AT + (data[TCP_AT + 12] >> 4) * 4
    end = ETHERNET + struct.unpack_from("!H", data, ETHERNET + 2)[0]
    seq = struct.unpack_from("!I", data, TCP_AT + 4)[0]
    number = struct.unpack_from("!H", data, ETHERNET + 4)[0]
    cut = []
    for index, at in enumerate(range(begin, end, size)):
        payload = data[at : min(at + size, end)]
        head = bytearray(data[:begin])
        struct.pack_into("!H", head, ETHERNET + 2, begin - ETHERNET + len(payload))
        struct.pack_into("!H", head, ETHERNET + 4, (number + index) & 0xFFFF)
        struct.pack_into("!H", head, ETHERNET + 10, 0)
        own = checksum(bytes(head[ETHERNET : ETHERNET + IPV4])) ^ 0xFFFF
        struct.pack_into("!H", head, ETHERNET + 10, own)
        struct.pack_into("!I", head, TCP_AT + 4, (seq + at - begin) & 0xFFFFFFFF)
        if at + size < end:
            head[TCP_AT + 13] &= ~0x09  # FIN and PSH belong to the last
        long = begin - TCP_AT + len(payload)
        pseudo = bytes(head[ETHERNET + 12 : ETHERNET + 20]) + struct.pack("!HH", 6, long)
        struct.pack_into("!H", head, TCP_AT + 16, checksum(pseudo))
        notes = struct.pack("<BBHHHH", NEEDS_CHECKSUM, 0, 0, 0, TCP_AT, 16)
        cut.append(notes + bytes(head) + payload)
    return cut


class Wire:
    """Carries frames from one device to the other."""

    def __init__(self, near: socket.socket, far: socket.socket, lost: float, seed: int) -> None:
        self.ends = (near, far)
        self.lost = lost
        self.random = random.Random(seed)  # noqa: S311
        self.due: list[tuple[float, int, socket.socket, bytes]] = []
        self.free_at = 0.0
        self.count = 0

    def take(self, frame: bytes, sender: bool) -> None:
        """A frame of either side."""
        now = time.monotonic()
        for segment in segments(frame):
            self.count += 1
            at = now
            if sender:
                waits = max(self.free_at - now, 0.0)
                full = waits * RATE_BPS / 8 > QUEUE_BYTES
                if full or (len(segment) > 200 and self.random.random() < self.lost):
                    continue
                at = self.free_at = max(self.free_at, now) + len(segment) * 8 / RATE_BPS
            heapq.heappush(self.due, (at + DELAY_S, self.count, self.ends[sender], segment))

    def carry(self) -> None:
        """Goes on until the process is ended, or the devices are."""
        with contextlib.suppress(OSError):
            self._carry()

    def _carry(self) -> None:
        while True:
            wait = self.due[0][0] - time.monotonic() if self.due else 1.0
            ready, _, _ = select.select(self.ends, [], [], max(wait, 0.0))
            for end in ready:
                frame, address = end.recvfrom(1 << 17)
                if address[2] != socket.PACKET_OUTGOING:
                    self.take(frame, sender=end is self.ends[0])
            while self.due and self.due[0][0] <= time.monotonic():
                _, _, end, segment = heapq.heappop(self.due)
                end.send(segment)


def wait_for(name: str) -> None:
    """Until the device has come into this namespace."""
    while subprocess.run(["ip", "link", "show", name], check=False, capture_output=True).returncode:
        time.sleep(0.01)


def configure(name: str, address: str) -> None:
    """The device's address, once it is there."""
    wait_for(name)
    run("ip", "address", "add", f"{address}/24", "dev", name)
    run("ip", "link", "set", name, "up")


def serve(control: str, pcap: str, sizes: list[int]) -> None:
    """Sends to each who connects, and captures what it does until the last has all."""
    configure("s0", SERVER)
    capture = os.fork()
    if capture == 0:
        record(pcap)
    try:
        with socket.create_server((SERVER, 80)) as listener:
            print("ready", flush=True)
            for size in sizes:
                accepted, _ = listener.accept()
                with accepted:
                    accepted.setsockopt(socket.IPPROTO_TCP, 13, control.encode())
                    accepted.sendall(bytes(size))
                    accepted.shutdown(socket.SHUT_WR)
                    accepted.recv(1)
        time.sleep(0.3)
    finally:
        os.kill(capture, signal.SIGTERM)
        os.waitpid(capture, 0)


def record(pcap: str) -> None:
    """Captures until it is ended."""
    taken = packets_of("s0", headers=False)
    with Path(pcap).open("wb", buffering=0) as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP, 1))
        while True:
            frame, notes, _, _ = taken.recvmsg(1 << 17, 256)
            (stamp,) = (data for level, kind, data in notes if (level, kind) == (1, SO_TIMESTAMPNS))
            seconds, nanos = struct.unpack("qq", stamp)
            kept = frame[:SNAP]
            out.write(struct.pack("<IIII", seconds, nanos, len(kept), len(frame)) + kept)


def fetch(count: int) -> None:
    """Takes everything, one connection after the other."""
    configure("c0", CLIENT)
    for _ in range(count):
        with socket.socket() as mine:
            while mine.connect_ex((SERVER, 80)):
                time.sleep(0.05)
            while mine.recv(1 << 16):
                pass


def capture(control: str, pcap: str, sizes: list[int], lost: float, seed: int) -> None:
    """Runs the transfers; to be called in a network namespace of its own."""
    run("ip", "link", "add", "s0", "type", "veth", "peer", "name", "s1")
    run("ip", "link", "add", "c0", "type", "veth", "peer", "name", "c1")
    own = [sys.executable, __file__]
    words = [control, pcap, *map(str, sizes)]
    with contextlib.ExitStack() as stack:
        server = subprocess.Popen(
            ["unshare", "-n", *own, "serve", *words], stdout=subprocess.PIPE, text=True
        )
        client = subprocess.Popen(["unshare", "-n", *own, "fetch", str(len(sizes))])
        for child in (server, client):
            stack.callback(child.wait)
            stack.callback(child.kill)
        time.sleep(0.2)  # until unshare has made their namespaces
        run("ip", "link", "set", "s0", "netns", str(server.pid))
        run("ip", "link", "set", "c0", "netns", str(client.pid))
        for name in ("s1", "c1"):
            run("ip", "link", "set", name, "up")
        wire = os.fork()
        if wire == 0:
            ends = (packets_of("s1", headers=True), packets_of("c1", headers=True))
            Wire(*ends, lost, seed).carry()
            os._exit(0)
        try:
            client.wait(60)
            server.wait(60)
        finally:
            os.kill(wire, signal.SIGKILL)
            os.waitpid(wire, 0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", control, pcap, *sizes]:
            serve(control, pcap, [int(size) for size in sizes])
        case ["fetch", count]:
            fetch(int(count))
        case ["capture", control, pcap, lost, seed, *sizes]:
            capture(control, pcap, [int(size) for size in sizes], float(lost), int(seed))
