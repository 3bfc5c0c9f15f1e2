"""One campaign: its attempts, what happens between them, and the last, which nothing disturbs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults import program
from tests.faults.between import Damage
from tests.faults.check import FAILED, NEVER, message, wrong
from tests.faults.commands import COMMANDS, SERIES, Command, Result, files, make_inputs
from tests.faults.during import PATIENCE_S, attempt
from tests.faults.place import Place, remove
from tests.faults.plan import Attempt, Fault, Plan
from tests.faults.program import Call, Running

END_S = 30.0
"""Real seconds that what a command started may live longer than the command."""

ADVICE_ROUNDS = 4

_STAY = (".lock", ".locks", ".logs", ".objects")
"""Of the cache of kernels."""


def _stays(path: Path) -> bool:
    return not set(_STAY).isdisjoint(path.parts)


class WrongError(Exception):
    """Something that must not be."""


@dataclass
class Told:
    """How a campaign went, for the report."""

    number: int
    command: str
    faults: list[tuple[str, str]] = field(default_factory=list)
    """Of each: its kind, and what came of it."""
    removed: list[str] = field(default_factory=list)
    """What messages told to remove."""
    course: list[str] = field(default_factory=list)
    wrong: str | None = None
    seconds: float = 0.0

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Reference:
    """What a command makes when nothing disturbs it."""

    result: Result
    seconds: float
    out: str
    """What it printed."""
    read: str | None
    before: Path | None


class Driver:
    """Runs campaigns in a place of its own."""

    def __init__(self, root: Path, *, break_results: bool = False) -> None:
        self._break_results = break_results
        self._place = place = Place(root)
        program.prepare()
        make_inputs(place)
        self._capture = place.inputs / "synth" / "captures" / "campus-sender.pcapng"
        self._references: dict[str, Reference] = {}

    def run(self, plan: Plan) -> Told:
        """Run a campaign."""
        told, began = Told(plan.number, plan.command), time.monotonic()
        command = COMMANDS[plan.command]
        try:
            reference = self._reference(plan.command, command)
            campaign = _Campaign(self._place, command, reference, self._call, told)
            campaign.run(plan.attempts)
        except WrongError as error:
            told.wrong = str(error)
        except Exception as error:
            told.wrong = f"the driver itself: {type(error).__name__}: {error}"
        program.end(program.outlive(0))
        program.outlive(END_S)
        told.seconds = time.monotonic() - began
        return told

    def _reference(self, name: str, command: Command) -> Reference:
        if name not in self._references:
            if command.before is not None and not self._capture.exists():
                self._reference("synth", COMMANDS["synth"])
            self._references[name] = self._undisturbed(name, command)
        return self._references[name]

    def _undisturbed(self, name: str, command: Command) -> Reference:
        place = self._place
        place.disk.clear()
        if command.kernel:
            place.fetch_kernel(SERIES)
        before = None
        if command.before is not None:
            _ended(self._call(command, command.before, "reference"), 0)
            before = place.inputs / "before"
            _copy(self._out(command), before)
        # Twice: the first one of its kind takes longer.
        first = _ended(self._call(command, command.words, "reference"), 0)
        made = files(self._out(command))
        place.disk.clear()
        if before is not None:
            _copy(before, self._out(command))
        one = _ended(self._call(command, command.words, "reference"), 0)
        if files(self._out(command)) != made:
            raise WrongError(f"{name}: two undisturbed results differ")
        seconds = min(first.seconds, one.seconds)
        result, out, printed = files(self._out(command)), self._out(command), one.call.out()
        if self._break_results:
            result = dict.fromkeys(result, "something else")
        if name == "synth" and not self._capture.exists():
            _copy(out, place.inputs / "synth")
        read = None
        if command.reads is not None:
            read = _shown(_ended(self._call(command, command.reads, "reference"), 0).call.out())
        return Reference(result, seconds, printed, read, before)

    def _out(self, command: Command) -> Path:
        return self._place.disk.path / ("cache" if command.words[0] == "kernel" else "out")

    def _call(
        self,
        command: Command,
        words: tuple[str, ...],
        said: str,
        *,
        jobs: int | None = None,
        process: bool = False,
    ) -> Call:
        place, out = self._place, self._out(command)
        tree = place.inputs / "linux-6.12.9"
        paths = {"OUT": out, "CAPTURE": self._capture, "TREE": tree}
        own = {"REXMIT_CACHE": str(out)} if out.name == "cache" else {}
        return Call(
            [str(paths.get(word, word)) for word in words]
            + ([] if jobs is None else ["--jobs", str(jobs)]),
            {**place.environment, **own},
            place.root,
            place.said / said,
            process=process,
            first=None if command.first is None else partial(command.first, place),
        )


def _ended(call: Call, *allowed: int) -> Running:
    one = program.start(call)
    if not one.wait(PATIENCE_S):
        one.send(signal.SIGKILL)
        one.wait(PATIENCE_S)
        raise WrongError(f"{' '.join(call.words)}: no end, undisturbed\n{call.err()}")
    if allowed and one.status not in allowed:
        raise WrongError(f"{' '.join(call.words)}: {one.status}, undisturbed\n{call.err()}")
    return one


def _copy(source: Path, path: Path) -> None:
    import shutil

    shutil.copytree(source, path)


class _Campaign:
    def __init__(
        self,
        place: Place,
        command: Command,
        reference: Reference,
        call: Callable[..., Call],
        told: Told,
    ) -> None:
        self._place, self._command, self._reference = place, command, reference
        self._call, self._told = call, told
        self._damage = Damage()
        self._finished = False
        """The last attempt came to its end: what is read then is the whole result."""
        self._out = place.disk.path / ("cache" if command.words[0] == "kernel" else "out")
        self._whole_before = False

    def run(self, attempts: tuple[Attempt, ...]) -> None:
        self._begin()
        for each in attempts:
            finished = self._attempt(each)
            harmed = [self._harm(fault) for fault in each.after]
            if each.read:
                self._read()
            # Nothing goes wrong with what has nothing left to do.
            if finished and not any(harmed) and each is not attempts[-1]:
                self._begin()
        self._finish()

    def _harm(self, fault: Fault) -> bool:
        folders = [self._place.disk.path, *([self._place.cache] if self._command.kernel else [])]
        whole = self._command.is_whole(self._out)
        kind = self._damage.do(fault, folders, whole=whole)
        if kind is not None:
            self._note(self._damage.told[-1])
            self._whole_before = False
        self._told.faults.append((kind or fault.kind, "nothing there" if kind is None else "done"))
        return kind is not None

    def _begin(self) -> None:
        self._place.disk.clear()
        self._place.shares.clear()
        self._damage = Damage()
        self._whole_before = self._finished = False
        if self._command.kernel:
            self._place.fetch_kernel(SERIES)
        if self._reference.before is not None:
            _copy(self._reference.before, self._out)

    def _note(self, text: str) -> None:
        self._told.course.append(text)

    def _attempt(self, each: Attempt) -> bool:
        """Whether it came to its end."""
        fault = each.fault
        call = self._call(
            self._command, self._command.words, "attempt", jobs=each.jobs, process=each.process
        )
        usual_s = self._reference.seconds + 0.3 * each.process
        hidden = self._hidden()
        course = attempt(call, fault, self._place, usual_s)
        if course.hung:
            self._hung(course.calls)
        refused = self._whole_before and self._command.refuses_what_is_there
        for one in course.calls:
            shown = f"{fault.kind} at {fault.moment:.3f} ({fault.number:.3f}), jobs {each.jobs}"
            late = "" if course.applied else ", after the end"
            self._note(f"{shown}{late}: {one.status} {message(one).strip()}")
            if found := wrong(one, fault, damaged=bool(self._damage) or refused):
                raise WrongError(self._all(one, found))
        outcome = str(course.calls[0].status) if course.applied else "after the end"
        self._told.faults.append((fault.kind, outcome))
        if left := program.outlive(END_S):
            raise WrongError(self._all(course.calls[0], [f"left processes: {_words(left)}"]))
        interrupted = all((one.status or 0) > 128 for one in course.calls)
        if interrupted and (left_there := sorted(self._hidden() - hidden)):
            seconds = f"ended in {course.calls[0].seconds:.1f} s"
            raise WrongError(
                self._all(course.calls[0], [f"{seconds}, left: {', '.join(left_there)}"])
            )
        finished = [one for one in course.calls if self._is_done(one)]
        if finished:
            self._compare(finished[0], "says that it is done")
        elif not self._damage and self._claims():
            self._compare(course.calls[0], "left what says that it is whole")
        self._whole_before = self._command.is_whole(self._out) and not self._damage
        self._finished = bool(finished)
        return self._finished

    def _hidden(self) -> set[str]:
        """What has the name of something temporary."""
        found = self._place.disk.path.rglob(".*")
        return {str(p) for p in found if not _stays(p) and not _below_hidden(p)}

    def _is_done(self, one: Running) -> bool:
        return one.status == 0 and self._command.done_says in one.call.out()

    def _claims(self) -> bool:
        if not self._command.is_whole(self._out):
            return False
        # The older trace may be there still.
        before = self._reference.before
        return before is None or files(self._out) != files(before)

    def _hung(self, calls: list[Running]) -> None:
        pids = [pid for one in calls for pid in (one.pid, *one.below())]
        shown = _words(pids)
        program.end(pids)
        for one in calls:
            one.wait(END_S)
        raise WrongError(self._all(calls[0], [f"no end in {PATIENCE_S:.0f} s: {shown}"]))

    def _compare(self, one: Running, why: str, *, at_the_end: bool = False) -> None:
        self._damage.forget()
        found, wanted = files(self._out), self._reference.result
        if not at_the_end:
            # What a call could not remove, the next one does.
            left = re.compile(
                r"(.*/)?\.|partial/" if one.status == -signal.SIGKILL else r"(.*/)?\."
            )
            found = {name: told for name, told in found.items() if not left.match(name)}
        if found != wanted:
            names = sorted(
                name for name in {*found, *wanted} if found.get(name) != wanted.get(name)
            )
            shown = [_parting(name, wanted.get(name, ""), found.get(name, "")) for name in names]
            differs = f"{why}, and differs in: {', '.join(names)}"
            raise WrongError(self._all(one, [differs, *shown]))
        if self._command.prints and one.status == 0 and one.call.out() != self._reference.out:
            raise WrongError(self._all(one, ["printed something else"]))

    def _read(self) -> None:
        if self._command.reads is None:
            return
        one = _ended(self._call(self._command, self._command.reads, "read"))
        found = wrong(one, None, damaged=True)
        self._note(f"read: {one.status} {message(one).strip()}")
        # A list of kernels leaves out damaged ones, and a comparison has the cases that it finds.
        reads = self._command.reads
        tells_all = reads[0] in ("show", "trace") or reads[:2] == ("validate", "score")
        told_whole = self._finished and tells_all
        if told_whole and one.status == 0 and _shown(one.call.out()) != self._reference.read:
            found.append("read something else, and did not say so")
        if found:
            raise WrongError(self._all(one, found))

    def _finish(self) -> None:
        for _ in range(ADVICE_ROUNDS):
            one = _ended(self._call(self._command, self._command.words, "last"))
            said = message(one).strip()
            self._note(f"undisturbed: {one.status} {said}")
            if any(word in one.call.err() for word in NEVER):
                raise WrongError(self._all(one, ["said what is never said"]))
            if one.status == 0:
                break
            if one.status not in FAILED or not said:
                raise WrongError(self._all(one, [f"undisturbed: {one.status}"]))
            if self._command.refuses_what_is_there and "is there already" in said:
                self._damage.forget()
                if not self._damage or files(self._out) == self._reference.result:
                    break
            self._heed(one, said)
        else:
            raise WrongError(self._all(one, ["undisturbed, it came to no end"]))
        self._compare(one, "the end", at_the_end=True)
        self._nothing_left(one)

    def _heed(self, one: Running, said: str) -> None:
        """Do what the message tells to do about damage."""
        if not self._damage:
            raise WrongError(self._all(one, ["failed, undisturbed and without damage"]))
        for path in sorted(self._damage.paths):
            if os.path.lexists(path) and re.search(rf"{re.escape(str(path))}(?![\w/.-])", said):
                self._remove(path, said)
                return
        if str(self._out) in said and re.search(
            "remove (this|it)|move it away|holds other files|is no folder of|not empty|is there "
            "already",
            said,
        ):
            self._remove(self._out, said)
        elif re.search("is not built|there is no kernel|kernel .* is damaged", said):
            self._told.removed.append(f"the kernel, built again: {said.splitlines()[0]}")
            self._place.fetch_kernel(SERIES)
        else:
            raise WrongError(self._all(one, ["a message that tells nothing to do"]))

    def _remove(self, path: Path, said: str) -> None:
        self._told.removed.append(f"{path}: {said.splitlines()[0]}")
        remove(path)

    def _nothing_left(self, one: Running) -> None:
        found = [name for name in self._place.disk.entries() if name != self._out.name]
        found += [
            str(path.relative_to(self._place.disk.path))
            for path in self._out.rglob("*")
            if path.name.startswith(".") and not _stays(path)
        ]
        empty = [p for p in self._out.rglob("*") if p.is_dir() and not any(p.iterdir())]
        found += [f"empty folder {path.name}" for path in empty if not _stays(path)]
        if found:
            raise WrongError(self._all(one, [f"left over: {', '.join(found)}"]))
        if self._place.shares_left():
            self._sweep_shares(one)
        # A user's folder for shares stays where one was needed, empty.
        with contextlib.suppress(OSError):
            (self._place.temporary / f"rexmit-{os.geteuid()}").rmdir()
        if left := [path.name for path in self._place.temporary.iterdir()]:
            for path in list(self._place.temporary.iterdir()):
                remove(path)
            if self._told.faults and not self._was_killed():
                raise WrongError(self._all(one, [f"left in TMPDIR: {', '.join(left)}"]))

    def _sweep_shares(self, one: Running) -> None:
        """A killed program's are removed by whoever makes one next."""
        from rexmit.engines.shares import PrivateFolder

        there = self._place.shares_left()
        if there and not self._was_killed():
            raise WrongError(self._all(one, [f"left: {', '.join(there)}"]))
        PrivateFolder().remove()
        left = self._place.shares_left()
        if left:
            raise WrongError(self._all(one, [f"left, and not swept: {', '.join(left)}"]))
        self._place.shares.clear()

    def _was_killed(self) -> bool:
        return any(kind.startswith("kill") for kind, _ in self._told.faults)

    def _all(self, one: Running, found: list[str]) -> str:
        """All that there is to say of something wrong."""
        place = [f"  {path}" for path in sorted(self._out.rglob("*"))][:60]
        text = [
            *found,
            f"command: rexmit {' '.join(one.call.words)}",
            *("course:", *(f"  {line}" for line in self._told.course)),
            *("standard output:", one.call.out()[-4000:]),
            *("standard error:", one.call.err()[-6000:]),
            *("what is there:", *place),
        ]
        return "\n".join(text)


def _below_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts[:-1])


def _shown(text: str) -> str:
    """What `show` prints, without how long the run took."""
    return re.sub(r"transfers in [^(]* \(", "transfers (", text)


def _parting(name: str, wanted: str, found: str) -> str:
    """Where two texts part."""
    pairs = enumerate(zip(wanted, found, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(wanted), len(found)))
    begin = max(0, same - 100)
    return f"  {name}: …{wanted[begin : same + 100]}… and …{found[begin : same + 100]}…"


def _words(pids: list[int]) -> str:
    told = []
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            words = "?"
        told.append(f"{pid} {words[:100]}")
    return "; ".join(told)
