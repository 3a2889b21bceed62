"""Pre-to-post: Pre-LN that becomes Post-LN during training. It is ours; no paper has it."""

from dataclasses import dataclass

from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, option
from ..updates import ChangesUntil, KnowsUpdates, UntilOptions


@dataclass
class PreToPostOptions(UntilOptions):
    """Pre-to-post's own option."""

    updates: int = option(1000, "updates T until the model is Post-LN")


@register_placement("pre_to_post", PreToPostOptions)
class PreToPost(ChangesUntil):
    """``y = x + F((1 − a) LN(x) + a x)``, ``x' = (1 − a) y + a LN(y)`` with a = min(t / T, 1) after t updates.

    It is Pre-LN at first and Post-LN from update T on, to the last digit and with the same parameters: both LN of a
    block are one, and the final LayerNorm fades, ``(1 − a) LN(x) + a x``. No source has it: the form and the default of
    T are ours.
    """

    final_norm = True

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``(1 − a) y + a LN(y)`` of ``y = x + F((1 − a) LN(x) + a x)``, ``(time, batch, channel)``."""
        a = self.share_of(self.until)
        y = x + block.sublayer(mixed(block.norm(x), x, a))
        return mixed(y, block.norm(y), a)

    def end(self, final_norm: nn.Module) -> nn.Module:
        """Return the final LayerNorm, made to fade."""
        return FadingNorm(final_norm, self.until)


class FadingNorm(KnowsUpdates):
    """The end of a stack: ``(1 − a) LN(x) + a x``."""

    def __init__(self, norm: nn.Module, until_gone: int):
        super().__init__()
        self.norm, self.until_gone = norm, until_gone

    def forward(self, x: Tensor) -> Tensor:
        """Return what is left of the normalisation; takes and returns ``(time, batch, channel)``."""
        return mixed(self.norm(x), x, self.share_of(self.until_gone))


def mixed(before: Tensor, after: Tensor, a: Tensor) -> Tensor:
    """Return ``(1 − a) before + a after``; exactly one of them where a is 0 or 1."""
    return (1 - a) * before + a * after
