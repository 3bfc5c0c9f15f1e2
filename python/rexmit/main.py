"""The program `rexmit`: signals, outputs, errors and the exit status around the command line.

Importing the commands takes a few tenths of a second, so signals are seen to before it.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import Final, NoReturn

from rexmit import interrupt, outputs

_BEGAN: Final = time.monotonic()

_GARBAGE: Final = 200_000
"""So many more objects are made than let go before garbage is collected, as `gc.set_threshold` has
it. What is imported stays, and with the usual 700 the collector walks it again and again: a quarter
of the time of a command that reads little.
"""


def main() -> NoReturn:
    """Run the command line and end the process.

    Exit status: 0 done, 1 failed, 2 wrong usage, 128 and the signal's number when interrupted.
    Commands that judge have more, and none of them fails with 1 (`errors`).
    """
    # First of all: what is opened now must not get the number of an output that is closed.
    outputs.open_all()
    from rexmit import memory
    from rexmit.errors import UserError, failed

    try:
        memory.watch()
        interrupt.install()
        gc.set_threshold(_GARBAGE, 10, 10)
        try:
            status = _run()
        except BaseException as error:
            stopped = interrupt.came()
            if stopped is None or isinstance(error, interrupt.Interrupted):
                raise
            raise stopped from error
    except UserError as error:
        outputs.say_error(error)
        _say_where()
        status = failed(error.exit_status)
    except MemoryError:
        outputs.say_error(memory.ran_out())
        status = failed()
    except interrupt.Interrupted as stopped:
        # One that nobody holds counts as dropped.
        held = stopped
        interrupt.undo_rest()
        outputs.say_error(UserError(held.what, held.hint))
        status = held.exit_status
    except Exception:
        sys.excepthook(*sys.exc_info())
        status = failed()
    _say_cost()
    outputs.end(status)


def _say_where() -> None:
    """Of the error that is handled, for who asked for that."""
    if outputs.level == outputs.Level.VERBOSE:
        import traceback

        for line in traceback.format_exc().splitlines():
            outputs.detail(line)


def _say_cost() -> None:
    """What ran, and what it took, for who asked for that."""
    if outputs.level == outputs.Level.VERBOSE:
        import resource

        from rexmit import configuration
        from rexmit.version import commit, version

        outputs.detail(f"settings of {configuration.current().path or 'no file'}")
        used = resource.getrusage(resource.RUSAGE_SELF)
        outputs.detail(
            f"{version()} (commit {commit() or 'unknown'}) took {time.monotonic() - _BEGAN:.2f} s, "
            f"{used.ru_utime + used.ru_stime:.2f} s of processor time, "
            f"{used.ru_maxrss / 1024:,.0f} MB of memory"
        )


def _run() -> int:
    """Run the command line; its exit status."""
    from rexmit.errors import failed

    status: object = None
    try:
        try:
            if sys.argv[1:] == ["--version"]:
                # It does not wait for what reads command lines.
                from rexmit.store.formats import line

                outputs.line(line())
            else:
                from rexmit import extras
                from rexmit.cli import app

                with extras.told():
                    app()
        except SystemExit as end:
            status = end.code
        outputs.flush()
    except BrokenPipeError:
        return failed()
    except OSError as error:
        raise outputs.explained(error) from error
    if outputs.unread:
        # Click ends with 1.
        return failed()
    return status if isinstance(status, int) else failed() if status else 0
