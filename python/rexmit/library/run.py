"""Running a scenario: on a kernel in virtual time, or on the model."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from rexmit import configuration, escaping
from rexmit import stacks as of_model
from rexmit.analysis.precision import Precision
from rexmit.campaign.identity import digest, identity
from rexmit.campaign.runner import CampaignRun, Request
from rexmit.campaign.streams import core_streams
from rexmit.campaign.suited import suited
from rexmit.engines import kernel as kernels
from rexmit.engines import live
from rexmit.engines.engine import CELLS_A_CORE, Engine, cores
from rexmit.engines.model import ModelEngine
from rexmit.errors import UserError, argument
from rexmit.library.scenario import Settings, changed, named, texts
from rexmit.options import given, takes, whole, workers
from rexmit.progress import Hear, Progress, heard
from rexmit.scenario import Scenario
from rexmit.scenario.problem import Locate, nowhere
from rexmit.scenario.stacks import of_scenario
from rexmit.scenario.values import counts_text
from rexmit.store.open_run import Run, open_run
from rexmit.version import version

if TYPE_CHECKING:
    from rexmit.cluster import Where


ENGINES = (kernels.NAME, "model", live.NAME)
"""What runs transfers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """How a scenario is run; None leaves it to the scenario, or to what is usual. Raises UserError
    (usage) for what is out of its range or does not go together.
    """

    engine: str = "kernel"
    """"kernel", "model" or "live"."""
    kernel: str | None = None
    """Of the engine of that name: "6.1", or another that `rexmit kernel list` shows."""
    stack: str | None = None
    """Of the model, by name."""
    hz: int | None = None
    """Of the model: timer ticks a second."""
    seed: int | None = None
    """In place of the scenario's."""
    seeds: str | None = None
    """Several, as "1..10": the whole grid under each, its transfers pooled."""
    until: str | None = None
    """"2%": seed after seed until half the interval of t_total's mean is within this share of it in
    every cell; at most `seeds`, or a hundred."""
    jobs: int | None = None
    """Cells at a time; one a core where it is None, live one in all."""
    settings: Settings = ()
    """Changes to keys of the scenario; they are kept as texts."""
    capture: bool = False
    """Whether captures of both hosts are kept."""
    hang_limit_s: float | None = None
    """Of kernels: real seconds of silence after which a cell fails."""
    cluster: Where | None = None
    """What cells are spread over; this machine where it is None."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", tuple(texts(self.settings)))
        if self.engine not in ENGINES:
            raise UserError(
                f"there is no engine {self.engine}", f"engines: {', '.join(ENGINES)}", usage=True
            )
        owners = {
            "kernel": (self.kernel, "kernel"),
            "hang_limit_s": (self.hang_limit_s, "kernel"),
            "stack": (self.stack, "model"),
            "hz": (self.hz, "model"),
        }
        for name, (value, engine) in owners.items():
            if value is not None and engine != self.engine:
                owner = argument("engine", engine)
                raise UserError(
                    f"{argument(name)} belongs to {owner}",
                    f"leave it out, or say {owner}",
                    usage=True,
                )
        if self.seed is not None:
            whole("seed", self.seed, 0, 2**64 - 1)
            if self.seeds is not None:
                raise UserError(
                    f"{argument('seed')} and {argument('seeds')} are two ways to say it",
                    f"leave out {argument('seed')}",
                    usage=True,
                )
        if self.engine == live.NAME and self.cluster is not None:
            raise UserError(
                f"{argument('cluster')}: {argument('engine', live.NAME)} is of this machine",
                f"leave {argument('cluster')} out",
                usage=True,
            )
        workers(self.jobs)
        most = CELLS_A_CORE * len(cores())
        if self.jobs is not None and self.jobs > most:
            raise UserError(
                f"{argument('jobs')} {self.jobs}: more than {CELLS_A_CORE} cells a core",
                f"at most {most} here; more than {len(cores())} gain nothing",
                usage=True,
            )

    def open(self, scenario: Scenario, where: Locate = nowhere) -> Engine:
        """The engine, ready to run; `where` says where the scenario's keys stand. Raises UserError
        where it is not to be had."""
        engine = self._open(scenario, where)
        if self.cluster is None:
            return engine
        from rexmit.engines.on_cluster import ClusterEngine

        return ClusterEngine(engine, self.cluster)

    def _open(self, scenario: Scenario, where: Locate) -> Engine:
        if self.engine == kernels.NAME:
            return kernels.KernelEngine.open(
                kernels.find_kernel(self.kernel),
                scenario.programs,
                self.hang_limit_s or kernels.HANG_LIMIT_S,
            )
        if self.engine == live.NAME:
            return live.LiveEngine.on_this_machine(scenario, where)
        # By name, whatever the default is when the command is given again.
        name = self.stack or scenario.stack.get("name", of_model.DEFAULT)
        chosen = of_scenario(scenario, name, self.hz, where)
        words = ["--stack", name, *(() if self.hz is None else ("--hz", str(self.hz)))]
        return ModelEngine.open(version(), chosen, words)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A campaign that is ready to run. `left_out` says what the engine cannot do of it."""

    campaign: CampaignRun
    left_out: tuple[str, ...]

    @property
    def out(self) -> Path:
        """The run's folder."""
        return self.campaign.request.out

    @property
    def again(self) -> str:
        """The command that goes on where the run stopped."""
        return f"{self.campaign.request.command} --out {escaping.shell_word(str(self.out))}"

    def run(self) -> dict[str, Any]:
        """Runs what is left of it; run.json as it stands then. Raises UserError."""
        try:
            return self.campaign.run()
        except OSError as error:
            raise UserError(
                f"{error.filename or self.out}: {error.strerror or error}",
                f"when that is mended, go on: {self.again}"
                if (self.out / "run.json").exists()
                else f"name another folder with {argument('out')}",
            ) from None


