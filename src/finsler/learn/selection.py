"""Which model suits a graph: rules that depend on its size and density, and a comparison on held-out pairs.

Three kinds of model are candidates:

``features``
    An encoder of structural inputs and node features, cross-fitted.
``structure``
    The same of structural inputs alone.
``direct``
    Coordinates of their own for every node.

Direct coordinates need enough arcs per node, and then do best; encoders share what they learn among all nodes. Which
candidates a graph gets is decided by `candidates`, and the choice among them by the validation score. Of an encoder that was
chosen, a second, multi-layer version is trained, and the logits of the two are averaged.
"""

from __future__ import annotations

import numpy as np

from finsler.errors import InputError

KINDS = ("features", "structure", "direct")
MANY_NODES = (
    20_000  # above this, structural inputs are computed only where there are features to go with them
)
DENSE = 8.0  # pairs of neighbors per node from which direct coordinates alone are tried


def candidates(encoder: str, n_nodes: int, n_pairs: int, with_features: bool) -> list[str]:
    """Kinds of model to compare.

    Parameters
    ----------
    encoder : {"auto", "features", "structure", "direct"}
    n_nodes, n_pairs : int
        Size of the graph, and number of its neighboring (unordered) pairs.
    with_features : bool

    Examples
    --------
    >>> candidates("auto", 2708, 4279, True)
    ['features', 'structure', 'direct']
    >>> candidates("auto", 2277, 25425, False)
    ['direct']
    """
    if encoder != "auto":
        if encoder not in KINDS:
            raise InputError(
                f"encoder must be 'auto' or one of {', '.join(map(repr, KINDS))}; found {encoder!r}."
            )
        if encoder == "features" and not with_features:
            raise InputError(
                "encoder='features', but fit got no features; give them, or use encoder='structure'."
            )
        return [encoder]
    if with_features:
        return [*KINDS]
    sparse = n_nodes <= MANY_NODES and n_pairs < DENSE * n_nodes
    return ["structure", "direct"] if sparse else ["direct"]


def size_options(n_arcs: int, n_lessons: int) -> dict[str, int]:
    """Epochs and batch size by the number of arcs: about 24 steps an epoch, or one a fold; fewer epochs for big graphs.

    Examples
    --------
    >>> size_options(29_000, 1), size_options(930_000, 1)
    ({'epochs': 40, 'batch_size': 1208, 'evaluate_every': 2}, {'epochs': 12, 'batch_size': 32768, 'evaluate_every': 1})
    """
    epochs = int(np.clip(4_000_000 // n_arcs, 12, 40))
    return {
        "epochs": epochs,
        "batch_size": int(np.clip(n_arcs // (24 * n_lessons), 256 if n_lessons == 1 else 1024, 32768)),
        "evaluate_every": max(1, epochs // 20),
    }
