"""Bursts over an MPTCP connection with a path for each address of the client, inside a kernel.

`mptcp_bursts.py JSON` sets up the hosts h1 (server, 10.0.0.1), s1 and h2 (client, 10.0.K.2 for path
K), sends bursts of numbered 32-bit words from h1 to h2 and prints as JSON what came of it. Keys of
its argument:

- `delays_ms`: one-way delay of each path; `rate`: of each, as tc wants it.
- `bursts`, `words` (of 4 bytes, of each burst), `gap_s`.
- `sysctl`: of both hosts, by file below /proc/sys/net.
- `drop`: `[path, first word of a packet, for how long after the last burst's begin in s]`, each.

The packets of h1 are left in $REXMIT_SCRATCH/h1.pcap.

The server blocks in its writes. On 6.1 it sleeps at random there, by the boot's seed
(docs/notes/mptcp-blocked-writer.md): how bursts fall to the paths is not what `rexmit run` shows.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

IPPROTO_MPTCP = 262
PORT = 8000
SETTLE_S = 1.0
"""From the first subflow to the first burst: the others have been set up by then."""
AFTER_S = 3.0
"""From the last burst on: whatever is sent again has been by then."""
LOOK_S = 0.1
"""How often the capture looks whether it is to end."""
ON_ROUTER = "ip netns exec s1"
"""What is dropped in the server's own stack has never been sent: TCP is told so."""
CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
PCAP_NS = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)

_LIBC = ctypes.CDLL(None, use_errno=True)


def enter(host: str) -> None:
    """Move this process into a host's network."""
    descriptor = os.open(f"/run/netns/{host}", os.O_RDONLY)
    if _LIBC.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def start(host: str, work: Callable[[int], None]) -> tuple[int, int]:
    """Run `work` on a host in a process of its own; its number and a pipe with what it writes."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            enter(host)
            work(writer)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    return child, reader


def run(command: str, text: str | None = None) -> None:
    """Run a command, with this text to read; what goes wrong ends everything."""
    subprocess.run(command.split(), input=text, text=True, check=True)


def set_up(order: dict[str, Any]) -> None:
    """Hosts, links, routes, endpoints."""
    delays = order["delays_ms"]
    for host in ("h1", "s1", "h2"):
        run(f"ip netns add {host}")
    run("ip link add h1-eth0 netns h1 type veth peer s1-eth0 netns s1")
    batch = {
        "h1": "address add 10.0.0.1/24 dev h1-eth0\nlink set h1-eth0 gso_max_segs 1 up\n"
        "route add default via 10.0.0.254\n",
        "s1": "address add 10.0.0.254/24 dev s1-eth0\nlink set s1-eth0 gso_max_segs 1 up\n",
        "h2": "",
    }
    shape = {"s1": "", "h2": ""}
    for path, delay in enumerate(delays, 1):
        run(f"ip link add s1-eth{path} netns s1 type veth peer h2-eth{path} netns h2")
        for host, end in (("s1", 254), ("h2", 2)):
            device = f"{host}-eth{path}"
            batch[host] += f"address add 10.0.{path}.{end}/24 dev {device}\n"
            batch[host] += f"link set {device} gso_max_segs 1 up\n"
            netem = f"limit 1000 delay {delay}ms rate {order['rate']}"
            shape[host] += f"qdisc add dev {device} root netem {netem}\n"
        route = f"default via 10.0.{path}.254 dev h2-eth{path}"
        batch["h2"] += f"route add {route} table {path}\nrule add from 10.0.{path}.2 table {path}\n"
        batch["h2"] += f"route add {route} metric {path}\n"
    for host, lines in batch.items():
        run(f"ip -netns {host} -batch -", f"link set lo up\n{lines}")
    for host, lines in shape.items():
        run(f"tc -netns {host} -batch -", lines)
    for host in ("h1", "h2"):
        run(f"ip -netns {host} mptcp limits set subflows {len(delays) - 1}")
    for path in range(2, len(delays) + 1):
        endpoint = f"10.0.{path}.2 dev h2-eth{path} subflow"
        run(f"ip -netns h2 mptcp endpoint add {endpoint}")


def settings(order: dict[str, Any]) -> None:
    """Write the sysctls; `ipv4/ip_forward` of the router is no setting of the hosts."""
    enter("s1")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    for host in ("h1", "h2"):
        enter(host)
        for name, value in order.get("sysctl", {}).items():
            Path("/proc/sys/net", name).write_text(str(value))


def capture(out: int) -> None:
    """Write h1's packets to a file until told to end."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind(("h1-eth0", ETH_P_ALL))
    tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    tap.settimeout(LOOK_S)
    ended = False

    def end(number: int, frame: object) -> None:
        nonlocal ended
        del number, frame
        ended = True

    signal.signal(signal.SIGTERM, end)
    os.write(out, b"ready")
    with Path(os.environ["REXMIT_SCRATCH"], "h1.pcap").open("wb") as file:
        file.write(PCAP_NS)
        while True:
            try:
                data, told, _, _ = tap.recvmsg(65536, 64)
            except TimeoutError:
                if ended:
                    break
                continue
            seconds, nanoseconds = struct.unpack("qq", told[0][2][:16])
            file.write(struct.pack("<IIII", seconds, nanoseconds, len(data), len(data)) + data)


