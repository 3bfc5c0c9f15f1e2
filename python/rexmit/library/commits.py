"""The commits of a kernel's tree: how their kernels are built, and what each is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, Protocol, TypedDict

from rexmit import additions, configuration, escaping
from rexmit.comparison.gate import Gate, Judgement, share
from rexmit.errors import FaultySourceError, UserError, argument
from rexmit.gate import scripts
from rexmit.gate.attempts import Verdict
from rexmit.gate.bisect import Answer
from rexmit.gate.history import Commit, History
from rexmit.gate.verdicts import of_all
from rexmit.kernels.build import Build, build
from rexmit.kernels.kernel import Kernel
from rexmit.library.diff import diff, worse_than
from rexmit.library.packetdrill import Scripts, packetdrill
from rexmit.library.run import Campaign, run
from rexmit.library.scenario import Settings, named, texts
from rexmit.progress import Hear, Progress, heard
from rexmit.store.files import write_text
from rexmit.store.open_run import Run, open_run
from rexmit.store.opening import named_folder
from rexmit.store.plain_json import list_of, mapping_of, one_of, read, shape, text

What = str | PathLike[str] | Sequence[str | PathLike[str]]
"""Packet scripts and folders of them, or a scenario."""

USUAL: Final = "5%"
"""What is worse by no more than this share of its mean counts as no worse."""

_NAME: Final = "judged.json"

_CASES: Final = "agree_beside"
"""A function that rexmit_validate offers."""

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


class CommitsKeywords(TypedDict, total=False):
    """Those of `Commits` as keywords."""

    tree: str | PathLike[str]
    worse_than: str | None
    settings: Settings
    tool: str | PathLike[str] | None
    hz: int | None
    patches: Sequence[str | PathLike[str]]
    configs: Sequence[str | PathLike[str]]
    jobs: int | None
    unconfined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """How the kernels of a tree's commits are built, and asked."""

    tree: str | PathLike[str] = "."
    """The repository of the kernel's source."""
    worse_than: str | None = None
    """A scenario alone: worse by more than this share of a quantity's mean; None: 5%."""
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


class Judging:
    """Judges commits of a tree, in a folder that keeps what was judged."""

    def __init__(
        self,
        what: What,
        asked: Commits,
        progress: Hear,
        *,
        beside_last: bool,
        seconds: float | None = None,
    ) -> None:
        self.words = [fspath(one) for one in ([what] if isinstance(what, str | PathLike) else what)]
        self._asked = asked
        self._progress = heard(progress, "steps")
        self._of_kernel = _of_kernel(self.words, asked, beside_last=beside_last)
        self._seconds = seconds

    def begin(self, out: str | PathLike[str] | None, name: str) -> History:
        """Makes the folder, `out` or one below runs/ that says what is done there (`name`).
        Returns the commits of the tree."""
        tree = Path(self._asked.tree).expanduser().absolute()
        words = "-".join((name, tree.name, Path(self.words[0]).stem))
        usual = "".join(one if one.isalnum() or one in "-._" else "_" for one in words)[:200]
        self._top = configuration.runs() / usual if out is None else Path(out)
        named_folder(self._top)
        self.history = History(tree)
        return self.history

    @property
    def clone(self) -> Path:
        """Where commits go that the tree has not."""
        return self._top / "clone"

    def judge(self, same: Commits) -> Callable[[Commit], Answer]:
        """What judges a commit; `same` is what was asked, with commits by their names."""
        question = {"what": escaping.shell(self.words), "how": repr(replace(same, jobs=None))}
        ask = self._of_kernel(self._top)
        if self._seconds is not None:
            ask = _AndCases(ask, self._top, self._seconds, self._asked.jobs, self._progress)
        return _Remembered(_Kept(self._top, question), _OfTree(self.history, ask, self._progress))


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
    judge: _OfTree

    def __call__(self, commit: Commit) -> Answer:
        if before := self.kept.judged.get(commit.name):
            verdict, lines = Verdict(before["verdict"]), tuple(before["lines"])
            answer = Answer(verdict, lines, before["kernel"], before["again"])
            self.judge.ask.recall(answer)
            return answer
        answer = self.judge(commit)
        # What ended a kernel may have come from elsewhere; what does not build will not.
        if answer.kernel is None or answer.verdict is not Verdict.CANNOT_TELL:
            self.kept.keep(commit, answer)
        return answer


class _OfTree:
    """Builds a commit's kernel and asks it."""

    def __init__(self, history: History, ask: _OfKernel, progress: Progress) -> None:
        self.ask = ask
        self._history = history
        self._progress = progress

    def __call__(self, commit: Commit) -> Answer:
        self._progress.note(str(commit))
        keywords = {name: getattr(self.ask.build, name) for name in Build.__slots__}
        try:
            kernel, _ = build(
                str(self._history.top),
                at=self._history.at(commit),
                progress=self._progress,
                **keywords,
            )
        except FaultySourceError as error:
            lines = [error.what, *(error.hint or "").splitlines()[-5:]]
            return Answer(Verdict.CANNOT_TELL, tuple(lines))
        try:
            answer = self.ask(kernel)
        except UserError as error:
            verdict = Verdict.SPLAT if error.splat else Verdict.CANNOT_TELL
            answer = Answer(verdict, (error.what, *(error.hint or "").splitlines()))
        return replace(answer, kernel=kernel.name)


