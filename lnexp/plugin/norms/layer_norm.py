"""LayerNorm, the normalisation of the paper."""

from fairseq.modules import LayerNorm

from ..norm import register_norm

#: ``γ (x − mean) / std + β`` (Ba et al. 2016), as fairseq has it.
layer_norm = register_norm("layer_norm")(LayerNorm)
