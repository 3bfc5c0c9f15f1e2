"""Running a scenario: on a kernel in virtual time, or on the model."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit import escaping
from rexmit import stacks as of_model
from rexmit.campaign.identity import digest, identity
from rexmit.campaign.runner import Campaign, Request
from rexmit.campaign.streams import core_streams
from rexmit.campaign.suited import suited
from rexmit.engines import kernel as kernels
from rexmit.engines.engine import CELLS_A_CORE, Engine, cores
from rexmit.engines.model import ModelEngine
from rexmit.errors import UserError, argument
from rexmit.library.scenario import Settings, changed, named, texts
from rexmit.options import whole, workers
from rexmit.progress import Hear, Progress, heard
from rexmit.scenario import Scenario
from rexmit.scenario.stacks import of_scenario
from rexmit.store.open_run import Run, open_run
from rexmit.version import version

if TYPE_CHECKING:
    from rexmit.cluster import Where


@dataclass(frozen=True, slots=True)
class Choice:
    """What is said of the engine; None leaves it to the scenario, or to what is usual."""

    engine: str = "kernel"
    kernel: str | None = None
    stack: str | None = None
    hz: int | None = None
    hang_limit_s: float | None = None
    cluster: Where | None = None

    def __post_init__(self) -> None:
        """Raises UserError (usage) for what does not go together."""
        if self.engine not in ("kernel", "model"):
            raise UserError(
                f"there is no engine {self.engine}", "engines: kernel, model", usage=True
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

    def open(self, scenario: Scenario) -> Engine:
        """The engine, ready to run. Raises UserError where it is not to be had."""
        engine = self._open(scenario)
        if self.cluster is None:
            return engine
        from rexmit.engines.on_cluster import ClusterEngine

        return ClusterEngine(engine, self.cluster)

    def _open(self, scenario: Scenario) -> Engine:
        if self.engine == kernels.NAME:
            return kernels.KernelEngine.open(
                kernels.find_kernel(self.kernel),
                scenario.workload.client,
                self.hang_limit_s or kernels.HANG_LIMIT_S,
            )
        # By name, whatever the default is when the command is given again.
        name = self.stack or scenario.stack.get("name", of_model.DEFAULT)
        chosen = of_scenario(scenario, name, self.hz)
        words = ["--stack", name, *(() if self.hz is None else ("--hz", str(self.hz)))]
        return ModelEngine.open(version(), chosen, words)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A campaign that is ready to run. `left_out` says what the engine cannot do of it."""

    campaign: Campaign
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
    choice: Choice,
    progress: Progress,
    *,
    seed: int | None,
    jobs: int | None,
    settings: Settings,
    out: Path | None,
    capture: bool,
) -> Prepared:
    """Reads and checks all that a run needs. Raises UserError."""
    if seed is not None:
        whole("seed", seed, 0, 2**64 - 1)
    workers(jobs)
    most = CELLS_A_CORE * len(cores())
    if jobs is not None and jobs > most:
        raise UserError(
            f"{argument('jobs')} {jobs}: more than {CELLS_A_CORE} cells a core",
            f"at most {most} here; more than {len(cores())} gain nothing",
            usage=True,
        )
    given = texts(settings)
    changes = given if seed is None else [*given, f"seed={seed}"]
    of_stacks = choice.engine == "model"
    if isinstance(scenario, Scenario):
        name, spec, loaded = "scenario", "SCENARIO", changed(scenario, changes, stacks=of_stacks)
    else:
        spec = str(scenario)
        name, loaded = named(spec, changes, stacks=of_stacks)
    engine = choice.open(loaded)
    loaded, left_out = suited(loaded, engine)
    mark = digest(identity(engine, loaded, capture=capture))
    words = ["rexmit", "run", spec, "--seed", str(loaded.seed), *engine.words]
    words += [word for setting in given for word in ("--set", setting)]
    words += ["--capture"] if capture else []
    request = Request(
        name=name,
        scenario=loaded,
        out=out or Path("runs") / f"{name}-{loaded.seed}-{engine.slug}-{mark}",
        command=escaping.shell(words),
        version=version(),
        jobs=jobs or len(cores()),
        capture=capture,
        warnings=tuple(left_out),
    )
    return Prepared(Campaign(request, engine, core_streams(), progress), tuple(left_out))


def run(
    scenario: Scenario | str | PathLike[str],
    *,
    engine: str = "kernel",
    kernel: str | None = None,
    stack: str | None = None,
    hz: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    settings: Settings = (),
    out: str | PathLike[str] | None = None,
    capture: bool = False,
    hang_limit_s: float | None = None,
    cluster: Where | None = None,
    progress: Hear = None,
) -> Run:
    """Runs every transfer of a scenario and opens what it gave.

    `scenario` is a `Scenario`, a TOML file, the name of one that comes with rexmit, or a run.json.
    `engine` is "kernel" (with `kernel`: "6.1", "6.12", or a name that `rexmit kernel list` shows)
    or "model" (with `stack` and `hz`). `out` is the run's folder, below runs/ where it is None; a
    run that is there and whole is not run again, one that was interrupted goes on. `jobs` cells run
    at a time, one a core where it is None; or as many as `cluster` has workers (`local:8`, or
    `tls://HOST:PORT` of a Dask scheduler). `progress` is called with each step.

    `Run.meta["failed_cells"]` has the cells that failed. Raises UserError for wrong input, where
    the engine is not to be had, or where no transfer was run.
    """
    choice = Choice(engine, kernel, stack, hz, hang_limit_s, cluster)
    prepared = prepare(
        scenario,
        choice,
        heard(progress, "transfers"),
        seed=seed,
        jobs=jobs,
        settings=settings,
        out=None if out is None else Path(out),
        capture=capture,
    )
    prepared.run()
    return open_run(prepared.out)
