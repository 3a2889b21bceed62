"""LayerNorm, the normalisation of the paper."""

from torch.nn import LayerNorm

from ..norm import register_norm

#: ``γ (x − mean) / std + β`` (Ba et al. 2016). fairseq takes the one of apex where that is installed, which has no form
#: for arrays.
layer_norm = register_norm("layer_norm")(LayerNorm)
