"""Features of nodes, in the order of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from finsler.data.labels import LabelIndex, plain_label
from finsler.errors import InputError, InputTypeError
from finsler.learn.structure import check_features


def node_features(features: Any, nodes: LabelIndex) -> Any:
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
    return check_features(values, len(nodes))


def _in_order(table: Any, nodes: LabelIndex) -> Any:
    index = [plain_label(label) for label in table.index]
    plain = index == list(range(len(index)))
    if nodes.labels is not None and not plain and len(index) == len(nodes):
        if len(set(index)) < len(index):
            raise InputError("The index of features names some nodes twice.")
        places = [nodes.position(label, "features, index", exact=True) for label in index]
        return table.to_numpy()[np.argsort(places)]
    return table.to_numpy()
