"""Define the interface of a task: data, measurements of validation and test, columns, measures, a unit of work.

A task has two halves. The light half, :class:`Task`, is read by every command and imports neither torch nor fairseq.
The heavy half is imported where work begins: :meth:`Task.evaluation` in training, :meth:`Task.work` in planning.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from omegaconf import DictConfig

if TYPE_CHECKING:
    import numpy as np

    from lnexp.planning.work import Work
    from lnexp.runs.environment import Environment
    from lnexp.runs.folder import RunFolder
    from lnexp.training.models.base import Models
    from lnexp.training.ranks import Ranks

#: One line of ``metrics.jsonl``, see :mod:`lnexp.runs.records`.
Record = dict[str, Any]


class MeasuredRun(Protocol):
    """What measures are computed from: the records of one run.

    Attributes:
        cfg: the run's resolved config.
        epochs: its epoch records, oldest first.
        probes, updates, snapshots: its records of these kinds, oldest first; most runs have no probes and no snapshots.
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
    def updates(self) -> list[Record]: ...
    @property
    def snapshots(self) -> list[Record]: ...
    @property
    def end(self) -> Record: ...
    @property
    def environment(self) -> "Environment": ...
    @property
    def diverged(self) -> bool: ...


#: What a claim can ask of a run; None where the run cannot answer.
Measure = Callable[[MeasuredRun], float | None]


def averaged(name: str) -> str:
    """Return the key in ``end`` records that a number of the test has for an average of checkpoints."""
    return f"averaged_{name}"


@dataclass(frozen=True)
class Field:
    """A number in records.

    Attributes:
        name: its key.
        low, high: its bounds; a record with a number beyond them is malformed.
    """

    name: str
    low: float = float("-inf")
    high: float = float("inf")


@dataclass(frozen=True)
class Score:
    """The number by which arms are compared: the higher, the better.

    Its names follow from ``name``, here ``bleu``: ``valid_bleu`` in every ``epoch`` record and ``test_bleu`` in every
    ``end`` record, the columns ``best_valid_bleu``, ``last_valid_bleu`` and ``test_bleu`` of ``runs.csv``, and the
    measures ``best_bleu``, ``last_bleu``, ``early_bleu``, ``test_bleu`` and ``averaged_test_bleu``.

    Attributes:
        name: what its keys, columns and measures are called by.
        title: what people read, as ``BLEU``.
        low, high: its bounds; a run that diverged before its first epoch has the lower one.
        places: decimal places that tell arms apart.
    """

    name: str
    title: str
    low: float
    high: float
    places: int

    @property
    def valid(self) -> str:
        """Its key in ``epoch`` records, and its column of ``epochs.csv``."""
        return f"valid_{self.name}"

    @property
    def best(self) -> str:
        """The column of ``runs.csv`` with its highest value of any epoch."""
        return f"best_{self.valid}"

    @property
    def last(self) -> str:
        """The column of ``runs.csv`` with its value after the last epoch."""
        return f"last_{self.valid}"

    @property
    def test(self) -> str:
        """Its key in ``end`` records, and its column of ``runs.csv``."""
        return f"test_{self.name}"

    @property
    def averaged_test(self) -> str:
        """Its key in ``end`` records, and its column of ``runs.csv``, for an average of checkpoints."""
        return averaged(self.test)

    def bounds_of(self, name: str) -> tuple[float, float]:
        """Return the least and the greatest possible value of a measure or a column, by its name.

        They are the score's own where it is of the score; an nll or a loss is not below zero; others can be any.
        """
        if name.endswith(f"_{self.name}") or name == self.averaged_test:
            return self.low, self.high
        return (0.0 if name.endswith(("_nll", "_loss")) else -math.inf), math.inf

    def text(self, value: float) -> str:
        """Return a value as people read it."""
        return f"{value:.{self.places}f}"


@dataclass(frozen=True)
class Column:
    """A column of ``runs.csv``.

    Attributes:
        name: its head.
        value: returns what a run has there; None where it has nothing.
    """

    name: str
    value: Callable[[MeasuredRun], Any]


