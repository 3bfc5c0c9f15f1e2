"""The modules that a guest needs, with those that they need, in the order in which they load."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels.compressed import Bounded, readable, uncompressed
from rexmit.kernels.confine import Confinement
from rexmit.kernels.images import cpio
from rexmit.kernels.kernel import printable
from rexmit.kernels.within import beginning, files_within, mebibytes

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
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,55}")
"""As the kernel has them (include/linux/moduleparam.h MAX_PARAM_PREFIX_LEN)."""

MOST_FILES: Final = 100_000
"""A distribution's kernel has some 6,000."""
MOST_MODULES: Final = 500
"""That a guest may need: with all that they depend on 60 are."""
LARGEST_MODULE: Final = 64 << 20
MOST_BYTES: Final = 128 << 20
"""All modules that a guest needs."""
_LARGEST_INFO: Final = 64 << 10

_OWN: Final = "name the folder of the image's own modules"


def needed(folder: Path, release: str) -> list[tuple[str, bytes]]:
    """Name and content of the modules that a guest needs, of those in `folder`, in order.

    `folder` is `/lib/modules`, or the folder of one release in there. Raises UserError where it has
    no module of the release, or more and larger ones than any kernel has.
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
    return list(_Loaded(folder, there, release).in_order(wanted).items())


def _is_control(name: str) -> bool:
    return _CONGESTION.fullmatch(name) is not None and not name.startswith("tcp_bpf")


class _Loaded:
    """The modules that are needed: read one after the other, and no more than a guest can use."""

    def __init__(self, folder: Path, there: Mapping[str, Path], release: str) -> None:
        self._folder = folder
        self._there = there
        self._release = release
        self._confinement = Confinement.probe()
        self._read: dict[str, bytes] = {}
        self._bytes = 0

    def in_order(self, wanted: list[str]) -> dict[str, bytes]:
        """The modules, each after those that it depends on. Of those that depend on each other the
        one that is met first comes last. One that is not there is built in, or will be missed by
        name when it is needed."""
        loaded: dict[str, bytes] = {}
        for name in wanted:
            # Each waits for those above it.
            waiting = [name]
            while waiting:
                name = waiting[-1]
                if name in self._read or name not in self._there:
                    waiting.pop()
                    if name in self._read:
                        loaded.setdefault(name, self._read[name])
                else:
                    below = self._add(name)
                    waiting += [other for other in below if other not in self._read]
        return loaded

    def _add(self, name: str) -> list[str]:
        """Read a module; the names of those that it depends on."""
        path = self._there[name]
        content = _content(path, self._confinement)
        self._read[name] = content
        self._bytes += len(content)
        if len(self._read) > MOST_MODULES or self._bytes > MOST_BYTES:
            raise UserError(
                f"{self._folder}: what the guest's modules depend on is more than {MOST_MODULES} "
                f"modules or {mebibytes(MOST_BYTES)}",
                _OWN,
                usage=True,
            )
        information = _told(content)
        made_for = information.get("vermagic", "").split(" ")[0]
        if made_for != self._release:
            raise UserError(
                f"{printable(str(path), 200)} is a module of Linux {printable(made_for) or '?'}, "
                f"and the image is {self._release}",
                _OWN,
                usage=True,
            )
        depends = dict.fromkeys(information.get("depends", "").replace("-", "_").split(","))
        return [other for other in reversed(depends) if other in self._there]


def archive(modules: list[tuple[str, bytes]]) -> bytes:
    """The archive of them that a guest finds."""
    names = "".join(f"{name}.ko\n" for name, _ in modules)
    entries = {f"{FOLDER}/modules": cpio.file(names.encode())}
    entries |= {f"{FOLDER}/modules.d/{name}.ko": cpio.file(content) for name, content in modules}
    return cpio.archive(entries)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    files = sorted(islice(files_within(folder), MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise UserError(f"{folder} has more than {MOST_FILES:,} files", _OWN, usage=True)
    for path in map(folder.joinpath, files):
        for suffix in _SUFFIXES:
            name = path.name.removesuffix(suffix).replace("-", "_")
            if path.name.endswith(suffix) and _NAME.fullmatch(name) and path.is_file():
                yield name, path


def _content(path: Path, confinement: Confinement) -> bytes:
    where = printable(str(path), 200)
    with uncompressed(path, where, "module", confinement) as stream, readable(where, "module"):
        content = beginning(Bounded(stream, where, LARGEST_MODULE), LARGEST_MODULE + 1)
    if not content.startswith(b"\x7fELF\x02"):
        raise UserError(f"{where} is no module for x86-64")
    return content


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
            if module[begin : begin + 9] == b".modinfo\0" and length <= _LARGEST_INFO:
                entries = module[at : at + length].decode(errors="replace").split("\0")
                pairs = (entry.partition("=") for entry in entries)
                return {key: value for key, _, value in pairs}
    except (struct.error, IndexError, OverflowError):
        pass
    return {}