class _OfKernel(Protocol):
    """What a kernel is asked, and how it is built for that."""

    build: Build

    def __call__(self, kernel: Kernel) -> Answer:
        """Asks it."""

    def recall(self, answer: Answer) -> None:
        """An answer of before: what is asked next stands beside that."""


class _OfScripts(_OfKernel):
    """Packet scripts."""

    def __init__(self, words: Sequence[str], asked: Commits) -> None:
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
        head = f"{good} of {len(judged.results)} scripts are good"
        words = ["rexmit", "packetdrill", *self._words, "--kernel", kernel.name]
        if self._how.tool is not None:
            words += ["--packetdrill", str(self._how.tool)]
        return Answer(verdict, (head, *lines), again=escaping.shell(words))

    def recall(self, answer: Answer) -> None:
        """Scripts stand alone."""


class _OfScenario(_OfKernel):
    """A scenario, beside its run on the first commit that was asked, or on the last one."""

    def __init__(self, scenario: str, asked: Commits, top: Path, *, beside_last: bool) -> None:
        self._scenario = scenario
        self._beside_last = beside_last
        self._limit = asked.worse_than or USUAL
        self._campaign = Campaign(settings=asked.settings, jobs=asked.jobs)
        self._top = top
        self._other: Run | None = None
        self.build = asked.build(None)

    def recall(self, answer: Answer) -> None:
        if answer.kernel is not None:
            self._keep(open_run(self._top / answer.kernel))

    def _keep(self, ran: Run) -> None:
        if self._other is None or self._beside_last:
            self._other = ran

    def __call__(self, kernel: Kernel) -> Answer:
        out = self._top / kernel.name
        ran = run(self._scenario, replace(self._campaign, kernel=kernel.name), out=out)
        failed = ran.meta.get("failed_cells") or []
        if splats := [cell["splat"] for cell in failed if cell["splat"]]:
            return Answer(Verdict.SPLAT, tuple(splats[0]), again=ran.meta["command"])
        other = self._other
        self._keep(ran)
        if other is None:
            lines = [
                f"{ran.transfers.height} transfers",
                *(f"{cell['label']}: {cell['message']}" for cell in failed),
            ]
            verdict = Verdict.CANNOT_TELL if failed else Verdict.GOOD
            return Answer(verdict, tuple(lines), again=ran.meta["command"])
        judged = worse_than(diff(other, ran), self._limit)
        words = ["rexmit", "diff", str(other.path), str(out), "--worse-than", self._limit]
        return Answer(_verdict(judged), _lines(judged), again=escaping.shell(words))


class _AndCases(_OfKernel):
    """Something else, and random cases beside those of the last commit. What differs there is said,
    and makes no commit worse."""

    def __init__(
        self, ask: _OfKernel, top: Path, seconds: float, jobs: int | None, progress: Progress
    ) -> None:
        module = additions.functions().get(_CASES)
        if module is None:
            raise UserError(
                f"{argument('seconds')} needs random cases, and rexmit_validate is not installed",
                "leave it out",
                usage=True,
            )
        self._run = getattr(import_module(module), _CASES)
        self._ask = ask
        self._top = top
        self._how = {"seconds": seconds, "jobs": jobs, "progress": progress}
        self._before: Path | None = None
        self.build = ask.build

    def __call__(self, kernel: Kernel) -> Answer:
        answer = self._ask(kernel)
        keep = self._folder(kernel.name)
        ran = self._run(kernel.name, keep=keep, before=self._before, **self._how)
        self._before = keep
        failed = (Verdict.CANNOT_TELL,) if ran.failed else ()
        verdict = of_all((answer.verdict, *failed))
        return replace(answer, verdict=verdict, lines=(*answer.lines, *ran.lines()))

    def recall(self, answer: Answer) -> None:
        self._ask.recall(answer)
        if answer.kernel is not None:
            self._before = self._folder(answer.kernel)

    def _folder(self, kernel: str) -> Path:
        return self._top / f"cases-{kernel}"


def _verdict(judged: Gate) -> Verdict:
    if judged.judged(Judgement.WORSE):
        return Verdict.WORSE
    return Verdict.CANNOT_TELL if judged.judged(Judgement.CANNOT_TELL) else Verdict.GOOD


def _lines(judged: Gate) -> tuple[str, ...]:
    each = [one for kind in Judgement for one in judged.judged(kind)]
    lines = [f"{one.label}: {one.words} ({one.judgement})" for one in each]
    return tuple(lines) or (f"{len(judged.labels)} cells, none worse",)


def _of_kernel(
    words: Sequence[str], asked: Commits, *, beside_last: bool
) -> Callable[[Path], _OfKernel]:
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
    if asked.tool is not None or len(words) > 1:
        what = argument("tool") if asked.tool is not None else words[1]
        raise UserError(f"{what} does not go with a scenario", "leave it out", usage=True)
    share(asked.worse_than or USUAL)
    named(words[0], texts(asked.settings))
    return partial(_OfScenario, words[0], asked, beside_last=beside_last)
