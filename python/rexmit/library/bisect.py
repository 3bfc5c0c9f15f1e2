"""The commit of a kernel's tree that made packet scripts or a scenario worse."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, Protocol, TypedDict, Unpack

from rexmit import configuration, escaping, interrupt
from rexmit.comparison.gate import Gate, Judgement, share
from rexmit.errors import UserError, argument
from rexmit.gate import scripts
from rexmit.gate.attempts import Verdict
from rexmit.gate.bisect import Answer, Found, Judge, Step, search
from rexmit.gate.history import Commit, History
from rexmit.gate.verdicts import of_all
from rexmit.kernels.build import Build, build
from rexmit.kernels.kernel import Kernel
from rexmit.library.diff import diff, worse_than
from rexmit.library.packetdrill import Scripts, packetdrill
from rexmit.library.run import Campaign, run
from rexmit.library.scenario import Settings, named, texts
from rexmit.options import given, takes
from rexmit.progress import Hear, Progress, heard
from rexmit.store.files import remove, write_text
from rexmit.store.open_run import Run
from rexmit.store.opening import named_folder
from rexmit.store.plain_json import list_of, mapping_of, one_of, read, shape, text

_NAME: Final = "bisect.json"

_ANSWER: Final = shape(
    {
        "verdict": one_of(*(one.value for one in Verdict)),
        "lines": list_of(text),
        "again": text,
    },
    needed=("verdict", "lines", "kernel", "again"),
)
_KEPT: Final = shape(
    {"question": mapping_of(text), "judged": mapping_of(_ANSWER)},
    needed=("question", "judged"),
)


class Keywords(TypedDict, total=False):
    """`Question` as keywords."""

    tree: str | PathLike[str]
    good: str
    bad: str
    worse_than: str | None
    settings: Settings
    tool: str | PathLike[str] | None
    hz: int | None
    patches: Sequence[str | PathLike[str]]
    configs: Sequence[str | PathLike[str]]
    jobs: int | None
    unconfined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What each commit is asked, and how its kernel is built. Raises UserError (usage) for what
    does not go together.
    """

    tree: str | PathLike[str]
    """The repository of the kernel's source."""
    good: str
    """A commit on whose kernel all is good."""
    bad: str = "HEAD"
    """A later one on whose kernel it is not."""
    worse_than: str | None = None
    """A scenario alone: worse by more than this share of a quantity's mean (5%)."""
    settings: Settings = ()
    """Changes to keys of the scenario."""
    tool: str | PathLike[str] | None = None
    """The packetdrill of scripts; None: the one on PATH."""
    hz: int | None = None
    """Of the kernels; None: what the scripts ask for, else what is usual."""
    patches: Sequence[str | PathLike[str]] = ()
    configs: Sequence[str | PathLike[str]] = ()
    jobs: int | None = None
    """Compilers, and kernels, at a time; one a core where it is None."""
    unconfined: bool = False
    """Without a sandbox for the code of the tree."""

    def build(self, hz: int | None) -> Build:
        """How each kernel is built, with the timer that scripts ask for."""
        built = Build(
            patches=self.patches,
            configs=self.configs,
            jobs=self.jobs,
            unconfined=self.unconfined,
        )
        wanted = self.hz or hz
        return built if wanted is None else replace(built, hz=wanted)


