"""What a task must state: data, what validation and test measure, columns, measures, and a unit of work for planning.

A task has two halves. The light half, :class:`Task`, is read by every command and imports neither torch nor fairseq.
The heavy half is imported where work begins: :meth:`Task.evaluation` in training, :meth:`Task.workload` in planning.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from omegaconf import DictConfig

if TYPE_CHECKING:
    from lnexp.runs.folder import RunFolder

#: One line of ``metrics.jsonl``, see :mod:`lnexp.runs.records`.
Record = dict[str, Any]


class MeasuredRun(Protocol):
    """What measures are computed from: the records of one run.

    Attributes:
        cfg: the run's resolved config.
        epochs: its epoch records, oldest first.
        probes: its probe records, oldest first.
        end: its end record; empty while there is none.
        environment: ``environment.json``; empty where unknown.
        diverged: whether the run ended so.
    """

    @property
    def cfg(self) -> DictConfig: ...
    @property
    def epochs(self) -> list[Record]: ...
    @property
    def probes(self) -> list[Record]: ...
    @property
    def end(self) -> Record: ...
    @property
    def environment(self) -> dict[str, Any]: ...
    @property
    def diverged(self) -> bool: ...


#: What a claim can ask of a run; None where the run cannot answer.
Measure = Callable[[MeasuredRun], float | None]


@dataclass(frozen=True)
class Field:
    """A number that a task adds to ``epoch`` or ``end`` records.

    Attributes:
        name: the record's key, and the column of ``epochs.csv``.
        title: what people read.
        form: how it is printed, as ``{:.1f}``.
        low, high: its bounds; a record beyond them is malformed.
    """

    name: str
    title: str
    form: str = "{:.3f}"
    low: float = float("-inf")
    high: float = float("inf")


@dataclass(frozen=True)
class Column:
    """A column of ``runs.csv``.

    Attributes:
        name: its head.
        value: what a run has there.
        title: what people are shown the mean over seeds under; empty for a column that they are not shown.
    """

    name: str
    value: Callable[[MeasuredRun], Any]
    title: str = ""


@dataclass(frozen=True)
class Score:
    """The one number by which a task's arms are compared at a glance: higher is better.

    Attributes:
        measure: its name among the task's measures.
        column: the column of ``runs.csv`` that holds it.
        field: the field of an epoch record that it is taken from.
        title: what people read.
    """

    measure: str
    column: str
    field: str
    title: str


@dataclass(frozen=True)
class Member:
    """One run among those that are trained together."""

    cfg: DictConfig
    folder: "RunFolder"


class Evaluation(ABC):
    """Measures models on validation and test data, beyond their loss.

    ``models`` are the models in training, a :class:`lnexp.training.models.Models`.
    """

    #: Why a member that :meth:`validate` leaves out has diverged.
    failure: str

    @abstractmethod
    def load_data(self, fairseq: DictConfig) -> None:
        """Have fairseq's task load all splits.

        Args:
            fairseq: fairseq's config, whose batches every example must fit into.

        Raises:
            UserError: for an example that fits into no batch; fairseq would leave it out, or fail without naming it.
        """

    @abstractmethod
    def validate(self, models: Any, epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        """Return the task's part of the ``epoch`` record of every member; those without finite scores are left out."""

    @abstractmethod
    def test(self, models: Any, epochs: Mapping[int, int], members: Mapping[int, Member]) -> dict[int, Record]:
        """Return the ``end`` record of every member, whose model is the checkpoint of its epoch.

        Args:
            models: with the checkpoints loaded.
            epochs: of each member's checkpoint.
            members: by number. Those without finite scores are left out of the result.
        """

    @abstractmethod
    def test_average(
        self, models: Any, epochs: Mapping[int, Sequence[int]], members: Mapping[int, Member]
    ) -> dict[int, Record]:
        """Return what the average of several checkpoints adds to each ``end`` record."""


class Task(ABC):
    """The light half of a task."""

    #: The package's name, and the value of the option ``task``.
    name: str
    #: What validation adds to an ``epoch`` record, and what else stands there beside numbers, in the order of columns.
    epoch_fields: Sequence[Field]
    epoch_notes: Sequence[str] = ()
    #: The numbers of an ``end`` record.
    end_fields: Sequence[Field]
    #: The measured columns of ``runs.csv``, in their order.
    run_columns: Sequence[Column]
    #: What claims can ask, by name.
    measures: Mapping[str, Measure]
    score: Score
    #: Columns of ``epochs.csv`` that the figure of a recipe shows, by column, with the titles of their panels.
    curves: Mapping[str, str]
    #: Options of the task's own, as rows of :mod:`lnexp.options`.
    options: Sequence[Any] = ()

    @abstractmethod
    def prepare(self, data: DictConfig, data_dir: str | Path) -> Any:
        """Return the prepared corpus of the config group ``data``; prepare it where it is missing."""

    @abstractmethod
    def evaluation(self, cfg: DictConfig, fairseq_task: Any, corpus: Any, ranks: Any) -> Evaluation:
        """Return what measures models in training."""

    @abstractmethod
    def workload(self) -> Any:
        """Return the module or object that says how much work an epoch is, see :mod:`lnexp.planning`."""

    @abstractmethod
    def epoch_words(self, record: Record) -> str:
        """Return what a line on an epoch says of the task's fields, as ``BLEU  97.0``."""

    @abstractmethod
    def end_words(self, record: Record) -> str:
        """Return what a line on the end of a run says of its test."""

    @abstractmethod
    def no_end(self) -> Record:
        """Return the ``end`` record of a run without a checkpoint that can be tested."""
