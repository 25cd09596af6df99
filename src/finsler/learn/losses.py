"""Weighted cross-entropy of arcs against their negatives, and a loss of direction alone."""

from __future__ import annotations

from finsler.learn.backend import torch
from finsler.learn.sampling import Batch


def link_loss(
    logits: torch.Tensor, batch: Batch, *, reversed_share: float = 1 / 3, direction_weight: float = 0.3
) -> torch.Tensor:
    """Loss of a batch, or the part of it that a shard contributes.

    ``mean_arcs -log p + s mean_reversed -log(1 - p) + (1 - s) mean_random -log(1 - p) + w mean_one-way -log q``, where
    ``q = sigmoid(logit_ij - logit_ji)`` is the probability that the arc runs its way, s the share of reversed negatives.
    The means are over the whole batch, so the losses of its shards, and their gradients, sum to those of the whole.

    Parameters
    ----------
    logits : tensor
        Of ``batch.pairs()``: arcs, reversed one-way arcs, random pairs.
    batch : Batch
    reversed_share : float in [0, 1]
        Weight of the reversed among the negatives.
    direction_weight : float
        Weight of the loss of direction.

    Returns
    -------
    scalar tensor
    """
    softplus = torch.nn.functional.softplus
    n_arcs, n_one_way, n_random = (max(count, 1) for count in batch.counts)
    here = len(batch.arcs)
    one_way = torch.as_tensor(batch.one_way, device=logits.device)
    back_end = here + int(batch.one_way.sum())
    arcs, back, random = logits[:here], logits[here:back_end], logits[back_end:]
    return (
        softplus(-arcs).sum() / n_arcs
        + reversed_share * softplus(back).sum() / n_one_way
        + (1 - reversed_share) * softplus(random).sum() / n_random
        + direction_weight * softplus(back - arcs[one_way]).sum() / n_one_way
    )
