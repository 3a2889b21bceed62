"""Measure the size of an update against its weight and the learning rate, for every matrix of parameters."""

import torch
from torch import Tensor

from lnexp.training.diagnostic import Diagnostic, Watched, register_diagnostic


@register_diagnostic
class UpdateSizes(Diagnostic):
    """``relative_update``, ‖ΔW‖/‖W‖, ``angular_update``, the angle between W before and after, in radians, and
    ``update_rms``, the root mean square of ΔW in learning rates.

    The angle is the angular update of Wan et al. 2021 (arXiv 2006.08419), section 3, and of Kosson et al. 2023
    (arXiv 2305.17212), there of neurons and here of whole matrices. W is before the update, as the model holds it: in
    half precision an update below the rounding of a weight is none. A snapshot holds a copy of all matrices.

    Adam's first update has an ``update_rms`` of 1 where every element has a gradient, and of less elsewhere. Later ones
    exceed 1 where gradients grow faster than the second moment follows: in the long run they reach
    ``(1 − β1) / √((1 − β2) (1 − β1²/β2))`` at most, which is 1.7 for the paper's betas and 1 for equal ones. Wortsman
    et al. 2023, "Stable and low-precision training for large-scale vision-language models" (arXiv 2304.13013), section
    3, find loss spikes behind such updates.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        named, dimensions = watched.model.named_parameters(), 2 + watched.stacked
        self._matrices = {name: one for name, one in named if one.requires_grad and one.dim() >= dimensions}
        self._before: dict[str, Tensor] = {}
        self._rates = torch.zeros(watched.members)

    def begin(self) -> None:
        self._rates = self.watched.rates()  # those of this update: after it they are the next one's
        self._before = {name: matrix.detach().clone() for name, matrix in self._matrices.items()}

    def end(self) -> dict[str, Tensor]:
        if not self._before:
            return {}
        of_matrices = [self._sizes(before, self._matrices[name].detach()) for name, before in self._before.items()]
        length, size, along = torch.stack(of_matrices, dim=1).cpu().double()  # each (matrices, S)
        along = along / length  # the parts of ΔW along W and across it: the cosine of a small angle is rounded to 1
        across = (size.square() - along.square()).clamp(min=0).sqrt()
        elements = torch.tensor([before.numel() // self.watched.members for before in self._before.values()])
        measures = {
            "relative_update": size / length,
            "angular_update": torch.atan2(across, length + along),
            "update_rms": size / elements.sqrt().unsqueeze(1) / self._rates,
        }
        names = [name.removesuffix(".weight") for name in self._before]
        self._before = {}
        return {
            f"{measure}.{name}": value
            for measure, values in measures.items()
            for name, value in zip(names, values, strict=True)
        }

    def _sizes(self, before: Tensor, after: Tensor) -> Tensor:
        """Return ‖W‖, ‖ΔW‖ and the product of W and ΔW, ``(3, S)``."""
        weight, change = (x.float().reshape(self.watched.members, -1) for x in (before, after - before))
        length, size = (torch.linalg.vector_norm(x, dim=1) for x in (weight, change))
        return torch.stack([length, size, (weight * change).sum(dim=1)])
