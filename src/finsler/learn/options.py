"""What `LinkPredictor` can be told beyond its parameters, and the rules that follow from the size of a graph.

Three kinds of encoder are trained:

``features``
    An encoder of structural inputs and node features, cross-fitted.
``structure``
    The same of structural inputs alone.
``direct``
    Coordinates of their own for every node, which start from the closed form.

Direct coordinates need enough arcs per node, and then do best; encoders share what they learn among all nodes. Which
candidates a graph gets is decided by `candidates`, and the choice among them by the validation score; "structure" is left
out where features improve the closed form on the validation pairs, if these are 50 or more. Of an encoder that was chosen, a
second, multi-layer version is trained beside it.

``closed_form``, a map of log-PPR factors, features and SpringRank heights, needs no training. It is a candidate as well,
alone and together with what was trained. How maps are put together: `finsler.learn.blend`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from finsler._arguments import check_argument
from finsler.errors import InputError, check_choice, check_count
from finsler.learn.features import FEATURE_RANK

ENCODERS = ("features", "structure", "direct")
CLOSED_FORM = "closed_form"
OPTIMIZERS = ("adam", "randers-sgd")
# Beyond, structural inputs are computed only where there are features to go with them, and no direction is learned alone.
MANY_NODES = 20_000


@dataclass(frozen=True)
class LinkOptions:
    """Options of :class:`~finsler.LinkPredictor` that are seldom changed.

    Parameters
    ----------
    layers, width : int
        Hidden layers of the encoder, and their width.
    dropout, input_dropout : float in [0, 1)
        Probability of dropping a hidden unit, and an input.
    ensemble : bool
        Average a linear encoder and one with hidden layers; otherwise the one with ``layers`` hidden layers is used alone.
    radius, temperature : float, optional
        r and t of the decoder: learned, or fixed at the value given.
    node_radii : bool
        Whether nodes have radii of their own, ``r_ij = r + out_i + in_j``; False is the paper's decoder.
    folds : int
        Folds of the cross-fitting, in which the inputs of a fold are computed without it; 1 does without.
    ppr_rank : int
        Factors of the log-PPR matrix among the structural inputs.
    feature_rank : int
        Factors to which features are reduced.
    hops : int
        How far features are propagated.
    batch_size : int, optional
        Most arcs in a step; by default it follows from the number of arcs.
    learning_rate : float, optional
        Highest rate; by default 0.01 for direct coordinates and 0.003 for encoders.
    weight_decay : float
        Of the weights of encoders.
    optimizer : {"adam", "randers-sgd"}
        The latter is the paper's stochastic gradient descent in the Randers metric.
    negatives : int
        Random pairs per arc.
    reversed_share, direction_weight : float
        Weights in the loss, see `finsler.learn.training.link_loss`.
    patience : int
        Evaluations without a better validation score after which a training stops.

    Examples
    --------
    >>> from finsler import LinkPredictor
    >>> plain = LinkPredictor(2, options=LinkOptions(ensemble=False, node_radii=False))
    """

    layers: int = 1
    width: int = 128
    dropout: float = 0.3
    input_dropout: float = 0.2
    ensemble: bool = True
    radius: float | None = None
    temperature: float | None = None
    node_radii: bool = True
    folds: int = 3
    ppr_rank: int = 64
    feature_rank: int = FEATURE_RANK
    hops: int = 2
    batch_size: int | None = None
    learning_rate: float | None = None
    weight_decay: float = 1e-4
    optimizer: str = "adam"
    negatives: int = 4
    reversed_share: float = 1 / 3
    direction_weight: float = 0.3
    patience: int = 20

    def __post_init__(self) -> None:
        for name, annotation in type(self).__annotations__.items():
            check_argument(name, getattr(self, name), str(annotation))
        for name in ("width", "folds", "ppr_rank", "feature_rank", "negatives", "patience"):
            check_count(name, getattr(self, name))
        for name in ("layers", "hops"):
            check_count(name, getattr(self, name), 0)
        if self.batch_size is not None:
            check_count("batch_size", self.batch_size)
        for name in ("dropout", "input_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"must be in [0, 1), got {getattr(self, name)!r}.", argument=name)
        if not 0 <= self.reversed_share <= 1:
            raise InputError(f"must be in [0, 1], got {self.reversed_share!r}.", argument="reversed_share")
        for name in ("radius", "temperature", "learning_rate"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"must be above 0, got {value!r}.", argument=name)
        check_choice("optimizer", self.optimizer, OPTIMIZERS)


class Schedule(NamedTuple):
    """Length of a training and its rates: of weights, and of the single numbers (drift, radius, temperature)."""

    epochs: int
    batch_size: int
    evaluate_every: int
    learning_rate: float
    number_rate: float
    weight_decay: float


def schedule(
    options: LinkOptions, epochs: int | None, *, n_arcs: int, n_lessons: int = 1, direct: bool = True
) -> Schedule:
    """Fill in what follows from the number of arcs: about 24 steps an epoch, or one a fold; fewer epochs for big graphs."""
    # Direct coordinates start from the closed form and have less far to go.
    epochs = int(np.clip(4_000_000 // n_arcs, 4 if direct else 12, 24)) if epochs is None else epochs
    batch = int(np.clip(n_arcs // (24 * n_lessons), 256 if n_lessons == 1 else 1024, 32768))
    return Schedule(
        epochs,
        options.batch_size or batch,
        max(1, epochs // 20),
        options.learning_rate or (1e-2 if direct else 3e-3),
        2e-2 if direct else 6e-2,
        0.0 if direct else options.weight_decay,
    )


def candidates(encoder: str, n_nodes: int, with_features: bool) -> list[str]:
    """Kinds of encoder to train and compare, for a graph of so many nodes."""
    check_choice("encoder", encoder, ("auto", *ENCODERS, CLOSED_FORM))
    if encoder == "features" and not with_features:
        raise InputError(
            "encoder='features', but fit got no features; give them, or use encoder='structure'.",
            argument="encoder",
        )
    if encoder != "auto":
        return [encoder]
    if with_features:
        return [*ENCODERS]
    return ["structure", "direct"] if n_nodes <= MANY_NODES else ["direct"]
