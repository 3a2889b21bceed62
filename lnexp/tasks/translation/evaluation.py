"""Measure models in training by translating validation and test sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus
from lnexp.errors import UserError
from lnexp.tasks.contract import Evaluation, Member, Record, limits
from lnexp.tasks.translation.array_decoding import translate_array
from lnexp.tasks.translation.decoding import NO_HYPOTHESIS, FirstSentences, translate
from lnexp.tasks.translation.samples import HYPOTHESES
from lnexp.tasks.translation.scores import scores_of_test, valid_scores, whole_valid_is_due, whole_valid_scores
from lnexp.training.models.base import Models
from lnexp.training.ranks import Ranks


class TranslationEvaluation(Evaluation):
    """BLEU of the members' translations, which are kept in their folders.

    Args:
        cfg: the config of one member; members agree on how to translate.
        task: fairseq's translation task.
        corpus: has the references.
        ranks: the processes that share the sentences.
    """

    failure = NO_HYPOTHESIS

    def __init__(self, cfg: DictConfig, task: Any, corpus: PreparedCorpus, ranks: Ranks):
        self.cfg, self.task, self.corpus, self.ranks = cfg, task, corpus, ranks

    def load_data(self, fairseq: DictConfig) -> None:
        names = ("fairseq.task.max_source_positions", "fairseq.task.max_target_positions")
        of_model = dict(zip(names, self.task.max_positions(), strict=True))
        for split, (limit, option) in limits(self.cfg, fairseq, of_model).items():
            self.task.load_dataset(split)
            self._check_lengths(split, limit, option)

    def _check_lengths(self, split: str, limit: int, option: str) -> None:
        """Raise UserError where a sentence of a split has more tokens than a batch or the model takes."""
        dataset = self.task.dataset(split)
        lengths = np.maximum(dataset.src_sizes, dataset.tgt_sizes)
        longest = int(lengths.argmax())
        if lengths[longest] > limit:
            raise UserError(
                f"{self.cfg.data.name}: sentence {longest + 1} of {split} is too long (leave it out, or raise the"
                f" limit): {lengths[longest]} tokens, more than the {limit} of {option}"
            )

    def validate(self, models: Models, epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        evaluation = self.cfg.evaluation
        found = self._translate(models, "valid", evaluation.valid_beam, evaluation.valid_sentences, list(members))
        due = bool(found) and whole_valid_is_due(epoch, self.cfg)
        whole = self._translate(models, "valid", evaluation.valid_beam, 0, list(found)) if due else {}
        records = {}
        for number, hypotheses in found.items():
            member = members[number]
            self._keep(member, f"valid.epoch{epoch}", hypotheses)
            records[number] = valid_scores(hypotheses, self.corpus, member.cfg)
            if number in whole:
                records[number] |= whole_valid_scores(whole[number], self.corpus, member.cfg)
        return records

    def test(self, models: Models, name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self._translate(models, "test", self.cfg.evaluation.test_beam, 0, list(members))
        for number, hypotheses in found.items():
            self._keep(members[number], name, hypotheses)
        return {
            number: scores_of_test(hypotheses, self.corpus, members[number].cfg) for number, hypotheses in found.items()
        }

    def _translate(
        self, models: Models, split: str, beam: int, count: int, wanted: Sequence[int]
    ) -> dict[int, list[str]]:
        """Return the members' translations of the first ``count`` sentences of a split; of all where that is 0.

        A member whose scores are not finite is left out.
        """
        sentences = FirstSentences(self.task.dataset(split), count, self.ranks)
        search = (self.task, models.model, sentences, self.cfg.evaluation, beam, self.cfg.data.post_process)
        if models.stacked:
            return translate_array(*search, wanted)
        try:
            return {0: translate(*search)}
        except FloatingPointError:
            return {}

    def _keep(self, member: Member, name: str, hypotheses: list[str]) -> None:
        if self.ranks.leads:
            member.folder.write_lines(HYPOTHESES.format(name), hypotheses)
