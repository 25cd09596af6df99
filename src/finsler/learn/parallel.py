"""Training in several processes, for those who outgrow one.

Every process holds the whole model and draws the same batches; each works on its part of every batch, and the gradients
are summed before the step. So all take the same steps, which are those of one process up to rounding (dropout apart:
every part draws its own).

Start the processes with torch's own launcher and join them before fitting::

    # train.py, run by: torchrun --nproc-per-node 2 train.py
    torch.distributed.init_process_group("gloo")
    LinkPredictor(random_state=0).fit("arcs.csv")
"""

from __future__ import annotations

from collections.abc import Callable

from finsler.learn.backend import torch

Shard = tuple[int, int]


def my_part() -> tuple[Shard, Callable[[torch.nn.Module], None] | None]:
    """Number of this process and how many there are, and what sums gradients over them; None for a process alone.

    Examples
    --------
    >>> my_part()
    ((0, 1), None)
    """
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()) or distributed.get_world_size() == 1:
        return (0, 1), None
    return (distributed.get_rank(), distributed.get_world_size()), sum_gradients


def sum_gradients(model: torch.nn.Module) -> None:
    """Replace the gradients of the parameters by their sums over all processes, in one message."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    for p in parameters:
        if p.grad is None:  # a part without such pairs
            p.grad = torch.zeros_like(p)
    flat = torch.cat([p.grad.reshape(-1) for p in parameters])
    torch.distributed.all_reduce(flat)
    start = 0
    for p in parameters:
        p.grad.copy_(flat[start : start + p.numel()].view_as(p))
        start += p.numel()
