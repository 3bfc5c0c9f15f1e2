"""Runs rexmit for the tests: a process that has it imported and forks for each call.

To start Python and to import takes several times as long as to boot a kernel. What runs in the fork
is `rexmit.main.main`, with a command line, an environment, a folder and outputs of its own.

`python zygote.py FD` serves calls that come over the socket FD; `python zygote.py FD nobody` does
it as an unprivileged user. `python zygote.py - nobody WORDS` is `rexmit WORDS` as that user.
"""

import ctypes
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from typing import NoReturn

NOBODY = 65534
PR_SET_KEEPCAPS = 8
CAP_DAC_READ_SEARCH = 1 << 2
CAPABILITY_VERSION_3 = 0x20080522

MODULES = (
    *("rexmit.campaign.runner", "rexmit.cli", "rexmit.main", "rexmit.outputs"),
    *("rexmit.engines.command", "rexmit.engines.kernel"),
    *("rexmit.kernels", "rexmit.ladder.flow", "rexmit.ladder.render", "rexmit.scenario"),
    *("rexmit.progress", "rexmit.campaign.plan", "rexmit.store.tables"),
    *("polars", "pydantic", "rich.console", "rich.progress"),
)


def drop_rights() -> None:
    """Become nobody, but keep the right to read and search any folder.

    The interpreter may lie where only root can read (a virtual environment below /root). The next
    exec ends that right: the guest program and the kernel have none at all.
    """
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


def serve(calls: socket.socket) -> None:
    """Run calls, one after the other, until the other side goes away."""
    for name in MODULES:
        importlib.import_module(name)
    # Imports what the modules above leave to the moment of use.
    import click

    from rexmit.cli import app

    context = click.Context(app)
    for name in app.list_commands(context):
        app.get_command(context, name)
    while True:
        message, descriptors, _, _ = socket.recv_fds(calls, 1 << 20, 2)
        if not message:
            return
        child = os.fork()
        if child == 0:
            run(json.loads(message), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        calls.send(str(os.waitstatus_to_exitcode(status)).encode())


def run(call: dict[str, object], out: int, err: int) -> NoReturn:
    """Be one call of rexmit."""
    try:
        words, env = call["words"], call["env"]
        assert isinstance(words, list)
        assert isinstance(env, dict)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(str(call["cwd"]))
        sys.argv = ["rexmit", *words]
        signal.alarm(int(str(call["seconds"])))
        from rexmit.main import main

        main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    where, *rest = sys.argv[1:]
    if rest[:1] == ["nobody"]:
        drop_rights()
    if where == "-":
        sys.argv = ["rexmit", *rest[1:]]
        from rexmit.main import main

        main()
    else:
        serve(socket.socket(fileno=int(where)))
