"""A small model, its loss and a batch with padding, for one update."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.data import Dictionary
from fairseq.models import build_model
from omegaconf import OmegaConf
from torch import Tensor

import lnexp.plugin  # noqa: F401  (registers the models)
from lnexp.training.diagnostic import Diagnostic, Watched
from lnexp.training.ranks import ALONE


class OneUpdate:
    """A model in training, and a batch of two pairs, the second of which is shorter on both sides."""

    def __init__(self):
        words = Dictionary()
        for number in range(20):
            words.add_symbol(f"w{number}")
        self.pad = words.pad()
        task = SimpleNamespace(source_dictionary=words, target_dictionary=words)
        sizes = {f"{side}_{name}": 32 for side in ("encoder", "decoder") for name in ("embed_dim", "ffn_embed_dim")}
        sizes |= {f"max_{side}_positions": 50 for side in ("source", "target")}
        layers = {"encoder_layers": 1, "decoder_layers": 2, "dropout": 0.0}
        torch.manual_seed(1)
        self.model = build_model(OmegaConf.create({"_name": "lnexp_post_ln", **sizes, **layers}), task).train()
        self.criterion = LabelSmoothedCrossEntropyCriterion(task, False, 0.1)
        target = torch.tensor([[5, 6, 7, 8, 2], [9, 10, 2, self.pad, self.pad]])
        before = torch.tensor([[2, 5, 6, 7, 8], [2, 9, 10, self.pad, self.pad]])
        source = torch.tensor([[5, 6, 7, 8, 9, 2], [self.pad, self.pad, self.pad, 10, 11, 2]])
        net_input = {"src_tokens": source, "src_lengths": torch.tensor([6, 3]), "prev_output_tokens": before}
        self.lr = 0.1
        self.batch = {"net_input": net_input, "target": target, "ntokens": 8}
        rates = lambda: torch.tensor([self.lr])  # noqa: E731
        self.watched = Watched(self.model, self.criterion, 1, False, ALONE, rates, lambda: self.batch, 50)

    def watched_by(self, diagnostic: type[Diagnostic], lr: float = 0.1) -> dict[str, Tensor]:
        """What a diagnostic finds in one step of plain gradient descent."""
        self.lr = lr
        watching = diagnostic(self.watched)
        watching.begin()
        loss, tokens, _ = self.criterion(self.model, self.batch)
        (loss / tokens).backward()
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter -= lr * parameter.grad
        return watching.end()


@pytest.fixture
def one_update() -> OneUpdate:
    return OneUpdate()
