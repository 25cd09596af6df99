"""Mini-batches of arcs with their negatives: the same arcs reversed, and random pairs that are not arcs.

Negatives are drawn among all pairs that are not **observed** arcs. A held-out arc may thus be drawn as a negative, as
rarely as any other pair: to spare it would need the knowledge that it exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.graphs.arc_keys import among_keys, arc_keys
from finsler.learn.backend import torch

Integers = NDArray[np.integer[Any]]


class ArcSet:
    """Arcs that can be asked whether they contain a pair, many pairs at once.

    Examples
    --------
    >>> ArcSet(np.array([[0, 1], [1, 2]]), 3).contains(np.array([[1, 0], [1, 2]]))
    array([False,  True])
    """

    def __init__(self, arcs: Integers, n_nodes: int):
        self.n_nodes = n_nodes
        self._keys = np.sort(arc_keys(arcs, n_nodes))

    def contains(self, pairs: Integers) -> NDArray[np.bool_]:
        """Which of the ordered pairs are among the arcs."""
        return among_keys(self._keys, arc_keys(pairs, self.n_nodes))


@dataclass(frozen=True)
class Batch:
    """Arcs and pairs that are not arcs; shards of a batch keep the counts of the whole.

    Attributes
    ----------
    arcs : array of shape (P, 2)
    one_way : boolean array of shape (P,)
        Arcs whose reverse is no arc: their reverse is a negative.
    random : array of shape (Q, 2)
        Random pairs that are no arcs.
    counts : tuple of int
        Arcs, one-way arcs and random pairs in the whole batch, over which the loss averages.
    """

    arcs: Integers
    one_way: NDArray[np.bool_]
    random: Integers
    counts: tuple[int, int, int]

    def shard(self, rank: int, size: int) -> Batch:
        """Every ``size``-th part of the batch; the losses of the parts sum to that of the whole."""
        some = slice(rank, None, size)
        return Batch(self.arcs[some], self.one_way[some], self.random[some], self.counts)

    def pairs(self) -> tuple[Integers, int]:
        """Arcs, reversed one-way arcs and random pairs in one array, and how many are reversed."""
        reverse = self.arcs[self.one_way][:, ::-1]
        return np.concatenate([self.arcs, reverse, self.random]), len(reverse)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Arcs to learn, and the inputs from which to predict them (None for direct coordinates)."""

    arcs: Integers
    inputs: torch.Tensor | None = None


def draw_batches(
    lessons: list[Lesson],
    observed: ArcSet,
    *,
    batch_size: int,
    negatives: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Lesson, Batch]]:
    """One epoch: every arc of every lesson once, in random order, with fresh random negatives.

    Parameters
    ----------
    lessons : list of Lesson
    observed : ArcSet
        All arcs that training may know of.
    batch_size : int
        Most arcs in a batch.
    negatives : int
        Random pairs drawn per arc; those that are loops or observed arcs are thrown away.
    rng : numpy Generator
    """
    for k in rng.permutation(len(lessons)):
        lesson = lessons[k]
        if not len(lesson.arcs):
            continue
        n_batches = -(-len(lesson.arcs) // batch_size)
        order = rng.permutation(len(lesson.arcs))
        for b in range(n_batches):
            arcs = lesson.arcs[order[b::n_batches]]
            one_way = ~observed.contains(arcs[:, ::-1])
            random = rng.integers(0, observed.n_nodes, size=(negatives * len(arcs), 2))
            random = random[(random[:, 0] != random[:, 1]) & ~observed.contains(random)]
            yield lesson, Batch(arcs, one_way, random, (len(arcs), int(one_way.sum()), len(random)))
