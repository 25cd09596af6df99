"""Nodes by their labels, and features by their nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from finsler.data.matrix import plain_label, suggestion
from finsler.errors import InputError, InputTypeError
from finsler.learn.structure import check_features

Integers = NDArray[np.integer[Any]]


class NodeIndex:
    """Positions of nodes given by label; without labels the positions are the labels.

    Parameters
    ----------
    labels : list or None
    n_nodes : int
    """

    def __init__(self, labels: list[Any] | None, n_nodes: int):
        self.labels, self.n_nodes = labels, n_nodes
        self._place = None if labels is None else {plain_label(label): k for k, label in enumerate(labels)}

    def name(self, position: int) -> Any:
        """Label of a node."""
        return int(position) if self.labels is None else self.labels[position]

    def position(self, label: Any, where: str) -> int:
        """Position of a node; an unknown label is an error that says where it stood."""
        label = plain_label(label)
        if self._place is None:
            if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < self.n_nodes:
                return label
            raise InputError(f"{where}: there is no node {label!r}; nodes are 0 to {self.n_nodes - 1}.")
        try:
            return self._place[label]
        except (KeyError, TypeError):
            raise InputError(
                f"{where}: no node is labeled {label!r}.{suggestion(label, self._place)}"
            ) from None

    def pairs(self, pairs: Any) -> Integers:
        """Positions of ordered pairs given by label: shape (P, 2), a list of tuples, or a table of two columns."""
        if hasattr(pairs, "columns") and hasattr(pairs, "to_numpy"):
            pairs = pairs.to_numpy()
        array = pairs if isinstance(pairs, np.ndarray) else None
        if array is not None and (array.ndim != 2 or array.shape[1] != 2):
            raise InputError(f"pairs must have shape (P, 2), from and to; found shape {array.shape}.")
        if array is not None and array.dtype.kind in "iu" and self._place is None:
            bad = np.flatnonzero(((array < 0) | (array >= self.n_nodes)).any(axis=1))
            if bad.size:
                raise InputError(
                    f"pairs, row {bad[0]}: {array[bad[0]].tolist()} names a node that does not exist; nodes are 0 to "
                    f"{self.n_nodes - 1} ({bad.size} such rows)."
                )
            return array.astype(np.int64)
        rows = array.tolist() if array is not None else list(pairs)
        found = np.empty((len(rows), 2), dtype=np.int64)
        for k, row in enumerate(rows):
            if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
                raise InputError(f"pairs, row {k}: expected two nodes, from and to; found {row!r}.")
            found[k] = [self.position(label, f"pairs, row {k}") for label in row]
        return found


def node_features(features: Any, nodes: NodeIndex) -> Any:
    """Features as a finite float matrix, dense or CSR, with a row per node in the order of the nodes.

    A table whose index holds the labels of the nodes is put in their order.
    """
    if features is None:
        return None
    if hasattr(features, "index") and hasattr(features, "to_numpy"):
        features = _in_order(features, nodes)
    values: Any = features if issparse(features) else np.asarray(features)
    if values.dtype.kind not in "biuf":
        raise InputTypeError(
            f"features must be numbers; found dtype {values.dtype}. Encode categories as 0 and 1 first."
        )
    return check_features(values, nodes.n_nodes)


def _in_order(table: Any, nodes: NodeIndex) -> Any:
    index = [plain_label(label) for label in table.index]
    plain = index == list(range(len(index)))
    if nodes.labels is not None and not plain and len(index) == nodes.n_nodes:
        if len(set(index)) < len(index):
            raise InputError("The index of features names some nodes twice.")
        places = [nodes.position(label, "features, index") for label in index]
        return table.to_numpy()[np.argsort(places)]
    return table.to_numpy()