@dataclass(frozen=True)
class Samples:
    """A table of what models gave in validation, for people to read in wandb.

    Attributes:
        columns: its head.
        rows: each as long as the head.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class SentenceStatistics:
    """What a test score is computed from, sentence by sentence: sums over any sentences give their score.

    Attributes:
        counts: ``(sentences, k)``, ``k`` counts of each sentence of the test set.
        score: returns the score of ``(k,)`` summed counts.
    """

    counts: "np.ndarray"
    score: Callable[["np.ndarray"], float]


@dataclass(frozen=True)
class Start:
    """The checkpoint of another run that a run starts from.

    Attributes:
        run: the identity of the other run.
        epoch: of its checkpoint.
        arm: which arm of which recipe the other run is, in words; empty where that is not known.
    """

    run: str
    epoch: int
    arm: str = field(default="", compare=False)


@dataclass(frozen=True)
class Member:
    """One run among those that are trained together."""

    cfg: DictConfig
    folder: "RunFolder"


class Evaluation(ABC):
    """Measures models in training on validation and test data, beyond their loss."""

    #: The reason recorded for a member that :meth:`validate` leaves out: it has diverged.
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
    def validate(self, models: "Models", epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        """Return the task's part of the ``epoch`` record of every member; those without finite scores are left out."""

    @abstractmethod
    def test(self, models: "Models", name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        """Return the scores of every member's model on the test data, as fields of ``end`` records.

        Args:
            models: each member's model is the one of a checkpoint, or the average of several.
            name: what files of this test are called by: ``test``, or ``test.averaged`` for averages.
            members: by number. Those without finite scores are left out of the result.
        """


def limits(cfg: DictConfig, fairseq: DictConfig, of_model: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return how many tokens an example of each split has at most, and the option that says so.

    Args:
        cfg: the config of a run.
        fairseq: fairseq's.
        of_model: how many tokens the model takes, by the option that says so.
    """
    of_batch = {
        "train": ("max_tokens", fairseq.dataset.max_tokens),
        "valid": ("evaluation.max_tokens", fairseq.dataset.max_tokens_valid),
        "test": ("evaluation.max_tokens", cfg.evaluation.max_tokens),
    }
    return {
        split: min((most, name) for name, most in {**of_model, option: tokens}.items())
        for split, (option, tokens) in of_batch.items()
    }


class Task(ABC):
    """The light half of a task."""

    #: The package's name, and the value of the option ``task``.
    name: str
    score: Score
    #: Further numbers of ``epoch`` records; a record need not have them.
    epoch_fields: Sequence[Field] = ()
    #: Further columns of ``epochs.csv``, by their keys in ``epoch`` records.
    epoch_columns: Sequence[str] = ()
    #: Further numbers of the test, in ``end`` records and ``runs.csv``; a record need not have them. Those of an
    #: average of checkpoints have the same names, and the score's, after ``averaged_``.
    test_fields: Sequence[Field] = ()
    #: Further columns of ``runs.csv``.
    run_columns: Sequence[Column] = ()
    #: Further measures that claims can ask, by name.
    measures: Mapping[str, Measure] = {}
    #: What the table of :meth:`samples` shows, as ``Translations by epoch``; empty for a task that has none.
    samples_title: str = ""
    #: Which checkpoint is tested: a sentence for the page of a table of results.
    test_note: str = ""
    #: What corpora are counted in, as ``pairs``: the key of a manifest under which the size of each split stands.
    unit: str
    #: What losses are means over, as figures have it.
    loss_of: str = "token"
    #: Packages that its numbers depend on: a run records their versions.
    packages: Sequence[str] = ()
    #: Other tasks whose code its numbers depend on, by name: a run records digests of it.
    builds_on: Sequence[str] = ()
    #: The stacks of layers that its models have, as probes name them; the last one gives the output.
    sides: Sequence[str] = ("encoder",)
    #: Options of the task's own, as rows of :mod:`lnexp.options`.
    options: Sequence[Any] = ()

    @property
    def loss_unit(self) -> str:
        """The unit of losses, as ``nats a token``."""
        return f"nats a {self.loss_of}"

    def epoch_numbers(self) -> list[Field]:
        """Return the numbers that the task adds to ``epoch`` records, the score first: a record must have that."""
        return [Field(self.score.valid, self.score.low, self.score.high), *self.epoch_fields]

    def test_numbers(self) -> list[Field]:
        """Return the numbers that the test adds to ``end`` records, the score first: a record must have that."""
        return [Field(self.score.test, self.score.low, self.score.high), *self.test_fields]

    def averaged_numbers(self) -> list[Field]:
        """Return the numbers that the test of an average of checkpoints adds to ``end`` records."""
        return [Field(averaged(field.name), field.low, field.high) for field in self.test_numbers()]

    def averaged_scores(self, scores: Record) -> Record:
        """Return the numbers of a test of averages by their keys in ``end`` records; what is no number is left out."""
        names = (field.name for field in self.test_numbers())
        return {averaged(name): scores[name] for name in names if name in scores}

    def register(self) -> None:  # noqa: B027  (a task may train with a fairseq task that is registered already)
        """Import what registers the fairseq task that it trains with, where :mod:`lnexp.plugin` does not."""

    def check(self, settings: Mapping[str, Any]) -> None:  # noqa: B027  (most tasks' options say all by themselves)
        """Refuse options that do not go together, before any work begins.

        Args:
            settings: the plain values of a run's config, each of which its option allows.

        Raises:
            UserError: one line that names the option and what to say instead.
        """

    def start(self, cfg: DictConfig) -> Start | None:
        """Return which checkpoint of another run a run starts from; None for a run that starts from scratch.

        A sweep trains the other run first. What is returned must be part of the run's identity.

        Args:
            cfg: the config of a run.

        Raises:
            UserError: where the config does not say it.
        """
        return None

    def start_checkpoint(self, cfg: DictConfig) -> Path | None:
        """Return the file of the checkpoint that :meth:`start` states, for a run that is about to begin.

        Args:
            cfg: the config of a run.

        Raises:
            UserError: where it is missing or damaged, or does not fit the run: a run is never trained from scratch
                instead.
        """
        return None

    def set_starts(self, fairseq_task: Any, cfgs: Sequence[DictConfig]) -> None:  # noqa: B027  (most runs have none)
        """Tell a fairseq task where the model starts that it is about to build.

        Args:
            fairseq_task: the one that the runs are trained with.
            cfgs: the configs of the runs, one, or those of the members of an array.
        """

    @abstractmethod
    def prepare(self, data: DictConfig, data_dir: str | Path) -> Any:
        """Return the prepared corpus of the config group ``data``; prepare it where it is missing."""

    @abstractmethod
    def manifest(self, data: DictConfig, data_dir: str | Path) -> Record:
        """Return ``manifest.json`` of a prepared corpus: ``settings``, ``sha256`` by file, and counts by :attr:`unit`.

        Raises:
            UserError: where the corpus is not prepared, or its manifest cannot be read.
        """

    @abstractmethod
    def size_in_words(self, data: Mapping[str, Any]) -> str:
        """Return how much a run was trained on, as ``3,000 training pairs``.

        Args:
            data: a manifest, or what ``environment.json`` keeps of one.
        """

    def is_whole(self, corpus: str, data: Mapping[str, Any]) -> bool:
        """Return whether a corpus, by its manifest ``data``, is the whole of the paper's ``corpus``."""
        return False

    @abstractmethod
    def evaluation(self, cfg: DictConfig, fairseq_task: Any, corpus: Any, ranks: "Ranks") -> Evaluation:
        """Return what measures models in training. It is made after ``fairseq_task`` and before the model.

        Args:
            cfg: the config of one run.
            fairseq_task: the one that it is trained with.
            corpus: what :meth:`prepare` has returned, of a type that is the task's own.
            ranks: the processes that train together.
        """

    @abstractmethod
    def work(self, cfg: DictConfig) -> "Work":
        """Return an epoch of a resolved config as a unit of work, for planning.

        Raises:
            UserError: for a corpus that is not prepared and whose size is not known.
        """

    def samples(self, cfg: DictConfig, folder: "RunFolder", epoch: int) -> Samples | None:
        """Return the samples of a run until ``epoch``; None where there are none.

        Args:
            cfg: the run's resolved config.
            folder: the run's.
            epoch: from 1.
        """
        return None

    def sentence_statistics(self, run: MeasuredRun, folder: "RunFolder") -> SentenceStatistics | None:
        """Return the statistics of the test score of a run that is over; None for a task that keeps none.

        Args:
            run: its records.
            folder: the run's, with what the test gave.

        Raises:
            UserError: where the folder or the corpus has not what the score was computed from.
        """
        return None

    def epoch_note(self, record: Mapping[Any, Any]) -> str:
        """Return how validation took the score, for the subtitle of a figure.

        Args:
            record: an ``epoch`` record, or a row of ``epochs.csv``.
        """
        return ""

    def score_note(self, ends: Sequence[Record]) -> str:
        """Return how tests took the score, a sentence for the page of a table of results.

        Args:
            ends: the ``end`` records of its runs.
        """
        return ""

    def is_scored_by(self, run: MeasuredRun) -> bool:
        """Return whether a run was scored as the task scores, by what its records or tables say of it."""
        return True

    def epoch_words(self, record: Record) -> str:
        """Return what a line on an epoch says of the task's fields, as ``BLEU  97.0``."""
        return f"{self.score.title} {record[self.score.valid]:5.{self.score.places}f}"

    def end_words(self, record: Record) -> str:
        """Return what a line on the end of a run says of its test."""
        value = record[self.score.test]
        if value is None:
            return "no checkpoint to test"
        return f"test {self.score.title} {self.score.text(value)} (epoch {record['checkpoint_epoch']})"

    def no_scores(self) -> Record:
        """Return the scores of a run without a checkpoint that can be tested: the numbers of the test, all None."""
        return {field.name: None for field in self.test_numbers()}