def prepare(
    scenario: Scenario | str | PathLike[str],
    campaign: Campaign,
    progress: Progress,
    out: Path | None,
) -> Prepared:
    """Reads and checks all that a run needs. Raises UserError."""
    settings, capture = texts(campaign.settings), campaign.capture
    changes = list(settings)
    if campaign.seed is not None:
        changes.append(f"seed={campaign.seed}")
    if campaign.seeds is not None:
        changes.append(f"seeds={campaign.seeds}")
    if campaign.until is not None:
        changes.append(f"until={campaign.until}")
    if isinstance(scenario, Scenario):
        name, spec = "scenario", "SCENARIO"
        where: Locate = nowhere
        loaded = changed(scenario, changes, engine=campaign.engine)
    else:
        spec = str(scenario)
        name, loaded, where = named(spec, changes, engine=campaign.engine)
    engine = campaign.open(loaded, where)
    loaded, left_out = suited(loaded, engine, where)
    mark = digest(identity(engine, loaded, capture=capture))
    text = counts_text(loaded.seeds or (loaded.seed,))
    seeds = ",".join(map(str, text)) if isinstance(text, list) else str(text)
    words = ["rexmit", "run", spec, *(("--seeds", seeds) if loaded.seeds else ("--seed", seeds))]
    words += ["--until", campaign.until] if campaign.until is not None else []
    words += engine.words
    words += [word for setting in settings for word in ("--set", setting)]
    words += ["--capture"] if capture else []
    request = Request(
        name=name,
        scenario=loaded,
        out=out or configuration.runs() / f"{name}-{seeds}-{engine.slug}-{mark}",
        command=escaping.shell(words),
        version=version(),
        # In real time cells would take it from each other.
        jobs=campaign.jobs or (1 if campaign.engine == live.NAME else len(cores())),
        capture=capture,
        warnings=tuple(left_out),
    )
    campaign_run = CampaignRun(request, engine, core_streams(), progress)
    if loaded.until is not None:
        campaign_run.precision = Precision(loaded, loaded.until)
    return Prepared(campaign_run, tuple(left_out))


class Keywords(TypedDict, total=False):
    """`Campaign` as keywords."""

    engine: str
    kernel: str | None
    stack: str | None
    hz: int | None
    seed: int | None
    seeds: str | None
    until: str | None
    jobs: int | None
    settings: Settings
    capture: bool
    hang_limit_s: float | None
    cluster: Where | None


@takes(Campaign, Keywords)
def run(
    scenario: Scenario | str | PathLike[str],
    campaign: Campaign | None = None,
    *,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: Unpack[Keywords],
) -> Run:
    """Runs every transfer of a scenario and opens what it gave.

    `scenario` is a `Scenario`, a TOML file, the name of one that comes with rexmit, or a run.json.
    `engine` is "kernel" (with `kernel`: "6.1", "6.12", or a name that `rexmit kernel list` shows)
    or "model" (with `stack` and `hz`), or "live", this machine's own in real time. `out` is the
    run's folder, below runs/ where it is None; a run that is there and whole is not run again, one
    that was interrupted goes on. `jobs` cells run
    at a time, one a core where it is None; or as many as `cluster` has workers (`local:8`, or
    `tls://HOST:PORT` of a Dask scheduler). `progress` is called with each step. What else is said
    by keywords may be made once, as a `campaign`; keywords beside it change it.

    `Run.meta["failed_cells"]` has the cells that failed. Raises UserError for wrong input, where
    the engine is not to be had, or where no transfer was run.
    """
    asked, folder = given(campaign, Campaign, keywords), None if out is None else Path(out)
    prepared = prepare(scenario, asked, heard(progress, "transfers"), folder)
    prepared.run()
    return open_run(prepared.out)
