"""`rexmit stacks` as a user types it, and the compiled module's stacks under it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from rexmit import _core, stacks
from rexmit.cli import app
from rexmit.errors import UserError

runner = CliRunner()


def run(*words: str) -> tuple[int, str]:
    done = runner.invoke(app, ["stacks", *words])
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_the_list_has_a_line_for_each() -> None:
    status, text = run()
    assert status == 0
    lines = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert list(lines) == stacks.names()
    assert "early retransmit" in lines["linux-3.10"]
    assert json.loads(run("--json")[1]) == [
        {"name": name, "about": about} for name, about in lines.items()
    ]


def test_a_page_has_every_setting_with_its_source() -> None:
    _, text = run("linux-3.10")
    lines = text.splitlines()
    assert lines[0].startswith("linux-3.10: Linux 3.10")
    rows = {line.split()[0]: line for line in lines[3:]}
    assert list(rows) == list(stacks.stack("linux-3.10", {}).settings)
    assert " 200ms " in rows["min_rto"]
    assert "TCP_RTO_MIN" in rows["min_rto"]


@pytest.mark.parametrize("name", stacks.names())
def test_no_value_is_without_a_source(name: str) -> None:
    page = json.loads(run(name, "--json")[1])
    assert page["name"] == name
    assert list(page["settings"]) == list(stacks.stack(name, {}).settings)
    for setting, told in page["settings"].items():
        assert all(told.values()), setting


def test_every_value_is_read_back() -> None:
    for name in stacks.names():
        settings = stacks.stack(name, {}).settings
        assert stacks.stack(name, settings).settings == settings


def test_an_unknown_stack_is_wrong_usage() -> None:
    with pytest.raises(UserError) as caught:
        run("linux-3.11")
    assert caught.value.exit_status == 2
    assert "did you mean linux-3.1" in caught.value.text()


def test_settings_are_checked_by_name_value_and_together() -> None:
    assert dict(_core.check_stack("rfc", {"min_rto": "100ms"}, {}))["min_rto"] == "100ms"
    for changes, words in [
        ({"min_rtt": "1s"}, "did you mean min_rto"),
        ({"min_rto": "1"}, "must be a time such as 200ms"),
        ({"recovery": "cubic"}, "must be one of newreno"),
        ({"max_rto": "1ms"}, "must not be less than min_rto"),
    ]:
        with pytest.raises(ValueError, match=words):
            _core.check_stack("rfc", changes, {})


def test_help_has_an_example() -> None:
    assert "rexmit stacks linux-3.10" in run("--help")[1]
