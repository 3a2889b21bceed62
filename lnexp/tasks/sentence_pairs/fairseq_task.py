"""The fairseq task ``lnexp_sentence_pairs``: labelled pairs of sentences, and a model that starts from a checkpoint."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import torch
from fairseq.data import Dictionary, data_utils
from fairseq.tasks import register_task
from torch import Tensor

from lnexp.corpora.text import read_lines
from lnexp.errors import UserError
from lnexp.plugin.placement import Placement, option
from lnexp.plugin.task import TaskOptions
from lnexp.plugin.updates import changes_with_updates
from lnexp.safe_loading import load, refuse_other_run
from lnexp.tasks.contract import Start
from lnexp.tasks.masked_lm.sequences import Sequences, SequencesTask
from lnexp.tasks.sentence_pairs.family import PairEncoder


class LabelledPairs(Sequences):
    """Pairs of sentences as ``<s> first </s> second </s>``, and the number of the class of each.

    Args:
        first, second: the sentences, each with its ``</s>``.
        labels: the classes, from 0.
        words: the dictionary.
    """

    def __init__(self, first: Any, second: Any, labels: Sequence[int], words: Dictionary):
        super().__init__(first.sizes + second.sizes + 1, words)
        self.first, self.second, self.labels = first, second, list(labels)

    def __getitem__(self, index: int) -> tuple[int, Tensor, int]:
        start = torch.tensor([self.words.bos()])
        return index, torch.cat([start, self.first[index], self.second[index]]), self.labels[index]

    def collater(self, samples: Sequence[tuple[int, Tensor, int]]) -> dict[str, Any]:
        """Return pairs as a batch of fairseq's."""
        return batch_of(samples, self.words)


def batch_of(samples: Sequence[tuple[int, Tensor, int]], words: Dictionary) -> dict[str, Any]:
    """Return a batch; its ``ntokens`` are the pairs, by which fairseq divides the loss.

    Args:
        samples: number, tokens ``(time,)`` and class of each pair.
        words: the dictionary.
    """
    if not samples:
        return {}
    numbers, sources, labels = zip(*samples, strict=True)
    return {
        "id": torch.tensor(numbers),
        "net_input": {
            "src_tokens": data_utils.collate_tokens(sources, words.pad(), left_pad=False),
            "src_lengths": torch.tensor([len(row) for row in sources]),
        },
        "target": torch.tensor(labels),
        "ntokens": len(samples),
        "nsentences": len(samples),
    }


@dataclass
class SentencePairsOptions(TaskOptions):
    """Which pairs are read."""

    data: str = option("", "folder of the binarised pairs")
    source_lang: str = option("", "the first language of the corpus that the model was pre-trained on")
    target_lang: Optional[str] = option(None, "its second language, which is read; none: the first is")  # noqa: UP045
    classes: int = option(2, "how many classes there are")
    max_source_positions: int = option(1024, "tokens of a pair, at most")
    max_target_positions: int = option(1024, "the same")
    train_subset: str = "train"


@register_task("lnexp_sentence_pairs", dataclass=SentencePairsOptions)
class SentencePairsTask(SequencesTask):
    """Predict the class of a pair of sentences.

    Attributes:
        starts: where a model starts that is built, one pair for each member of an array: which run and epoch, and the
            checkpoint; None both: from its initialisation.
    """

    family = PairEncoder

    def __init__(self, cfg: SentencePairsOptions, words: Dictionary):
        super().__init__(cfg, words)
        self.starts: list[tuple[Start | None, Path | None]] = []

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.cfg.classes

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build a model, or an array, whose encoder, or that of each member, is of the checkpoint it starts from.

        Raises:
            UserError: where that checkpoint is of another run than it should be, or its parameters do not fit; where
                some members of an array start from scratch with a placement that looks at the first batch.
        """
        model = super().build_model(cfg, from_checkpoint)
        placements = (module for module in model.modules() if isinstance(module, Placement))
        waiting = any(placement.wants_first_batch() for placement in placements)
        if waiting and len({start is None for start, _ in self.starts}) > 1:
            raise UserError(
                "start.epoch=0: not in one array with other starts, for this placement; take launcher joblib"
            )
        for member, (start, checkpoint) in enumerate(self.starts):
            if start and checkpoint:
                start_from(model, checkpoint, start.run, member)
        return model

    def load_dataset(self, split: str, *_: Any, **__: Any) -> None:
        """Load a split; the order of all but the training data is always the same."""
        where = Path(self.cfg.data)
        first, second = (
            data_utils.load_indexed_dataset(str(where / f"{split}.{side}"), self.dictionary)
            for side in ("first", "second")
        )
        labels = map(int, read_lines(where / f"{split}.labels"))
        self.datasets[split] = LabelledPairs(first, second, list(labels), self.dictionary)
        self.datasets[split].shuffle = split == self.cfg.train_subset


#: Where the parameters lie that a run takes over; the others are of the head.
TAKEN_OVER = "encoder."


@torch.no_grad()
def start_from(model: Any, checkpoint: Path, run: str, member: int = 0) -> None:
    """Give a model, or a member of an array, the encoder of a checkpoint.

    The members of an array have their buffers in common. What depends on the number of updates there is set before the
    first of them, so that it does not matter whose are taken.

    Args:
        model: of the same encoder.
        checkpoint: of a run of ``task=masked_lm``.
        run: the identity of that run.
        member: its number, of an array.

    Raises:
        UserError: for a checkpoint of another run, or without a parameter of this encoder, and for a placement that
            changes with the number of updates, which starts again here.
    """
    if changes_with_updates(model):
        raise UserError(
            f"start.run={run}: its placement changes with the number of updates, which starts again: the encoder would"
            " compute what it did before its pre-training"
        )
    state = load(checkpoint)
    refuse_other_run(checkpoint, state["extra_state"], run)
    # parameters of an array have an axis of members in front, its buffers have not
    stacked = dict(model.named_parameters(remove_duplicate=False)) if hasattr(model, "members") else {}
    for name, tensor in model.state_dict().items():
        if name.startswith(TAKEN_OVER):
            there, mine = state["model"].get(name), tensor[member] if name in stacked else tensor
            if not isinstance(there, Tensor) or there.shape != mine.shape:
                raise UserError(f"{checkpoint}: has no {name} of the shape that this encoder has")
            mine.copy_(there)
