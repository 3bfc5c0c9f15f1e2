"""Errors speak of arguments to a program, and of options to a shell."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner
from tests.processes import run_command
from tests.program.conftest import REXMIT

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError, argument, by_caller, speaking_of_options


def test_an_argument_in_either_s_words() -> None:
    assert (argument("out"), argument("engine", "model")) == ("`out`", "`engine='model'`")
    assert by_caller(called="a", typed="b") == "a"
    with speaking_of_options({"settings": "--set"}):
        assert argument("engine", "model") == "--engine model"
        assert argument("settings") == "--set"
        assert argument("hang_limit") == "--hang-limit"
        assert by_caller(called="a", typed="b") == "b"
    assert argument("out") == "`out`"


def test_a_shell_is_told_of_options() -> None:
    words = ["run", "smoke", "--engine", "model", "--kernel", "6.1"]
    done = run_command([*REXMIT, *words])
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "rexmit: --kernel belongs to --engine kernel",
        "  leave it out, or say --engine kernel",
    ]


def test_a_command_line_at_work_leaves_no_words_behind() -> None:
    """Whatever comes of it."""
    with pytest.raises(UserError, match="--kernel belongs to --engine kernel"):
        CliRunner().invoke(
            app, ["run", "smoke", "--engine", "model", "--kernel", "6"], catch_exceptions=False
        )
    with pytest.raises(rexmit.Error, match="`kernel` belongs to `engine='kernel'`"):
        rexmit.run("smoke", engine="model", kernel="6")


def test_no_error_of_the_library_names_an_option() -> None:
    """A reader of `rexmit.select(...)` has given none."""
    wrong: list[Callable[[], object]] = [
        lambda: rexmit.diff("a", "b", metrics=["t"]),
        lambda: rexmit.diff("a", "b", metrics=[]),
        lambda: rexmit.diff("a", "b", cells={"netwrok": "x"}),
        lambda: rexmit.diff("a", "b", maps=["config"]),
        lambda: rexmit.diff_packets("a", "b", 1, ignore=["colour"]),
        lambda: rexmit.kernel_exec(["true"], settings={"network": "mobile"}),
        lambda: rexmit.kernel_exec(["true"], host="h2"),
        lambda: rexmit.kernel_exec(["true"], net="tlp-2013"),
        lambda: rexmit.kernel_exec(["true"], env=["=x"]),
        lambda: rexmit.open_scenario("smoke", ["repeat"]),
        lambda: rexmit.synth(points=["nowhere"]),
        lambda: rexmit.synth(format="erf"),
        lambda: rexmit.synth(kinds=["nobody"]),
        lambda: rexmit.synth(settings={"min_rto": "x"}),
        lambda: rexmit.score("x", point="nowhere"),
        lambda: rexmit.sensitivity("smoke"),
        lambda: rexmit.check_whatif(stack="linux-2.4", engine="kernel"),
        lambda: rexmit.tcpfilter(),
        lambda: rexmit.tcpfilter(pattern="x"),
    ]
    for call in wrong:
        with pytest.raises(rexmit.Error) as caught:
            call()
        assert "--" not in caught.value.text()
        assert caught.value.usage
