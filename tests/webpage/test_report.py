"""The library and the command: what a page is made of, and what is refused."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
import struct
import subprocess
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.real.packets import ACK, FIN, SYN
from tests.real.rebuilt import Sent, write
from tests.webpage.conftest import Open

import rexmit
from rexmit.cli import app
from rexmit.webpage import choose, of_trace, scripts
from rexmit.webpage.assemble import assembled, policy
from rexmit.webpage.beside import series
from rexmit.webpage.columns import packed
from rexmit.webpage.packets import Drawn
from rexmit.webpage.part import Opens, Part, Table
from rexmit.webpage.whatif import sliders
from rexmit_papers.unc_2007.curves import Curve
from rexmit_papers.unc_2007.distributions import Distribution
from rexmit_papers.unc_2007.page import distribution

runner = CliRunner()


def unpacked(data: bytes) -> tuple[Any, dict[str, list[Any]]]:
    """A pack, read slowly."""
    raw = gzip.decompress(data)
    (length,) = struct.unpack_from("<I", raw)
    header = json.loads(raw[4 : 4 + length])
    body = raw[-(-(4 + length) // 8) * 8 :]
    found = {}
    (table,) = header["tables"].values()
    for column in table["columns"]:
        kind, width, rows = column["type"], int(column["type"][1]), table["rows"]
        numbers = [
            np.frombuffer(
                bytes(body[column["at"] + byte * rows + row] for byte in range(width)),
                f"<{kind}",
            )[0].item()
            for row in range(rows)
        ]
        match column["kind"]:
            case "number":
                values = [None if number != number else number for number in numbers]
            case "boolean":
                values = [[False, True, None][number] for number in numbers]
            case "words":
                values = [column["values"][n - 1] if n else None for n in numbers]
            case _:
                at = column["text_at"]
                text = body[at : at + column["text_bytes"]].decode().encode("utf-16-le")
                ends = [0, *numbers]
                values = [text[2 * a : 2 * b].decode("utf-16-le") for a, b in pairwise(ends)]
        found[column["name"]] = values
    return header["about"], found


FRAME = pl.DataFrame(
    {
        "small": [1, 2, 255],
        "signed": [-1, 0, 2**31 - 1],
        "large": [0, 2**32 - 1, 2],
        "larger": [0, 2**52, 2],
        "holes": [1, None, 3],
        "float": [0.1, None, -1e300],
        "flag": [True, None, False],
        "words": ["b", None, "ä"],
    }
)


def test_columns_come_back_as_they_were() -> None:
    about, found = unpacked(packed({"rows": FRAME}, {"a": ["ü", 1]}))
    assert about == {"a": ["ü", 1]}
    assert found == FRAME.to_dict(as_series=False)


def test_many_different_texts_are_one_text() -> None:
    texts = [f"{i}\U0001f600ä" * (i % 3) for i in range(700)]
    _, found = unpacked(packed({"rows": pl.DataFrame({"texts": texts})}))
    assert found["texts"] == texts


def test_the_browser_reads_what_was_written(tmp_path: Path, show: Open) -> None:
    texts = [f"{i} \U0001f600ä" for i in range(700)]
    frame = (
        pl.DataFrame({"texts": texts})
        .with_row_index("row")
        .join(FRAME.with_row_index("row"), on="row", how="left")
    )
    frame = frame.select(*FRAME.columns, "texts")
    table = Table("all", "All", frame, "true", sort="", opens=Opens("connection", "small"))
    file = tmp_path / "columns.html"
    file.write_bytes(b"".join(assembled([Part("trace", "x", [], [], [table])], "x", "true")))
    page = show(file, "table=all")
    first = [
        page.locator(".rows .row").nth(row).locator("div").all_inner_texts() for row in range(3)
    ]
    assert first == [
        ["1", "-1", "0", "0", "1", "0.1", "yes", "b", texts[0]],
        ["2", "0", "4,294,967,295", "4,503,599,627,370,496", "-", "-", "-", "-", texts[1]],
        ["255", "2,147,483,647", "2", "2", "3", first[2][5], "no", "ä", texts[2]],
    ]
    page.get_by_role("searchbox").fill("699 ")
    page.wait_for_selector("text=1 of 700")
    page.get_by_role("searchbox").fill("float<0")
    page.wait_for_selector("text=1 of 700")


def test_the_librarys_file_is_the_registrys() -> None:
    folder = files("rexmit.webpage") / "assets" / "uplot"
    vendored = json.loads((folder / "vendored.json").read_text(encoding="utf-8"))
    for name, digest in vendored["sha256"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert vendored["licence"] == "MIT"
    assert f"v{vendored['version']}" in scripts.library()[:200]


def test_every_module_is_in_the_program_and_is_javascript(tmp_path: Path) -> None:
    names = [
        one.name for one in (files("rexmit.webpage") / "assets").iterdir() if ".js" in one.name
    ]
    program = scripts.program()
    for name in names:
        assert f"const module_{name.removesuffix('.js')} = " in program
    assert "import {" not in program
    node = shutil.which("node")
    if node is not None:
        (tmp_path / "program.js").write_text(program, encoding="utf-8")
        subprocess.run([node, "--check", tmp_path / "program.js"], check=True)


def test_the_policy_names_what_stands_in_the_page(traced: Path) -> None:
    text = traced.read_text(encoding="utf-8")
    assert text.count("<script>") == 2
    for part in text.split("<script>")[1:]:
        digest = hashlib.sha256(part.split("</script>")[0].encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy()
    assert "unsafe" not in policy()


def test_a_ladder_marks_how_a_connection_opens_and_closes_and_what_keeps_it(
    tmp_path: Path,
) -> None:
    sent = [
        Sent(0, False, SYN, 0),
        Sent(10, True, SYN | ACK, 0, 1),
        Sent(20, False, ACK, 1, 1, window=0),
        Sent(30, False, ACK, 1, 1, 500),
        Sent(40, True, ACK, 1, 501),
        Sent(900, True, ACK, 0, 501),
        Sent(9_000, False, ACK, 500, 1),
        Sent(9_010, True, ACK | FIN, 1, 501),
    ]
    of = rexmit.trace(write(tmp_path / "a.pcap", sent))
    (pack,) = of_trace.part(of, connections=[0], limit=100).packets
    assert pack.tables["packets"]["mark"].to_list() == [
        *("SYN", "SYN", "window 0", None, None, "keep-alive", "keep-alive", "FIN"),
    ]


def test_a_page_is_small_but_for_its_data(capture: Path, tmp_path: Path) -> None:
    made = rexmit.report(capture, tmp_path / "one.html")
    assert made.size_bytes == made.path.stat().st_size < 3_000_000
    assert made.about == (f"trace {capture}",)


def test_packets_are_chosen_by_a_rule_with_a_bound() -> None:
    ranked = [(7, 50), (3, 60), (1, 40), (2, 10)]
    found = choose.choose(ranked, every=9, limit=100, order="the worst first", noun="connection")
    assert found.numbers == (7, 1, 2)
    assert "3 of 9 connections: the worst first" in found.rule
    assert "1 with more packets" in found.rule
    every = choose.choose(ranked, every=4, limit=1000, order="", noun="connection")
    assert every.rule == "This file has the packets of all 4 connections."


def test_the_bound_is_asked_for(trace: rexmit.Trace, tmp_path: Path) -> None:
    few = rexmit.report(trace, tmp_path / "few.html", packets=500)
    none = rexmit.report(trace, tmp_path / "none.html", packets=0)
    assert none.size_bytes < few.size_bytes
    assert "500 packets in all" in few.rules[0]


def test_bytes_in_flight_round_trips_and_the_window(new: rexmit.Run) -> None:
    flow = rexmit.open_flow(new, 0)
    steps = sorted(flow.steps, key=lambda step: step.at_ns(from_server=True))
    at = [step.at_ns(from_server=True) / 1e9 for step in steps]
    made = {
        name: list(points)
        for name, points in series(steps, at, data_from_server=True, scale=2).items()
    }
    # All was acknowledged in the end.
    assert made["flight"][-1][1] == 0
    assert 10 * 1448 <= max(value for _, value in made["flight"]) <= 100 * 1448 + 2
    # The network takes 50 ms each way; what was sent twice, and what waited behind it, does not
    # count, so no round trip has a timeout in it.
    assert all(0.1 <= value < 0.2 for _, value in made["rtt"])
    assert len(made["rtt"]) > 20
    bare = [step for step in steps if not step.from_server and "SYN" not in step.flags]
    assert {value for _, value in made["window"]} >= {step.window << 2 for step in bare}
    assert made["rto"][0][1] == pytest.approx(3 * made["rtt"][0][1])


def test_an_acknowledgement_of_what_was_never_sent_is_none(new: rexmit.Run) -> None:
    flow = rexmit.open_flow(new, 0)
    steps = sorted(flow.steps, key=lambda step: step.at_ns(from_server=True))
    at = [step.at_ns(from_server=True) / 1e9 for step in steps]
    place = len(steps) // 2
    stray = next(step for step in steps if not step.from_server and step.ack is not None)
    stray = replace(stray, ack=4_258_298_890, window=65_000)
    more = [*steps[:place], stray, *steps[place:]]
    times = [*at[:place], at[place], *at[place:]]
    found = series(more, times, data_from_server=True, scale=2)
    expected = series(steps, at, data_from_server=True, scale=2)
    assert {name: list(points) for name, points in found.items()} == {
        name: list(points) for name, points in expected.items()
    }


def test_the_page_of_a_paper_has_its_claims(
    new: rexmit.Run, compared: Path, tmp_path: Path, show: Open
) -> None:
    def heads(file: Path) -> list[str]:
        return show(file).locator("h2").all_inner_texts()

    claims = "Claims of the paper, each computed from this run"
    assert claims in heads(rexmit.report(rexmit.paper_page(new), tmp_path / "paper.html").path)
    assert claims not in heads(compared)


def test_a_logarithmic_axis_has_no_place_for_nothing() -> None:
    zeros = Curve("Linux", 20, ((0.0, 1.0),))
    planned = Distribution("Bytes", "bytes", "connection", (zeros,), (), log=True)
    assert list(distribution("figure-1", planned, "true")) == []
    assert [one.name for one in distribution("figure-3", replace(planned, log=False), "true")] == [
        "figure-3"
    ]


def test_windows_are_scaled_by_what_syns_offered(new: rexmit.Run) -> None:
    flow = rexmit.open_flow(new, 0)
    offered = {step.from_server: step.window_scale for step in flow.steps if "SYN" in step.flags}
    drawn = Drawn(flow.steps, data_from_server=True, words=lambda _: "")
    assert drawn.scale == offered[False]
    assert drawn.scale is not None
    assert drawn.scale > 0
    without = [step for step in flow.steps if "SYN" not in step.flags]
    assert Drawn(without, data_from_server=True, words=lambda _: "").scale is None


def test_tables_come_out_as_csv(trace: rexmit.Trace) -> None:
    done = runner.invoke(app, ["report", str(trace.path), "--table", "connections"])
    found = pl.read_csv(done.stdout.encode())
    assert found["waited_s"].sum() == pytest.approx(
        trace.scan("connections").select("waited_s").sum().collect().item()
    )
    assert found.height == trace.scan("connections").collect().height
    wrong = runner.invoke(app, ["report", str(trace.path), "--table", "nothing"])
    assert "it has connections, retransmissions, requests, hosts" in str(wrong.exception.hint)  # type: ignore[union-attr]


def test_a_part_of_a_trace(trace: rexmit.Trace) -> None:
    port = "443"
    done = runner.invoke(app, ["report", str(trace.path), "--port", port, "--table", "connections"])
    flows = pl.read_csv(done.stdout.encode())["flow"]
    assert flows.str.contains(f":{port}").all()
    assert 0 < flows.len() < trace.scan("connections").collect().height


def test_of_some_connections_a_grid_is_not_known(trace: rexmit.Trace) -> None:
    every = sliders(trace, "", "")
    some = sliders(rexmit.select(trace, ports=[443]), "", "")
    assert every is not None
    assert some is not None
    assert {row["setting"] for row in some["settings"]} >= {"k=2", "min_rto=100ms"}
    # Of what the grid would have changed, only the sum over all is there.
    summed = set(trace.scan("whatif_totals").collect()["setting"])
    assert summed
    assert not summed & {row["setting"] for row in some["settings"]}
    assert summed <= {row["setting"] for row in every["settings"]}


def test_sliders_and_json_have_the_numbers_of_what_was_asked_for_by_name(capture: Path) -> None:
    trace = rexmit.trace(capture, whatif=["default", "min_rto=400ms"])
    page = rexmit.page(trace)
    (asked,) = [one for one in page.advice if one.named]
    (told,) = [one for one in page.as_json()["settings"] if one["named"]]
    made = sliders(trace, "", "")
    assert made is not None
    (row,) = [one for one in made["settings"] if one["named"]]
    assert row["setting"] == told["setting"] == asked.setting == "min_rto=400ms"
    for name in ("saved_s", "avoided", "shorter", "longer", "spurious", "to_fr", "to_rto"):
        assert row[name] == told[name] == getattr(asked, name), name
    off_by = told["off_by"]
    shares = (off_by["median"], off_by["p95"], off_by["wrong"])
    assert (row["off_median"], row["off_p95"], row["off_sign"]) == shares


def test_the_commands_write_pages(
    capture: Path, new: rexmit.Run, old: rexmit.Run, tmp_path: Path
) -> None:
    for words in (
        ["trace", str(capture)],
        ["show", str(new.path)],
        ["diff", str(old.path), str(new.path)],
        ["run", "smoke", "--engine", "model", "--out", str(tmp_path / "run")],
    ):
        file = tmp_path / f"{words[0]}.html"
        done = runner.invoke(app, [*words, "--html", str(file)])
        assert done.exit_code == 0, done.exception
        assert f"{file}: " in done.stdout
        assert file.read_bytes().startswith(b"<!doctype html>")
        done = runner.invoke(app, [*words, "--html", str(file), "--json"])
        json.loads(done.stdout)
        assert f"{file}: " in done.stderr


def test_what_cannot_be_reported_says_what_to_do(tmp_path: Path, capture: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(rexmit.Error, match="neither a run, nor a trace"):
        rexmit.report(tmp_path / "empty", tmp_path / "page.html")
    with pytest.raises(rexmit.Error, match="no such connection"):
        rexmit.report(capture, tmp_path / "page.html", connections=[99])
    with pytest.raises(rexmit.Error, match="nothing to report"):
        rexmit.report([], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
    done = runner.invoke(app, ["report", str(capture), "--connections", "a"])
    assert "not numbers" in str(done.exception)
    with pytest.raises(rexmit.Error, match="cannot be written"):
        rexmit.report(capture, tmp_path / "empty")


def test_captures_that_are_gone_leave_tables(capture: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.pcapng"
    shutil.copy(capture, moved)
    made = rexmit.trace(moved, out=tmp_path / "kept")
    moved.unlink()
    page = rexmit.report(made, tmp_path / "page.html")
    assert "not there any more" in page.rules[0]
    with pytest.raises(rexmit.Error, match="not there any more"):
        rexmit.report(made, tmp_path / "page.html", connections=[0])
