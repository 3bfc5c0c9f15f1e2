"""The modules that a guest needs, with those that they need, in the order in which they load."""

from __future__ import annotations

import gzip
import lzma
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels.images import cpio

FOLDER: Final = "/.rexmit"
"""In the guest: `modules` lists what lies in `modules.d`, in order."""

WANTED: Final = (
    # Hosts and what joins them.
    *("veth", "bridge", "af_packet", "ifb", "dummy"),
    *("sch_netem", "sch_tbf", "sch_htb", "sch_fq", "sch_fq_codel", "sch_ingress", "sch_prio"),
    *("cls_matchall", "cls_u32", "cls_bpf", "act_mirred"),
    # Loss.
    *("nfnetlink", "nfnetlink_queue", "nf_tables", "nft_queue"),
    # What a socket says of itself.
    *("inet_diag", "tcp_diag", "mptcp_diag"),
)
"""Modules by name. What a kernel has built in is no module."""

OLDER: Final = (
    *("ip_tables", "iptable_filter", "ip6_tables", "ip6table_filter"),
    *("xt_tcpudp", "xt_NFQUEUE", "nf_queue"),
)
"""Instead of nf_tables, which came with Linux 3.13."""

_CONGESTION: Final = re.compile(r"tcp_(?!diag$)\w+")
"""All congestion controls, so that a scenario may name any."""

_SUFFIXES: Final = (".ko", ".ko.xz", ".ko.gz", ".ko.zst")
_MOST_BYTES: Final = 1 << 28


def needed(folder: Path, release: str) -> list[tuple[str, bytes]]:
    """Name and content of the modules that a guest needs, of those in `folder`, in order.

    `folder` is `/lib/modules`, or the folder of one release in there. Raises UserError where it has
    no module of the release.
    """
    if (folder / release).is_dir():
        folder = folder / release
    there = dict(_files(folder))
    if not there:
        raise UserError(
            f"{folder} has no modules", f"the folder lib/modules/{release} is meant", usage=True
        )
    wanted = [*WANTED]
    if "nf_tables" not in there:
        wanted += OLDER
    wanted += sorted(
        name for name, path in there.items() if path.parent.name == "ipv4" and _is_control(name)
    )
    loaded: dict[str, bytes] = {}
    for name in wanted:
        _add(name, there, loaded, release, ())
    return list(loaded.items())


def _is_control(name: str) -> bool:
    return _CONGESTION.fullmatch(name) is not None and not name.startswith("tcp_bpf")


def _add(
    name: str,
    there: Mapping[str, Path],
    loaded: dict[str, bytes],
    release: str,
    above: tuple[str, ...],
) -> None:
    """Add a module after those that it depends on. One that is not there is built in, or will be
    missed by name when it is needed."""
    if name in loaded or name not in there or name in above:
        return
    path = there[name]
    content = _content(path)
    told = _told(content)
    made_for = told.get("vermagic", "").split(" ")[0]
    if made_for != release:
        raise UserError(
            f"{path} is a module of Linux {made_for or '?'}, and the image is {release}",
            "name the folder of the image's own modules",
            usage=True,
        )
    for below in filter(None, told.get("depends", "").split(",")):
        _add(below.replace("-", "_"), there, loaded, release, (*above, name))
    loaded[name] = content


def archive(modules: list[tuple[str, bytes]]) -> bytes:
    """The archive of them that a guest finds."""
    names = "".join(f"{name}.ko\n" for name, _ in modules)
    entries = {f"{FOLDER}/modules": cpio.file(names.encode())}
    entries |= {f"{FOLDER}/modules.d/{name}.ko": cpio.file(content) for name, content in modules}
    return cpio.archive(entries)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.ko*")):
        for suffix in _SUFFIXES:
            if path.name.endswith(suffix) and path.is_file():
                yield path.name.removesuffix(suffix).replace("-", "_"), path


def _content(path: Path) -> bytes:
    try:
        if path.suffix == ".xz":
            with lzma.open(path) as unpacked:
                content = unpacked.read(_MOST_BYTES)
        elif path.suffix == ".gz":
            with gzip.open(path) as unpacked:
                content = unpacked.read(_MOST_BYTES)
        elif path.suffix == ".zst":
            content = _zstd(path)
        else:
            content = path.read_bytes()
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not content.startswith(b"\x7fELF\x02"):
        raise UserError(f"{path} is no module for x86-64")
    return content


def _zstd(path: Path) -> bytes:
    if shutil.which("zstd") is None:
        raise UserError(
            f"{path} is compressed with zstd, which is not installed",
            "install it: apt-get install zstd",
        )
    done = subprocess.run(["zstd", "-dcq", "--", path], capture_output=True, check=False)
    if done.returncode:
        raise UserError(f"{path} cannot be unpacked: {done.stderr.decode(errors='replace')}")
    return done.stdout


def _told(module: bytes) -> dict[str, str]:
    """What a module says of itself (its section .modinfo)."""
    try:
        (sections_at,) = struct.unpack_from("<Q", module, 0x28)
        size, count, names = struct.unpack_from("<HHH", module, 0x3A)
        headers = [
            struct.unpack_from("<IIQQQQ", module, sections_at + number * size)
            for number in range(count)
        ]
        names_at = headers[names][4]
        for name, _, _, _, at, length in headers:
            begin = names_at + name
            if module[begin : begin + 9] == b".modinfo\0":
                entries = module[at : at + length].decode(errors="replace").split("\0")
                pairs = (entry.partition("=") for entry in entries)
                return {key: value for key, _, value in pairs}
    except (struct.error, IndexError, OverflowError):
        pass
    return {}
