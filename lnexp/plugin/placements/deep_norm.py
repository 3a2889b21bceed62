"""DeepNorm: Post-LN with a heavier residual stream and smaller sublayers, by depth."""

from dataclasses import dataclass

import torch
from fairseq.dataclass import ChoiceEnum
from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, Placement, Where, option

#: β (N⁴M)^(1/16) of the encoder, by where it is published: the paper's Figure 2, and the authors' code
#: (github.com/microsoft/torchscale, torchscale/architecture/encoder.py), which divides weights by (N⁴M)^(1/16) / 1.15.
ENCODER_BETA = {"paper": 0.87, "torchscale": 1.15}


@dataclass
class DeepNormOptions:
    """DeepNorm's own options."""

    constants: ChoiceEnum(list(ENCODER_BETA)) = option(  # type: ignore[valid-type]
        "paper", "where the encoder's β is from: 0.87 (N⁴M)^(−1/16) of the paper, or 1.15 (N⁴M)^(−1/16) of torchscale"
    )


@register_placement("deep_norm", DeepNormOptions)
class DeepNorm(Placement):
    """``x' = LN(α x + F(x))`` (Wang et al. 2022, "DeepNet: Scaling Transformers to 1,000 Layers", section 4.1).

    The weights of the FFN and of attention's value and output projections start from Gaussian Xavier, which their
    Figure 2 takes as an example of a standard initialisation, with gain β, those of query and key with gain 1, whatever
    ``init`` is (``deepnorm_init`` there; it does not mention biases, which are zero here). For N encoder and M decoder
    layers the encoder has α = 0.81 (N⁴M)^(1/16) and β = 0.87 (N⁴M)^(−1/16), the decoder α = (3M)^(1/4) and
    β = (12M)^(−1/4). A stack of N layers alone has α = (2N)^(1/4) and β = (8N)^(−1/4) (Figure 2, encoder-only and
    decoder-only), in paper and code alike.

    With ``constants=torchscale`` the encoder's β is that of their code, and nothing else is: the code multiplies by it
    weights that torch's ``nn.Linear`` draws, which are smaller than Xavier's.
    """

    final_norm = False
    starts_from = "paper"

    def __init__(self, where: Where, options: DeepNormOptions):
        super().__init__(where, options)
        n, m = where.encoder_layers, where.decoder_layers
        if not (n and m):
            alone = n + m
            self.alpha, self.beta = (2 * alone) ** (1 / 4), (8 * alone) ** (-1 / 4)
        elif where.side == "encoder":
            self.alpha = 0.81 * (n**4 * m) ** (1 / 16)
            self.beta = ENCODER_BETA[str(options.constants)] * (n**4 * m) ** (-1 / 16)
        else:
            self.alpha, self.beta = (3 * m) ** (1 / 4), (12 * m) ** (-1 / 4)

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``LN(α x + F(x))``, ``(time, batch, channel)``."""
        return block.norm(self.alpha * x + block.sublayer(x))

    @torch.no_grad()
    def initialise(self, layer: nn.Module) -> None:
        """Multiply the weights of the FFN and of value and output projections by β, in place."""
        for name, parameter in layer.named_parameters():
            if name.endswith(("fc1.weight", "fc2.weight", "v_proj.weight", "out_proj.weight")):
                parameter.mul_(self.beta)
