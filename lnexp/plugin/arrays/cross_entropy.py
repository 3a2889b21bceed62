"""Label-smoothed cross-entropy of many models, with the logits of one model at a time in memory."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class _CrossEntropy(torch.autograd.Function):
    """Output projection and loss, member by member; the gradients are computed in the forward pass.

    The logits of one member at a time are held, ``N`` tokens times ``V`` words, where a plain loss would keep several
    such tensors for each of them until the backward pass.
    """

    @staticmethod
    def forward(ctx, hidden: Tensor, weight: Tensor, target: Tensor, smoothing: float, padding: int, trains: bool):
        """Return the members' losses and negative log-likelihoods, and keep the gradients of the losses' sum."""
        members, words = weight.shape[:2]
        share = smoothing / (words - 1)  # of every wrong word
        kept = target.ne(padding)
        exact = torch.promote_types(hidden.dtype, torch.float32)
        losses, nlls = hidden.new_zeros(2, members, dtype=exact)
        hidden_grad, weight_grad = (torch.empty_like(x) if trains else None for x in (hidden, weight))
        for member in range(members):
            x, w = hidden[member], weight[member].to(hidden.dtype)
            logits = torch.mm(x, w.t()).to(exact)
            normaliser = logits.logsumexp(dim=1)
            nll = (normaliser - logits.gather(1, target.unsqueeze(1)).squeeze(1)) * kept
            smooth = (words * normaliser - logits.sum(dim=1)) * kept
            nlls[member] = nll.sum()
            losses[member] = (1 - smoothing - share) * nlls[member] + share * smooth.sum()
            if hidden_grad is not None and weight_grad is not None:
                gradient = logits.sub_(normaliser.unsqueeze(1)).exp_().sub_(share)
                right = gradient.new_full((len(target), 1), smoothing + share - 1)
                gradient.scatter_add_(1, target.unsqueeze(1), right)
                gradient = gradient.mul_(kept.unsqueeze(1)).to(hidden.dtype)
                torch.mm(gradient, w, out=hidden_grad[member])
                weight_grad[member] = torch.mm(gradient.t(), x)
        ctx.save_for_backward(hidden_grad, weight_grad)
        ctx.mark_non_differentiable(nlls)
        return losses, nlls

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor, _):
        """Return the kept gradients, each member's times that of its loss."""
        hidden_grad, weight_grad = (x * grad.to(x.dtype).view(-1, 1, 1) for x in ctx.saved_tensors)
        return hidden_grad, weight_grad, None, None, None, None


def cross_entropy(
    hidden: Tensor, weight: Tensor, target: Tensor, smoothing: float, padding: int
) -> tuple[Tensor, Tensor]:
    """Return the loss of fairseq's ``label_smoothed_cross_entropy`` for each member's ``hidden @ weight.T``.

    Args:
        hidden: ``(S, N, channel)``, of any floating type; the softmax is at least float32.
        weight: ``(S, words, channel)``, float32.
        target: ``(N,)``, the same for all members.
        smoothing: ε; every wrong word gets ``ε / (words - 1)``, the right one ``1 - ε``.
        padding: the target that counts for nothing.

    Returns:
        The losses and the negative log-likelihoods, each ``(S,)``, summed over the tokens, in nats. Only the losses
        have gradients.
    """
    # torch tells no function whether gradients are wanted: within one they never are, and parameters always need them
    return _CrossEntropy.apply(hidden, weight, target, smoothing, padding, torch.is_grad_enabled())


def smooth_cross_entropy(hidden: Tensor, weight: Tensor, target: Tensor, smoothing: float, padding: int) -> Tensor:
    """Return the losses of :func:`cross_entropy`, which can be differentiated again and take all logits in memory."""
    exact = torch.promote_types(hidden.dtype, torch.float32)
    normalised = torch.bmm(hidden, weight.to(hidden.dtype).transpose(1, 2)).to(exact).log_softmax(dim=2)
    share = smoothing / (weight.size(1) - 1)
    right = normalised.gather(2, target.view(1, -1, 1).expand(len(hidden), -1, 1)).squeeze(2)
    losses = -(1 - smoothing - share) * right - share * normalised.sum(dim=2)
    return (losses * target.ne(padding)).sum(dim=1)
