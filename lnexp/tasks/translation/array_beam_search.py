"""Search with beams for all members of an array at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnexp.plugin.arrays.model import ArrayModel

MIN_LENGTH = 1  # fairseq's: no hypothesis is empty
SHRINK_AT = 0.75  # finished sentences are left out when no larger share of the searched ones is unfinished


@dataclass
class Beams:
    """The state of a search for ``N`` sentences, of all members together, with ``k`` hypotheses each.

    Attributes:
        tokens: ``(N, k, 1 + longest)``; begins with the end-of-sentence symbol, as fairseq's decoder expects.
        scores: ``(N, k)``, log-probabilities.
        best: ``(N, 1 + longest)``, the best finished hypothesis, padded.
        best_score: ``(N,)``, its score, normalised by length; -inf where none is finished.
        finished: ``(N,)``, the number of finished hypotheses.
        slot: ``(N,)``, the number of the sentence among those of all members, one member after another.
    """

    tokens: Tensor
    scores: Tensor
    best: Tensor
    best_score: Tensor
    finished: Tensor
    slot: Tensor

    @classmethod
    def start(cls, slot: Tensor, beam: int, longest: int, eos: int, pad: int) -> "Beams":
        sentences = len(slot)
        tokens = slot.new_full((sentences, beam, 1 + longest), pad)
        tokens[:, :, 0] = eos
        scores = torch.full((sentences, beam), -torch.inf, device=slot.device)
        scores[:, 0] = 0.0  # all beams are alike at first, so only one is extended
        best = slot.new_full((sentences, 1 + longest), pad)
        best_score = torch.full((sentences,), -torch.inf, device=slot.device)
        return cls(tokens, scores, best, best_score, torch.zeros_like(slot), slot)

    def select(self, sentences: Tensor) -> "Beams":
        return Beams(**{name: value[sentences] for name, value in vars(self).items()})


class BeamSearch:
    """fairseq's beam search, with the sentences of all members side by side.

    The hypotheses are those of fairseq's ``SequenceGenerator``. A hypothesis that ends among the best ``beam``
    candidates is finished; a sentence is finished when it has ``beam`` finished hypotheses. The best one has the
    highest log-probability over length to the power of ``lenpen``. A hypothesis must end after ``max_len_a`` times the
    longest source of the batch plus ``max_len_b`` tokens.
    """

    def __init__(self, model: ArrayModel, beam: int, lenpen: float, max_len_a: float, max_len_b: int):
        self.model, self.beam, self.lenpen = model, beam, lenpen
        self.max_len_a, self.max_len_b = max_len_a, max_len_b
        dictionary = model.decoder.dictionary
        self.eos, self.pad, self.unk = dictionary.eos(), dictionary.pad(), dictionary.unk()

    @torch.no_grad()
    def search(self, src_tokens: Tensor, src_lengths: Tensor, wanted: Sequence[int]) -> list[list[Tensor | None]]:
        """Return the best hypothesis of each member for each sentence, without its end symbol, or None.

        Args:
            src_tokens: ``(B, source_time)``, padded.
            src_lengths: ``(B,)``, the end symbol included.
            wanted: the members to search with; the others get no hypotheses.
        """
        members = self.model.members
        encoder_out = self.model.encoder(src_tokens.repeat(members, 1), src_lengths.repeat(members))
        longest = int(src_tokens.size(1) * self.max_len_a + self.max_len_b)
        longest = min(longest, self.model.max_decoder_positions() - 1)
        slots = torch.arange(members * len(src_tokens), device=src_tokens.device)
        beams = Beams.start(slots, self.beam, longest + 1, self.eos, self.pad)
        unwanted = [member for member in range(members) if member not in wanted]
        beams.finished.view(members, -1)[unwanted] = self.beam
        best, best_score = beams.best.clone(), beams.best_score.clone()
        cache: dict = {}
        for step in range(longest + 1):
            must_end = step == longest
            scores = self._log_probabilities(step, must_end, beams, encoder_out, cache)
            self._extend(step, beams, scores, cache)
            done = beams.finished.ge(self.beam) | must_end
            left = int((~done).view(members, -1).sum(dim=1).max())
            if left <= SHRINK_AT * len(done) / members:
                best[beams.slot], best_score[beams.slot] = beams.best, beams.best_score
                if left == 0:
                    break
                # every member keeps as many sentences as the one that has most left
                kept = done.view(members, -1).int().argsort(dim=1, stable=True)[:, :left]
                first = torch.arange(members, device=kept.device).unsqueeze(1) * (len(done) // members)
                kept = (first + kept).flatten()
                beams = beams.select(kept)
                encoder_out = self.model.encoder.reorder_encoder_out(encoder_out, kept)
                self._reorder(cache, kept, self._rows(kept))
        return self._hypotheses(best, best_score, len(src_tokens))

    def _hypotheses(self, best: Tensor, best_score: Tensor, sentences: int) -> list[list[Tensor | None]]:
        rows, found = best[:, 1:].cpu(), best_score.gt(-torch.inf).tolist()
        whole = [row[row.ne(self.pad) & row.ne(self.eos)] if ok else None for row, ok in zip(rows, found, strict=True)]
        return [whole[start : start + sentences] for start in range(0, len(whole), sentences)]

    def _rows(self, sentences: Tensor) -> Tensor:
        """Return the numbers of the rows of all hypotheses of some sentences."""
        return (sentences.unsqueeze(1) * self.beam + torch.arange(self.beam, device=sentences.device)).flatten()

    def _extend(self, step: int, beams: Beams, log_probabilities: Tensor, cache: dict) -> None:
        """Extend every sentence's hypotheses by one token, keep the best, and note those that end."""
        scores = beams.scores.unsqueeze(2) + log_probabilities
        words = scores.size(2)
        # twice as many as beams, so that enough remain when half of them end
        candidates, index = scores.flatten(1).topk(2 * self.beam, dim=1)
        beam, word = index // words, index % words
        ends = word.eq(self.eos) & candidates.gt(-torch.inf)
        self._finish(step, beams, candidates, beam, ends)
        # the best unfinished candidates; a stable sort keeps their order
        going = ends.int().argsort(dim=1, stable=True)[:, : self.beam]
        beams.scores = candidates.gather(1, going)
        beam, word = beam.gather(1, going), word.gather(1, going)
        word = word.masked_fill(beams.scores.eq(-torch.inf), self.unk)  # a finished sentence, or one without scores
        sentence = torch.arange(len(beam), device=beam.device).unsqueeze(1)
        beams.tokens = beams.tokens[sentence, beam]
        beams.tokens[:, :, step + 1] = word
        if self.beam > 1:
            self._reorder(cache, None, (sentence * self.beam + beam).flatten())

    def _log_probabilities(self, step: int, must_end: bool, beams: Beams, encoder_out: dict, cache: dict) -> Tensor:
        """Return the log-probability of every next token, ``(N, k, words)``; -inf for a token that is not allowed."""
        so_far = beams.tokens[:, :, : step + 1].flatten(0, 1)
        x, _ = self.model.decoder.extract_features(so_far, encoder_out, incremental_state=cache)
        weight = self.model.output_weight.to(x.dtype)
        logits = torch.bmm(x.reshape(len(weight), -1, x.size(-1)), weight.transpose(1, 2))
        scores = logits.float().log_softmax(dim=2).view(*beams.scores.shape, -1)
        scores.masked_fill_(scores.isnan(), -torch.inf)
        scores[:, :, self.pad] = -torch.inf
        if must_end:
            scores[:, :, : self.eos] = scores[:, :, self.eos + 1 :] = -torch.inf
        elif step < MIN_LENGTH:
            scores[:, :, self.eos] = -torch.inf
        return scores

    def _finish(self, step: int, beams: Beams, candidates: Tensor, beam: Tensor, ends: Tensor) -> None:
        """Record the best hypothesis that ends now among the first ``beam`` candidates of each sentence."""
        ends = ends[:, : self.beam] & beams.finished.lt(self.beam).unsqueeze(1)
        first = ends.int().argmax(dim=1, keepdim=True)
        score = candidates.gather(1, first).squeeze(1) / (step + 1) ** self.lenpen
        better = ends.any(dim=1) & score.gt(beams.best_score)
        hypothesis = beams.tokens[torch.arange(len(beam), device=beam.device), beam.gather(1, first).squeeze(1)]
        beams.best_score = torch.where(better, score, beams.best_score)
        beams.best = torch.where(better.unsqueeze(1), hypothesis, beams.best)
        beams.finished = beams.finished + ends.sum(dim=1)

    def _reorder(self, cache: dict, sentences: Tensor | None, rows: Tensor) -> None:
        """Keep these rows of the hypotheses' keys and values, and these sentences of their sources' keys and values."""
        for attention, (keys, values) in cache.items():
            order = sentences if attention.to_source else rows
            if order is not None:
                cache[attention] = keys.index_select(0, order), values.index_select(0, order)
