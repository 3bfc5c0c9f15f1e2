"""What a kernel image of x86 says of itself (Documentation/arch/x86/boot.rst of Linux)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels.kernel import printable
from rexmit.kernels.within import beginning, opened

_MAGIC_AT: Final = 0x202
_MAGIC: Final = b"HdrS"
_VERSION_AT: Final = 0x20E
_BASE: Final = 0x200
_LONGEST: Final = 512
_HEADER: Final = 1 << 16


def release(path: Path) -> str:
    """The release in an image's header: `6.1.0-56-cloud-amd64`. Raises UserError for what is no
    image."""
    with opened(path) as file:
        head = beginning(file, _HEADER)
    if head[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] != _MAGIC:
        raise UserError(
            f"{path} is no kernel image: {_instead(head)}",
            "A bzImage for x86 is meant: a distribution's /boot/vmlinuz-VERSION, or "
            "arch/x86/boot/bzImage of a tree that was built",
            usage=True,
        )
    begin = _BASE + int.from_bytes(head[_VERSION_AT : _VERSION_AT + 2], "little")
    text = head[begin : begin + _LONGEST].split(b"\0")[0].decode("ascii", "replace")
    word = text.split(" ")[0]
    if begin == _BASE or not re.match(r"[0-9]{1,4}\.[0-9]{1,4}([.+-]|$)", word):
        raise UserError(f"{path} does not say which kernel it is: {printable(text) or '(empty)'}")
    return word


def series(release: str) -> str:
    """`6.1` of `6.1.0-56-cloud-amd64`."""
    numbers = re.match(r"[0-9]+\.[0-9]+", release)
    assert numbers is not None  # noqa: S101 - `release` has it
    return numbers[0]


def _instead(head: bytes) -> str:
    if head.startswith(b"\x7fELF"):
        return "it is an ELF file, as vmlinux and a user-mode kernel are"
    if not head:
        return "it is empty"
    return "it has no header of one"
