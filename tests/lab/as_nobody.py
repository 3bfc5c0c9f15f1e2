"""Runs rexmit as an unprivileged user; started by root, with the arguments of `rexmit`.

The interpreter may lie where only root can read (a virtual environment below /root), so this
process keeps the one right to read and search any folder. It ends at the next exec: the guest
program and the kernel have no rights at all.
"""

import ctypes
import os

NOBODY = 65534
PR_SET_KEEPCAPS = 8
CAP_DAC_READ_SEARCH = 1 << 2
CAPABILITY_VERSION_3 = 0x20080522


def drop() -> None:
    """Become nobody."""
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result: int) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), "cannot drop rights")

    os.setgroups([])
    os.setgid(NOBODY)
    check(libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
    os.setuid(NOBODY)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    # Effective, permitted and inheritable, for the lower 32 capabilities and then the upper ones.
    sets = (ctypes.c_uint32 * 6)(CAP_DAC_READ_SEARCH, CAP_DAC_READ_SEARCH, 0, 0, 0, 0)
    check(libc.capset(header, sets))


if __name__ == "__main__":
    drop()
    from rexmit.cli import main

    main()