@takes(Question, Keywords)
def bisect(
    what: str | PathLike[str] | Sequence[str | PathLike[str]],
    question: Question | None = None,
    *,
    out: str | PathLike[str] | None = None,
    on_step: Callable[[Step], object] | None = None,
    progress: Hear = None,
    **keywords: Unpack[Keywords],
) -> Found:
    """Finds the first commit after `good`, up to `bad`, of the repository `tree` on whose kernel
    `what` is worse: packet scripts (`.pkt` files, or folders of them) that `good` passes, or, with
    `worse_than`, a scenario beside its run on `good`.

    The tree is only read: commits are checked out in a clone below `out`, a folder below runs/
    where it is None, and their kernels are built from there. A commit that does not build, or of
    which nothing can be told, is left out. The same call goes on where it stopped: `out` keeps
    what was judged. `on_step` gets each commit that was judged.

    Raises UserError where `good` is not good, or `bad` not bad.
    """
    asked = given(question, Question, keywords)
    words = [fspath(one) for one in ([what] if isinstance(what, str | PathLike) else what)]
    hears = heard(progress, "steps")
    judge_of = _judge_of(words, asked)
    top = configuration.runs() / _folder(asked, words) if out is None else Path(out)
    named_folder(top)
    with interrupt.undone_by(interrupt.nothing):
        history = History(Path(asked.tree).expanduser().absolute(), top / "tree")
        good, bad = history.commit("good", asked.good), history.commit("bad", asked.bad)
        same = replace(asked, good=good.name, bad=bad.name, jobs=None)
        kept = _Kept(top, {"what": escaping.shell(words), "how": repr(same)})
        judge = _Remembered(kept, _OfTree(history, judge_of(top), hears))
        first = search(history, good, bad, judge, on_step)
        remove(history.clone)
    return first


def _folder(asked: Question, words: Sequence[str]) -> str:
    tree = Path(asked.tree).absolute().name
    text = "-".join(("bisect", tree, asked.good, asked.bad, Path(words[0]).stem))
    return "".join(one if one.isalnum() or one in "-._" else "_" for one in text)[:200]


class _Kept:
    """What was judged, in a file of the folder."""

    def __init__(self, top: Path, question: dict[str, str]) -> None:
        self._path = top / _NAME
        self._question = question
        self.judged: dict[str, dict[str, Any]] = {}
        if not self._path.exists():
            return
        try:
            data = read(self._path)
            _KEPT(data, "")
        except ValueError as error:
            raise UserError(f"{self._path}: {error}", f"name another {argument('out')}") from None
        if data["question"] != question:
            raise UserError(
                f"{top} has another question: {data['question'].get('what')}",
                f"name another folder: {argument('out')}",
                usage=True,
            )
        self.judged = data["judged"]

    def keep(self, commit: Commit, answer: Answer) -> None:
        """One more."""
        self.judged[commit.name] = answer.as_json()
        whole = {"question": self._question, "judged": self.judged}
        write_text(self._path, json.dumps(whole, indent=1) + "\n")


@dataclass(frozen=True)
class _Remembered:
    """Answers what was judged before."""

    kept: _Kept
    judge: Judge

    def __call__(self, commit: Commit) -> Answer:
        if before := self.kept.judged.get(commit.name):
            verdict, lines = Verdict(before["verdict"]), tuple(before["lines"])
            return Answer(verdict, lines, before["kernel"], before["again"])
        answer = self.judge(commit)
        self.kept.keep(commit, answer)
        return answer


class _OfTree:
    """Builds a commit's kernel and asks it."""

    def __init__(self, history: History, ask: _OfKernel, progress: Progress) -> None:
        self._history = history
        self._ask = ask
        self._progress = progress

    def __call__(self, commit: Commit) -> Answer:
        self._progress.note(str(commit))
        self._history.check_out(commit)
        keywords = {name: getattr(self._ask.build, name) for name in Build.__slots__}
        try:
            kernel, _ = build(str(self._history.clone), progress=self._progress, **keywords)
        except UserError as error:
            lines = [error.what, *(error.hint or "").splitlines()[-5:]]
            return Answer(Verdict.CANNOT_TELL, tuple(lines))
        try:
            answer = self._ask(kernel)
        except UserError as error:
            verdict = Verdict.SPLAT if error.splat else Verdict.CANNOT_TELL
            answer = Answer(verdict, (error.what, *(error.hint or "").splitlines()))
        return replace(answer, kernel=kernel.name)


class _OfKernel(Protocol):
    """What a kernel is asked, and how it is built for that."""

    build: Build

    def __call__(self, kernel: Kernel) -> Answer:
        """Asks it."""


