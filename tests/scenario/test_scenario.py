"""Scenario files and --set: what they mean, and errors that name file, line, key and remedy."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexmit._core import toml_lines
from rexmit.errors import UserError
from rexmit.scenario import Page, effective, find, from_plain, load
from rexmit.scenario.values import counts_text

GOOD = """\
format = 1
title = "a test"
repeat = 100

[networks.mobile] # line 5
rate = "7.2Mbit"
delay = "25ms"
repeat = 20

[networks.split]
links = [
  { rate = "10Mbit", delay = "1ms", loss = "1%" },
  { rate = "1Mbit", delay = "9ms" },
]
queue = 50

[configs.er.sysctl]
"net.ipv4.tcp_early_retrans" = 2
net.ipv4.tcp_sack = 1

[configs.tlp]
about = "the probe"

[loss]
segments = ["0..3", 10]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "test.toml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def changed(file: Path, old: str, new: str) -> Path:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    return file


def test_what_a_file_means(file: Path) -> None:
    scenario = load(file)
    assert scenario.network_names == ("mobile", "split")
    assert scenario.config_names == ("er", "tlp")
    assert (scenario.repeats("mobile"), scenario.repeats("split")) == (20, 100)
    assert scenario.configs["er"].sysctl == {
        "net.ipv4.tcp_early_retrans": "2",
        "net.ipv4.tcp_sack": "1",
    }
    assert [lost for lost, _ in scenario.loss.losses] == [0, 1, 2, 3, 10]
    assert scenario.workload.pages == (Page(segments=100, size_bytes=None),)
    first, second = scenario.networks["mobile"].link_specs(0.5)
    assert first == second
    assert (first.rate_bps, first.delay_ns, first.loss) == (7_200_000, 25_000_000, 0.5)
    first, second = scenario.networks["split"].link_specs(0.5)
    assert (first.rate_bps, first.delay_ns, first.loss) == (10_000_000, 1_000_000, 0.01)
    assert (second.rate_bps, second.loss, second.queue_packets) == (1_000_000, 0.5, 50)


@pytest.mark.parametrize(
    ("old", "new", "line", "said", "remedy"),
    [
        ("repeat = 100", "repaet = 100", 3, "repaet: unknown key", "did you mean repeat?"),
        ('"7.2Mbit"', '"7.2MBit"', 6, 'did you mean "7.2Mbit"', 'like "7.2Mbit"'),
        ('"7.2Mbit"', "7.2", 6, "networks.mobile.rate: 7.2 has no unit", "Mbit"),
        ('"25ms"', "[1]", 7, "networks.mobile.delay: [1] is no duration", "2.5ms"),
        ("repeat = 20", 'repeat = "20"', 8, 'networks.mobile.repeat: "20" does not', "transfers"),
        ("repeat = 20", "repeat = 0", 8, "networks.mobile.repeat: 0 does not fit", "1 to 1,000"),
        ("repeat = 20", 'att = "wire"', 8, "unknown key", "did you mean at?"),
        ("repeat = 20", 'at = "hose"', 8, 'did you mean "host"', '"wire"'),
        ('loss = "1%"', 'lost = "1%"', 12, "links.0.lost: unknown key", "did you mean loss?"),
        (', delay = "9ms"', "", 13, "networks.split.links.1.delay: missing", "one way"),
        ('delay = "25ms"\n', "", 5, "networks.mobile.delay: missing", "one way"),
        ("queue = 50", "queue = 0.5", 15, "networks.split.queue: 0.5", "packets"),
        ('retrans" = 2', 'retrans" = 2.5', 18, "2.5 is no whole number", "sysctl"),
        ("net.ipv4.tcp_sack = 1", "tcp_sack = 1", 19, "no name of a setting", "net.ipv4"),
        ("net.ipv4.tcp_sack = 1", "net.ipv4.tcp_sack = true", 19, "true is no", "sysctl"),
        ("net.ipv4.tcp_sack = 1", "net.ipv4.tcp_sack = {}", 19, "{} is no whole", "sysctl"),
        ('"0..3"', '"3..0"', 25, 'loss.segments: range "3..0" runs backwards', "0..20"),
        ("10]", "3]", 25, "loss.segments: 3 stands there twice", ""),
        ("10]", "-1]", 25, "-1 is not between 0 and", "0..20"),
        ('["0..3", 10]', "[]", 25, "the list is empty", ""),
        ("[loss]", "[lost]", 24, "lost: unknown key", "did you mean loss?"),
        ("repeat = 100", 'network = "mobil"', 3, 'no network "mobil"', "did you mean mobile?"),
        ("repeat = 100", 'config = ["er", "x"]', 3, 'no config "x"', "configs here: er, tlp"),
        ("format = 1", "format = 2", 1, "format: 2 does not fit", "1 (the version"),
        ("format = 1", "ip = { famly = 4 }\nformat = 1", 1, "ip.famly", "did you mean family?"),
        ("[loss]", "[ip]\nfamily = 6\nmtu = 600\n[loss]", 26, "IPv6 needs 1280", ""),
        ("[loss]", "[workload]\nsegments = 30\nsize = '100kB'\n[loss]", 26, "as well", "not both"),
        ("[loss]", "[workload]\nclient = ['curl', 'wget']\n[loss]", 25, '"wget"', "lynx"),
        ("[loss]", "[workload]\nreceive_window = 64\n[loss]", 25, "64 has no unit", "auto"),
        ("[loss]", "[workload]\ntimeout = '0s'\n[loss]", 25, "more than nothing", "300s"),
        ("[loss]", "[[vary]]\nline_loss = 0.1\n[loss]", 25, "0.1 has no unit", "1%"),
        ("[loss]", "[[vary]]\nabout = 'x'\n[loss]", 24, "varies nothing", "line_loss"),
        ("[loss]", "[[vary]]\nloss = '1%'\n[loss]", 25, "unknown key", "did you mean"),
        ("repeat = 100", 'rate = "1Mbit"', 3, "unknown key", "rate is a key of [networks.NAME]"),
        ("repeat = 100", "segments = 3", 3, "unknown key", "a key of [workload] and [loss]"),
        ("format = 1", "format = true", 1, "format: true does not fit", "1 (the version"),
        ("[loss]", "[workload]\nsegments = 8\n[loss]", 27, "10 segments are lost", "at most 8"),
        ("[loss]", "[[vary]]\nsegments = [9, 30]\n[loss]", 27, "(vary.0.segments)", "at most 9"),
        ("[loss]", "[workload]\nsize = '5kB'\n[loss]", 27, "lost of a page of 4", "at most 4"),
        ("[loss]", "[loss", 24, "Expected", "no valid TOML"),
        ('title = "a', "title = a", 2, "Invalid value", "no valid TOML"),
    ],
)
def test_errors_name_file_line_key_and_remedy(
    file: Path, old: str, new: str, line: int, said: str, remedy: str
) -> None:
    with pytest.raises(UserError) as error:
        load(changed(file, old, new))
    assert error.value.what.startswith(f"{file}:{line}: ")
    assert said in error.value.what
    assert remedy in (error.value.hint or "")
    assert error.value.exit_status == 1


