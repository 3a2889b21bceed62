"""Hold a run of a recipe as it was collected: its records, and what it was made with."""

from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import DictConfig

from lnexp.options import key_of
from lnexp.recipes.jobs import Job
from lnexp.runs import records
from lnexp.runs.environment import Environment
from lnexp.runs.status import DONE
from lnexp.tasks import load_task
from lnexp.tasks.contract import Record, Task


@dataclass(frozen=True)
class RunResult:
    """One run of an arm, finished or not.

    Attributes:
        job: which arm and seed.
        cfg: its arm's config, whatever the seed in it.
        identity: names the run.
        state: ``status.json``'s state, ``not run``, or ``malformed`` where its files cannot be read.
        problem: what is malformed.
        epochs: its epoch records, oldest first.
        probes, updates, snapshots: its records of these kinds, oldest first.
        end: its end record; empty while there is none.
        environment: what it ran on; empty where unknown.
        command: what a reader would type to train it alone.
        own_options: options of the user that make it another run than the recipe states for its profile.
        stated_early: its early numbers, where a table states them; empty: its records do.
        stated_layers: its rows of ``snapshots.csv``, where there is one; empty: its records give them.
        stated_core_seconds: what its training took, where a table states it; None: its epochs' records do.
        path: its folder; None where it has none here.
    """

    job: Job
    cfg: DictConfig
    identity: str
    state: str
    problem: str = ""
    epochs: list[Record] = field(default_factory=list)
    probes: list[Record] = field(default_factory=list)
    updates: list[Record] = field(default_factory=list)
    snapshots: list[Record] = field(default_factory=list)
    end: Record = field(default_factory=dict)
    environment: Environment = field(default_factory=Environment)
    command: str = ""
    own_options: tuple[str, ...] = ()
    stated_early: list[Record] = field(default_factory=list)
    stated_layers: list[Record] = field(default_factory=list)
    stated_core_seconds: float | None = None
    path: Path | None = None

    @property
    def task(self) -> Task:
        return load_task(self.job.recipe.task)

    @property
    def counts(self) -> bool:
        """Whether the run is over: only then is it evidence."""
        return self.state in DONE

    @property
    def core_seconds(self) -> float | None:
        """What its training took, in core-seconds; None on a GPU, whose time is no core's."""
        if self.environment.get("device", "cpu") != "cpu":
            return None
        stated = self.stated_core_seconds
        return records.core_seconds(self.epochs, self.cfg.threads) if stated is None else stated

    @property
    def is_the_papers(self) -> bool:
        """Whether it has the paper's settings, on all of the corpus that its recipe takes from the paper.

        The paper does not say its precision. A run in bf16, which it cannot have had, is not the paper's.
        """
        if (paper := self.job.recipe.profiles.get("paper")) is None:
            return False
        corpus = paper.data
        whole = self.task.is_whole(corpus, self.environment.get("data", {}))
        own = [option for option in self.own_options if key_of(option) != "precision"]
        return self.cfg.profile == "paper" and self.cfg.precision != "bf16" and not own and whole

    @property
    def diverged(self) -> bool:
        return self.state == "diverged"
