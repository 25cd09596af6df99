"""Minimization of a smooth function by L-BFGS, for tensors on any device.

Nocedal and Wright, Numerical Optimization, algorithm 7.4; the line search finds a step with the weak Wolfe conditions by
bisection (Lewis and Overton, 2013), which also copes with the kinks of distances at coincident points. It is here, and
not torch's own, because it can be stopped after any iteration with the best point so far and counts evaluations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Function = Callable[[Tensor], tuple[float, Tensor]]

SUFFICIENT_DECREASE = 1e-4
CURVATURE = 0.9
MOST_TRIALS = 15
PATIENCE = 10  # iterations over which the decrease is compared with the tolerance


@dataclass
class Minimum:
    """Where the minimization ended.

    Attributes
    ----------
    point : Tensor
        The best point found.
    value : float
        The function there.
    n_iter, n_evaluations : int
        Iterations, and evaluations of function and gradient.
    converged : bool
        True if the function stopped falling; False if the iterations ran out or the callback ended it.
    """

    point: Tensor
    value: float
    n_iter: int
    n_evaluations: int
    converged: bool


def minimize(
    function: Function,
    start: Tensor,
    *,
    max_iter: int,
    tol: float = 1e-6,
    memory: int = 20,
    callback: Callable[[int, float, Tensor], bool] | None = None,
    renew: Callable[[int, Tensor], bool] | None = None,
) -> Minimum:
    """Minimize a function of a vector.

    Parameters
    ----------
    function : callable
        Takes a vector, returns the value and the gradient.
    start : Tensor of shape (n,)
        First point; it is not changed.
    max_iter : int
        Iterations at most.
    tol : float
        Ends when ten iterations together lower the value by less than ``10 tol`` of itself.
    memory : int
        Pairs of steps and changes of the gradient that are kept.
    callback : callable, optional
        Called after each iteration with its number, the value and the point; True ends the minimization.
    renew : callable, optional
        Called with the number of an iteration and the point before it begins. True says that the function has become a
        slightly different one: it is evaluated anew, and what is known of its curvature is kept.

    Examples
    --------
    >>> import torch
    >>> found = minimize(lambda x: (float(x @ x), 2 * x), torch.ones(3), max_iter=20)
    >>> found.value < 1e-6
    True
    """
    x = start.clone()
    value, gradient = function(x)
    pairs: deque[tuple[Tensor, Tensor, float]] = deque(maxlen=memory)
    values = [value]
    evaluations, iteration = 1, 0
    while iteration < max_iter:
        if renew is not None and renew(iteration, x):
            value, gradient = function(x)
            values = [value]
            evaluations += 1
        direction = _direction(gradient, pairs)
        slope = float(gradient @ direction)
        if not slope < 0:
            if not pairs:
                return Minimum(x, value, iteration, evaluations, True)  # the gradient is zero
            pairs.clear()
            continue
        step, new_value, new_gradient, trials = _search(function, x, value, direction, slope)
        evaluations += trials
        if not new_value < value:
            if not pairs:
                return Minimum(x, value, iteration, evaluations, True)
            pairs.clear()  # once more along the gradient before giving up
            continue
        moved, change = step * direction, new_gradient - gradient
        product = float(moved @ change)
        if product > 1e-10 * float(moved.norm()) * float(change.norm()):
            pairs.append((moved, change, product))
        x, value, gradient = x + moved, new_value, new_gradient
        values.append(value)
        iteration += 1
        if callback is not None and callback(iteration, value, x):
            return Minimum(x, value, iteration, evaluations, False)
        if len(values) > PATIENCE and values[-1 - PATIENCE] - value < PATIENCE * tol * abs(value):
            return Minimum(x, value, iteration, evaluations, True)
    return Minimum(x, value, iteration, evaluations, False)


def _direction(gradient: Tensor, pairs: deque[tuple[Tensor, Tensor, float]]) -> Tensor:
    """Minus the inverse Hessian, as the pairs show it, times the gradient."""
    if not pairs:
        # The first step moves coordinates by 0.1 in the mean: function and scale are unknown yet.
        norm = float(gradient.norm())
        return gradient * (-0.1 * gradient.numel() ** 0.5 / norm if norm > 0 else 0.0)
    direction = gradient.clone()
    factors = []
    for moved, change, product in reversed(pairs):
        factor = float(moved @ direction) / product
        direction -= factor * change
        factors.append(factor)
    _, change, product = pairs[-1]
    direction *= product / float(change @ change)
    for (moved, change, product), factor in zip(pairs, reversed(factors), strict=True):
        direction += (factor - float(change @ direction) / product) * moved
    return direction.neg_()


def _search(
    function: Function, x: Tensor, value: float, direction: Tensor, slope: float
) -> tuple[float, float, Tensor, int]:
    """Step with the weak Wolfe conditions: doubled or bisected until it decreases enough and is not too short."""
    low, high, step = 0.0, float("inf"), 1.0
    best = (0.0, float("inf"), torch.zeros_like(x))
    trials = 0
    while trials < MOST_TRIALS:
        trials += 1
        new_value, new_gradient = function(x + step * direction)
        if not new_value <= value + SUFFICIENT_DECREASE * step * slope:  # NaN counts as too far
            high = step
        else:
            best = (step, new_value, new_gradient)
            if float(new_gradient @ direction) >= CURVATURE * slope:
                break
            low = step
        step = (low + high) / 2 if high < float("inf") else 2 * step
    return *best, trials
