"""The canonical Randers distance for PyTorch: the same as `finsler.geometry.randers`, with gradients.

``d(x, y) = ||y - x|| + alpha (y - x)[last]``. The norm has no gradient where x = y; there it is taken as zero, the
smallest of its subgradients, so that points which meet do not poison a training with NaN.
"""

from __future__ import annotations

from finsler.errors import InputError
from finsler.learn.backend import torch

LARGEST_ALPHA = 0.999  # the distance is positive for |alpha| < 1; float32 would round a tanh to 1


def randers_distance(x: torch.Tensor, y: torch.Tensor, alpha: torch.Tensor | float) -> torch.Tensor:
    """Distance **from x to y**, along the last axis of the tensors.

    Parameters
    ----------
    x, y : tensors of shapes (..., m)
        Start and end points; the shapes may broadcast.
    alpha : float or scalar tensor
        Strength of the drift, ``|alpha| < 1``.

    Returns
    -------
    tensor of shape (...)

    Examples
    --------
    >>> x, y = torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0])
    >>> randers_distance(x, y, 0.5).item(), randers_distance(y, x, 0.5).item()
    (7.0, 3.0)
    """
    step = y - x
    square = step.square().sum(-1)
    apart = square > 0
    # Both branches of a where() are differentiated, so the root must not see the zeros at all.
    length = torch.where(apart, square, 1.0).sqrt() * apart
    return length + alpha * step[..., -1]


class Drift(torch.nn.Module):
    """Strength of the drift: fixed, or learned as ``0.999 tanh(raw)`` so that it stays below one.

    Parameters
    ----------
    alpha : float in (-1, 1)
        Value, or start of the learned value.
    learn : bool

    Examples
    --------
    >>> round(Drift(0.5)().item(), 6)
    0.5
    """

    def __init__(self, alpha: float, *, learn: bool = True):
        super().__init__()
        if not abs(alpha) < LARGEST_ALPHA:
            raise InputError(f"alpha must be between -{LARGEST_ALPHA} and {LARGEST_ALPHA}; found {alpha}.")
        raw = torch.atanh(torch.tensor(float(alpha)) / LARGEST_ALPHA)
        self.raw = torch.nn.Parameter(raw, requires_grad=learn)

    def forward(self) -> torch.Tensor:
        """Present value of alpha."""
        return LARGEST_ALPHA * torch.tanh(self.raw)