def test_all_errors_are_told_at_once(file: Path) -> None:
    text = GOOD.replace('"7.2Mbit"', "7").replace("queue = 50", "queu = 50")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        load(file)
    assert error.value.what == f"{file}: 2 errors"
    assert f"{file}:6: networks.mobile.rate" in str(error.value.hint)
    assert f"{file}:15: networks.split.queu" in str(error.value.hint)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="no UTF-8"):
        load(tmp_path / "bytes.toml")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(UserError, match="too deep"):
        load(tmp_path / "deep.toml")


def test_set_overrides_any_key(file: Path) -> None:
    settings = [
        "network=mobile",
        "config=tlp,er",
        "loss.segments=0..20",
        "repeat=10",
        "title=one, two",
        "networks.*.loss=0%,1%",
        "networks.split.links.1.rate=2Mbit",
        "configs.tlp.sysctl.net.ipv4.tcp_rmem=1 2 3",
        'configs.tlp.sysctl."net.ipv4.tcp_sack"=0',
        "workload.size=50kB,60kB",
        "tcp.congestion_control=reno",
        "ip.family=6",
    ]
    scenario = load(file, settings)
    assert scenario.network_names == ("mobile",)
    assert scenario.config_names == ("tlp", "er")
    assert [lost for lost, _ in scenario.loss.losses] == list(range(21))
    assert (scenario.repeats("mobile"), scenario.repeats("split")) == (10, 10)
    assert scenario.title == "one, two"
    assert scenario.networks["split"].loss == (0.0, 0.01) == scenario.networks["mobile"].loss
    assert scenario.networks["split"].link_specs(0)[1].rate_bps == 2_000_000
    assert scenario.configs["tlp"].sysctl == {
        "net.ipv4.tcp_rmem": "1 2 3",
        "net.ipv4.tcp_sack": "0",
    }
    assert [page.size_bytes for page in scenario.workload.pages] == [50_000, 60_000]
    assert scenario.ip.family == 6


def test_a_networks_repeat_may_follow_the_campaigns(file: Path) -> None:
    scenario = load(file, ["repeat=10", "networks.mobile.repeat=3"])
    assert (scenario.repeats("mobile"), scenario.repeats("split")) == (3, 10)


def test_size_and_segments_replace_each_other(file: Path) -> None:
    scenario = load(file, ["workload.size=10kB", "workload.segments=17"])
    assert scenario.workload.pages == (Page(segments=17, size_bytes=None),)