class _OfScripts(_OfKernel):
    """Packet scripts."""

    def __init__(self, words: Sequence[str], asked: Question) -> None:
        self._words = words
        self._how = Scripts(tool=asked.tool, jobs=asked.jobs)
        tool = scripts.tool(asked.tool)
        cases = scripts.cases(words, self._how.families, tool)
        self.build = asked.build(scripts.hz(case.script for case in cases))

    def __call__(self, kernel: Kernel) -> Answer:
        judged = packetdrill(self._words, replace(self._how, kernel=kernel.name))
        verdict = of_all(one.verdict for one in judged.results)
        lines = [
            line
            for one in judged.results
            if one.verdict is not Verdict.GOOD
            for line in (f"{one.name}: {one.verdict}", *one.why)
        ]
        good = sum(one.verdict is Verdict.GOOD for one in judged.results)
        head = f"{good} of {len(judged.results)} are good"
        words = ["rexmit", "packetdrill", *self._words, "--kernel", kernel.name]
        if self._how.tool is not None:
            words += ["--packetdrill", str(self._how.tool)]
        return Answer(verdict, (head, *lines), again=escaping.shell(words))


class _OfScenario(_OfKernel):
    """A scenario, beside its run on the first commit that is asked of."""

    def __init__(self, scenario: str, asked: Question, top: Path) -> None:
        named(scenario, texts(asked.settings))
        self._scenario = scenario
        self._limit = asked.worse_than or ""
        self._campaign = Campaign(settings=asked.settings, jobs=asked.jobs)
        self._top = top
        self._good: Run | None = None
        self.build = asked.build(None)

    def __call__(self, kernel: Kernel) -> Answer:
        out = self._top / kernel.name
        ran = run(self._scenario, replace(self._campaign, kernel=kernel.name), out=out)
        failed = ran.meta.get("failed_cells") or []
        if splats := [cell["splat"] for cell in failed if cell["splat"]]:
            return Answer(Verdict.SPLAT, tuple(splats[0]), again=ran.meta["command"])
        if self._good is None:
            self._good = ran
            n = ran.transfers.height
            verdict = Verdict.CANNOT_TELL if failed else Verdict.GOOD
            lines = [f"{n} transfers", *(f"{cell['label']}: {cell['message']}" for cell in failed)]
            return Answer(verdict, tuple(lines), again=ran.meta["command"])
        judged = worse_than(diff(self._good, ran), self._limit)
        limit = ("--worse-than", self._limit)
        words = ["rexmit", "diff", str(self._good.path), str(out), *limit]
        return Answer(_verdict(judged), _lines(judged), again=escaping.shell(words))


def _verdict(judged: Gate) -> Verdict:
    if judged.judged(Judgement.WORSE):
        return Verdict.WORSE
    return Verdict.CANNOT_TELL if judged.judged(Judgement.CANNOT_TELL) else Verdict.GOOD


def _lines(judged: Gate) -> tuple[str, ...]:
    each = [one for kind in Judgement for one in judged.judged(kind)]
    lines = [f"{one.label}: {one.words} ({one.judgement})" for one in each]
    return tuple(lines) or (f"{len(judged.labels)} cells, none worse",)


def _judge_of(words: Sequence[str], asked: Question) -> Callable[[Path], _OfKernel]:
    """Scripts or a scenario. Raises UserError (usage)."""
    if not words:
        raise UserError("nothing to ask is named", "name scripts or a scenario", usage=True)
    of_scripts = all(word.endswith(scripts.SUFFIX) or Path(word).is_dir() for word in words)
    if of_scripts:
        if asked.worse_than is not None or texts(asked.settings):
            name = "worse_than" if asked.worse_than is not None else "settings"
            raise UserError(
                f"{argument(name)} is about scenarios, and {words[0]} is a script",
                "leave it out",
                usage=True,
            )
        return lambda _: _OfScripts(words, asked)
    if asked.worse_than is None:
        raise UserError(
            f"{words[0]} is a scenario, and by how much it is to be worse is not said",
            f"say {argument('worse_than', '5%')}",
            usage=True,
        )
    if asked.tool is not None or len(words) > 1:
        what = argument("tool") if asked.tool is not None else words[1]
        raise UserError(f"{what} does not go with a scenario", "leave it out", usage=True)
    share(asked.worse_than)
    return partial(_OfScenario, words[0], asked)