def counters() -> dict[str, int]:
    """The counters of TCP and MPTCP of this process's host that are not zero."""
    found: dict[str, int] = {}
    for file in ("/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"):
        lines = Path(file).read_text().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            kind, *words = names.split()
            pairs = zip(words, values.split()[1:], strict=True)
            found |= {kind[:-1] + name: int(value) for name, value in pairs if int(value)}
    return found


def server(order: dict[str, Any], out: int) -> None:
    """Send the bursts; while the last one begins, drop what is to be dropped."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    listener.bind(("10.0.0.1", PORT))
    listener.listen()
    os.write(out, b"ready\n")
    connection, _ = listener.accept()
    time.sleep(SETTLE_S)
    words = order["words"]
    begun = []
    for burst in range(order["bursts"]):
        data = b"".join(struct.pack(">I", burst * words + word) for word in range(words))
        if burst == order["bursts"] - 1:
            drops = drop(order)
        begun.append(time.monotonic())
        connection.sendall(data)
        if burst < order["bursts"] - 1:
            time.sleep(begun[0] + (burst + 1) * order["gap_s"] - time.monotonic())
    for until, rule in sorted(drops):
        time.sleep(max(0.0, begun[-1] + until - time.monotonic()))
        run(f"{ON_ROUTER} nft flush chain ip lab {rule}")
    time.sleep(begun[-1] + AFTER_S - time.monotonic())
    os.write(out, json.dumps({"begun": begun, "counters": counters()}).encode())


def drop(order: dict[str, Any]) -> list[tuple[float, str]]:
    """Begin to drop; how long for, and the chain to empty then."""
    lines, drops = ["add table ip lab"], []
    for number, (path, word, seconds) in enumerate(order.get("drop", [])):
        chain = f"drop{number}"
        lines.append(f"add chain ip lab {chain} {{ type filter hook forward priority {number}; }}")
        packet = f"ip daddr 10.0.{path}.2 @ih,0,32 {word:#010x}"
        lines.append(f"add rule ip lab {chain} {packet} drop")
        drops.append((float(seconds), chain))
    run(f"{ON_ROUTER} nft -f -", "\n".join(lines))
    return drops


def client(order: dict[str, Any], out: int) -> None:
    """Read the bursts; when the last byte of each came."""
    size = 4 * order["words"]
    done: list[float] = []
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    connection.bind(("10.0.1.2", 0))
    connection.connect(("10.0.0.1", PORT))
    stream = bytearray()
    while len(stream) < size * order["bursts"]:
        stream += connection.recv(1 << 20)
        done += [time.monotonic()] * (len(stream) // size - len(done))
    words = struct.unpack(f">{len(stream) // 4}I", stream)
    os.write(out, json.dumps({"done": done, "intact": words == tuple(range(len(words)))}).encode())
    time.sleep(2 * AFTER_S)


def main() -> None:
    """See the module."""
    order = json.loads(sys.argv[1])
    set_up(order)
    settings(order)
    watcher, watching = start("h1", capture)
    os.read(watching, 5)
    _, sending = start("h1", lambda out: server(order, out))
    os.read(sending, 6)
    _, reading = start("h2", lambda out: client(order, out))
    told = json.loads(os.read(reading, 65536)) | json.loads(os.read(sending, 65536))
    os.kill(watcher, signal.SIGTERM)
    os.waitpid(watcher, 0)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
