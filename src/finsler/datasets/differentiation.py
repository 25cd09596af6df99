"""Cells that differentiate, made from the usual model of RNA velocity: stem cells, progenitors, and fates they end in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from finsler._arguments import as_random_state, check_arguments, check_number
from finsler._memory import require_memory
from finsler.errors import InputError, check_count

STAGE = 1.0  # how long stem cells and progenitors stay what they are
FATE = 1.5  # how long cells that have chosen are followed
BETA = 4.0  # rate of splicing
GAMMA = (0.8, 2.0)  # rates of degradation lie between these
ON, OFF = 10.0, 1.0  # rates of transcription of a gene that is on, or off
SHARE_ON = 0.3  # of the genes, in each kind of cell

Array = NDArray[np.float64]


def make_differentiation(
    n_samples: int = 600,
    *,
    n_fates: int = 3,
    n_genes: int = 200,
    n_components: int = 20,
    noise: float = 0.1,
    random_state: Any = 0,
) -> Bunch:
    """Cells on their way from a stem cell to one of several fates, with the velocity of each.

    Every gene follows the model that RNA velocity is estimated by: unspliced u and spliced s messenger RNA obey
    ``du/dt = a - b u`` and ``ds/dt = b u - g s``. The rate of transcription a depends on what the cell is: a stem cell for
    one unit of time, a progenitor for another, then one of the fates for 1.5; in each, 30 % of the genes are on. The
    cells are seen at times drawn uniformly. Observed u and s carry log-normal errors, and with them the velocity
    ``b u - g s``.

    Parameters
    ----------
    n_samples : int, default=600
        Number of cells.
    n_fates : int, default=3
        Number of fates, of which each cell takes one, with equal chances.
    n_genes : int, default=200
        Number of genes.
    n_components : int, default=20
        Number of principal components of the spliced RNA.
    noise : float, default=0.1
        Standard deviation of the logarithms of the errors.
    random_state : int, RandomState instance or None, default=0
        An int gives the same cells each time.

    Returns
    -------
    data : sklearn.utils.Bunch
        spliced, unspliced, velocity : ndarray of shape (n_samples, n_genes)
            What is observed of each cell, and ds/dt from it.
        points, current : ndarray of shape (n_samples, n_components)
            Principal components of the spliced RNA, and the velocity along them.
        clusters : ndarray of str, shape (n_samples,)
            What each cell is: "stem", "progenitor", "fate A", "fate B" ...
        time : ndarray of shape (n_samples,)
            Time since the cell left the first stem cell: the truth that a map should find.
        transitions : list of pairs of str
            Which kind turns into which.
        DESCR : str
            What the data are.

    Examples
    --------
    >>> from finsler.datasets import make_differentiation
    >>> cells = make_differentiation(100, n_fates=2)
    >>> cells.points.shape, cells.transitions
    ((100, 20), [('stem', 'progenitor'), ('progenitor', 'fate A'), ('progenitor', 'fate B')])
    """
    check_arguments(make_differentiation, locals())
    n, fates = check_count("n_samples", n_samples, 2), check_count("n_fates", n_fates, 1, 26)
    genes = check_count("n_genes", n_genes, 2)
    axes = check_count("n_components", n_components)
    if axes > min(n, genes):
        raise InputError(f"must be at most {min(n, genes)} here, got {axes}.", argument="n_components")
    check_number("noise", noise, 0.0, 10.0)
    require_memory(80.0 * n * genes, f"Data of {n:,} cells and {genes:,} genes", "Ask for fewer.")
    random = as_random_state(random_state)
    names = ["stem", "progenitor", *(f"fate {chr(65 + k)}" for k in range(fates))]
    rates = np.where(random.uniform(size=(len(names), genes)) < SHARE_ON, ON, OFF)
    start = np.where(random.uniform(size=genes) < SHARE_ON, ON, OFF)
    gamma = random.uniform(*GAMMA, size=genes)
    time = random.uniform(0, 2 * STAGE + FATE, size=n)
    fate = random.randint(fates, size=n)
    unspliced, spliced = _expression(time, fate, start, rates, gamma)
    unspliced = unspliced * np.exp(noise * random.normal(size=unspliced.shape))
    spliced = spliced * np.exp(noise * random.normal(size=spliced.shape))
    velocity = BETA * unspliced - gamma * spliced
    centered = spliced - spliced.mean(axis=0)
    components = np.linalg.svd(centered, full_matrices=False)[2][:axes].T
    components = components * np.sign(components[np.abs(components).argmax(axis=0), np.arange(axes)])
    stage = np.where(time < STAGE, 0, np.where(time < 2 * STAGE, 1, 2 + fate))
    return Bunch(
        spliced=spliced,
        unspliced=unspliced,
        velocity=velocity,
        points=centered @ components,
        current=velocity @ components,
        clusters=np.array(names)[stage],
        time=time,
        transitions=[("stem", "progenitor"), *(("progenitor", name) for name in names[2:])],
        DESCR=f"{n} simulated cells with {genes} genes and their velocities, from stem cells to {fates} fates.\n",
    )


def _expression(
    time: Array, fate: NDArray[Any], start: Array, rates: Array, gamma: Array
) -> tuple[Array, Array]:
    """Unspliced and spliced RNA of each cell: the solution of the model, stage by stage, from the balance of `start`."""
    shape = (len(time), len(gamma))
    u, s = np.broadcast_to(start / BETA, shape), np.broadcast_to(start / gamma, shape)
    for begin, length, stage in (
        (0.0, STAGE, 0 * fate),
        (STAGE, STAGE, 0 * fate + 1),
        (2 * STAGE, FATE, 2 + fate),
    ):
        spent = np.clip(time - begin, 0, length)[:, None]
        a = rates[stage]
        fast, slow = np.exp(-BETA * spent), np.exp(-gamma * spent)
        # s' = b u - g s with u = a / b + (u0 - a / b) exp(-b t)
        s = a / gamma + (s - a / gamma) * slow + (BETA * u - a) / (gamma - BETA) * (fast - slow)
        u = a / BETA + (u - a / BETA) * fast
    return u, s