@pytest.mark.parametrize(
    ("setting", "said", "remedy"),
    [
        ("nonsense", "this is no KEY=VALUE", "for example"),
        ("=3", "this is no KEY=VALUE", "for example"),
        (".=3", "this is no KEY=VALUE", "for example"),
        ("repeat=\uff11", "does not fit", "1 to 1,000"),
        ("loss.segments=\uff11..2", "no whole number and no range", "0..20"),
        ("workload.size=20kB,51MB", "the page is too large", "at most 50MB"),
        ("workload.segments=33334", "the page is too large", "at most 33,333 of 1,500 bytes"),
        ('vary=[{size="1GB"}]', "the page is too large", "at most 50MB"),
        ("networks.mobile.delay=200s", "is not between 0s and 100s", "2.5ms"),
        ("configs.tlp.sysctl.kernel.panic=1", "no name of a setting of a host", 'below "net."'),
        ("los.segments=3", "los: unknown key", "did you mean loss?"),
        ("loss.segment=3", "loss.segment: unknown key", "did you mean segments?"),
        ("loss.segments=3..1", "runs backwards", "0..20"),
        ("loss.segments=1,,2", "a value is missing", "commas"),
        ("networks.mobil.rate=1Mbit", "no networks.mobil", "did you mean mobile?"),
        ("networks.mobile.rate=1", "1 has no unit", "Mbit"),
        ("networks.split.links.2.rate=1Mbit", "a list of 2", "0 to 1"),
        ("networks.mobile.rate.x=1", "is a value and has no keys", "networks.mobile.rate="),
        ("network=x", 'there is no network "x"', "mobile, split"),
        ("vary=[{", "no TOML", "list of tables"),
        (f"vary={'[' * 5000}", "no TOML", "list of tables"),
        ("configs.tlp.sysctl.sack=1", "no name of a setting", "net.ipv4"),
    ],
)
def test_errors_name_the_set(file: Path, setting: str, said: str, remedy: str) -> None:
    with pytest.raises(UserError) as error:
        load(file, [setting])
    assert f"`settings` {setting}: " in error.value.what
    assert said in error.value.what
    assert remedy in (error.value.hint or "")
    assert error.value.exit_status == 2


def test_effective_can_be_loaded_again(file: Path) -> None:
    extra = ["loss.segments=1,3..5", "workload.receive_window=auto,64kB", "seed=5"]
    for scenario in (load(file), load(file, extra), load(find("tlp-further"))):
        plain = effective(scenario)
        again = from_plain(json.loads(json.dumps(plain)))
        assert effective(again) == plain
        assert again.workload == scenario.workload or plain["workload"]["segments"] == 100
        assert (again.networks, again.configs, again.loss, again.vary) == (
            scenario.networks,
            scenario.configs,
            scenario.loss,
            scenario.vary,
        )
    assert effective(load(file))["networks"]["mobile"]["rate"] == "7.2Mbit"


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12, unique=True))
def test_lists_of_counts_read_back(numbers: list[int]) -> None:
    data = tomllib.loads(GOOD)
    data["loss"]["segments"] = counts_text(tuple(numbers))
    assert [lost for lost, _ in from_plain(data).loss.losses] == numbers


def test_lines_of_every_kind_of_key() -> None:
    text = '''# comment
a.b = """
x = 1
""" # not a key
"quoted = key" = "it\\"s # ["
[t] # comment
list = [ # one
  { k = "]", "l" = [1,
    2] },
  3,
]
[[many]]
x = 1
[[many]]
x = """a "quoted" end""""
inner.y = 2
[many.deep]
z = 1979-05-27T07:32:00
'''
    lines = toml_lines(text)
    tomllib.loads(text)
    expected = {
        ("a", "b"): 2,
        ("quoted = key",): 5,
        ("t",): 6,
        ("t", "list"): 7,
        ("t", "list", 0): 8,
        ("t", "list", 0, "k"): 8,
        ("t", "list", 0, "l", 1): 9,
        ("t", "list", 1): 10,
        ("many", 0, "x"): 13,
        ("many", 1): 14,
        ("many", 1, "x"): 15,
        ("many", 1, "inner", "y"): 16,
        ("many", 1, "deep"): 17,
        ("many", 1, "deep", "z"): 18,
    }
    assert {path: lines.get(path) for path in expected} == expected


def test_scenarios_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find("tlp-2013").name == "tlp-2013.toml"
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "mine.toml").touch()
    assert find("mine") == Path("scenarios/mine.toml")
    with pytest.raises(UserError) as error:
        find("tlp-2031")
    assert "did you mean" in str(error.value.hint)
    assert error.value.exit_status == 2
    with pytest.raises(UserError, match="is a folder"):
        find("scenarios")


@pytest.mark.parametrize(
    "setting", ["repeat=" + "9" * 5000, "vary=[{segments = " + "9" * 5000 + "}]", "title=\udc80"]
)
def test_a_set_that_python_cannot_read_is_refused(file: Path, setting: str) -> None:
    with pytest.raises(UserError, match=r"^`settings` ") as caught:
        load(file, [setting])
    assert caught.value.usage


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("seed = " + "9" * 5000, encoding="utf-8")
    with pytest.raises(UserError, match=r"x\.toml: a number has too many digits"):
        load(file)
