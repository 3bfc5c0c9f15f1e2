#!/usr/bin/env python3
"""Does to the clock, to TUN and to its namespace what packetdrill does, for tests.

It takes packetdrill's command line and of a script three kinds of step: `TIME < S` injects a SYN
to a listener of its own, `TIME > S.` expects its SYN-ACK at that time, and a line in backticks is a
command that must succeed. What it prints are packetdrill's lines, in the same order.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

TOLERANCE_S = 0.004
STEP = re.compile(r"^([0-9.]+) ([<>]) (S\.?)")
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000
LOCAL, REMOTE, PORT = "192.168.0.1", "192.0.2.1", 8080


def tick() -> float:
    """When the tenth change of times(2) comes, which is looked for without a pause."""
    last, changes = os.times().elapsed, 0
    while changes < 10:
        now = os.times().elapsed
        changes += now != last
        last = now
    return time.clock_gettime(time.CLOCK_REALTIME)


def device() -> int:
    """A TUN device with our address, and the other host behind it."""
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
    words = ["link set tun0 up", f"addr add {LOCAL}/16 dev tun0", f"route add {REMOTE} dev tun0"]
    for line in words:
        subprocess.run(["ip", *line.split()], check=True)
    return tun


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def syn() -> bytes:
    """A SYN with the number 0 and no options."""
    source, to = socket.inet_aton(REMOTE), socket.inet_aton(LOCAL)

    def tcp(check: int) -> bytes:
        return struct.pack("!HHIIBBHHH", 40000, PORT, 0, 0, 5 << 4, 2, 65535, check, 0)

    def ip(check: int) -> bytes:
        return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, check, source, to)

    pseudo = source + to + struct.pack("!BBH", 0, 6, 20)
    return ip(checksum(ip(0))) + tcp(checksum(pseudo + tcp(0)))


def main() -> None:
    script = Path(sys.argv[-1])
    listener = socket.socket()
    tun = device()
    listener.bind((LOCAL, PORT))
    listener.listen()
    start = tick()

    def now() -> float:
        return time.clock_gettime(time.CLOCK_REALTIME) - start

    for number, line in enumerate(script.read_text().splitlines(), 1):
        if line.startswith("`"):
            if os.system(line.strip("`")):  # noqa: S605 - a command of the script
                sys.exit(f"{script.name}:{number}: error executing `{line}` command")
            continue
        step = STEP.match(line)
        if step is None:
            continue
        due, way = float(step[1]), step[2]
        if way == "<":
            time.sleep(max(0.0, due - now()))
            os.write(tun, syn())
            print(f"inbound injected packet: {now():9.6f} S 0:0(0) win 65535")
            continue
        while True:
            if not select.select([tun], [], [], 10)[0]:
                sys.exit(f"{script.name}:{number}: Timed out waiting for packet")
            packet = os.read(tun, 65536)
            if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
                break
        at = now()
        seq, ack = struct.unpack("!II", packet[24:32])
        print(f"outbound sniffed packet: {at:9.6f} S. {seq}:{seq}(0) ack {ack} win 0")
        if abs(at - due) > TOLERANCE_S:
            sys.stdout.flush()
            sys.exit(
                f"{script.name}:{number}: timing error: expected outbound packet at {due:.6f} sec "
                f"but happened at {at:.6f} sec; tolerance {TOLERANCE_S:.6f} sec"
            )


main()
