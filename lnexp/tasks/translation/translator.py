"""Translate sentences outside of the corpus with a run's best model."""

from typing import Any

import torch
from fairseq import checkpoint_utils
from omegaconf import DictConfig

import lnexp.plugin  # noqa: F401  (registers our models and task)
from lnexp.corpora.moses import lowercase, moses_tokenizer
from lnexp.corpora.prepare import PreparedCorpus, subwords_of
from lnexp.errors import UserError
from lnexp.plain import plain
from lnexp.runs.checksum import is_whole
from lnexp.runs.folder import RunFolder
from lnexp.safe_loading import load, making_a_model
from lnexp.tasks.translation.bleu import detokenise
from lnexp.tasks.translation.decoding import FirstSentences, translate


class Translator:
    """The checkpoint with the lowest validation nll, on the CPU.

    Args:
        cfg: the run's config.
        folder: the run's folder.
        corpus: the corpus that it was trained on.

    Raises:
        UserError: where the run has no checkpoint, or one that makes no model.
    """

    def __init__(self, cfg: DictConfig, folder: RunFolder, corpus: PreparedCorpus):
        self.cfg, self.corpus = cfg, corpus
        epoch = folder.best_epoch()
        if epoch is None:
            raise UserError(f"{folder.path}: has no checkpoint to translate with")
        path = folder.saved.of_epoch(epoch)
        if not is_whole(path):
            raise UserError(f"{path}: not what was saved; force=true trains the run afresh")
        state = load(path)
        with making_a_model(path):
            state["cfg"].task.data = str(corpus.bin)
            (self.model,), _, self.task = checkpoint_utils.load_model_ensemble_and_task([str(path)], state=state)
        self.epoch = epoch

    def translate(self, sentences: list[str], beam: int) -> tuple[list[str], list[list[str]]]:
        """Return the best translation of each sentence, as plain text, and its subwords that the run has never seen.

        Raises:
            UserError: for a sentence that fits no batch, or a model whose scores are not finite.
        """
        cut = _preprocess_as_source(sentences, plain(self.cfg.data), self.corpus)
        words = self.task.source_dictionary
        numbers = [words.encode_line(line, add_if_not_exist=False).long() for line in cut]
        longest = max(map(len, numbers), default=0)
        if longest > self.cfg.evaluation.max_tokens:
            raise UserError(
                f"a sentence of {longest} tokens is more than the {self.cfg.evaluation.max_tokens} of a batch"
            )
        unknown = [[word for word in line.split() if words.index(word) == words.unk()] for line in cut]
        dataset = self.task.build_dataset_for_inference(numbers, torch.tensor([len(one) for one in numbers]))
        first = FirstSentences(dataset, 0)
        try:
            found = translate(self.task, self.model, first, self.cfg.evaluation, beam, self.cfg.data.post_process)
        except FloatingPointError as error:
            raise UserError(str(error)) from error
        return detokenise(found, self.cfg.data.target_lang), unknown


def _preprocess_as_source(sentences: list[str], settings: dict[str, Any], corpus: PreparedCorpus) -> list[str]:
    """Tokenise, lower-case and segment sentences as the source side of a corpus, by the settings of its config.

    Sentences for a corpus without a tokeniser, as ``data=tokenized`` and ``data=toy``, must be tokenised.
    """
    text = settings["text"]
    if text.get("tokenizer") == "moses":
        sentences = moses_tokenizer(settings["source_lang"]).tokenize(sentences)
    if text.get("lowercase"):
        sentences = list(map(lowercase, sentences))
    subwords = subwords_of(settings)
    return [" ".join(subwords.segment(sentence.split(), corpus.folder)) for sentence in sentences]
