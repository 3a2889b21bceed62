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

    Adam's first update has an ``update_rms`` of 1. Later ones exceed 1 where gradients grow faster than the second
    moment follows: in the long run they reach ``(1 − β1) / √((1 − β2) (1 − β1²/β2))`` at most, which is 1.7 for the
    paper's betas and 1 for equal ones. Wortsman et al. 2023, "Stable and low-precision training for large-scale
    vision-language models" (arXiv 2304.13013), section 3, find loss spikes behind such updates.
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
        found = {}
        for name, before in self._before.items():
            of = name.removesuffix(".weight")
            after = self._matrices[name].detach()
            found[f"relative_update.{of}"], found[f"angular_update.{of}"] = self._sizes(before, after)
            found[f"update_rms.{of}"] = self._rms(after - before)
        self._before = {}
        return found

    def _rms(self, change: Tensor) -> Tensor:
        """Return the root mean square of ΔW in learning rates, ``(S,)``."""
        by_member = change.float().reshape(self.watched.members, -1)
        return by_member.square().mean(dim=1).sqrt().cpu() / self._rates

    def _sizes(self, before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
        """Return ‖ΔW‖/‖W‖ and the angle, each ``(S,)``.

        The angle is taken from the parts of ΔW along W and across it: the cosine of a small angle is rounded to 1.
        """
        weight, change = (x.float().reshape(self.watched.members, -1) for x in (before, after - before))
        length, size = (torch.linalg.vector_norm(x, dim=1).double() for x in (weight, change))
        along = (weight * change).sum(dim=1).double() / length
        across = (size.square() - along.square()).clamp(min=0).sqrt()
        return size / length, torch.atan2(across, length + along)
