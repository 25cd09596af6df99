"""How a map is written to a file and read back: arrays and JSON, no pickle; what is read is checked as an input is."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from finsler._io import Saved, load_archive, save_archive
from finsler.data.labels import saved_label
from finsler.data.matrix import Dissimilarities
from finsler.data.provenance import Provenance
from finsler.errors import InputError, one_line
from finsler.geometry.pairs import AlphaSource, AsymmetryShown, SampledScores, from_saved
from finsler.geometry.scaling import ScaledFacts
from finsler.solvers.swirl.choice import SwirlChoice

if TYPE_CHECKING:
    from finsler.graphs.network import Network

Map = TypeVar("Map")  # Embedding, which builds on this module

# What a map takes over from its solver as it is.
PLAIN = ("stress", "normalized_stress", "n_iter", "status", "message", "alpha_source", "n_starts", "n_same")
WITH_DATA = 1000  # maps of up to this many points are saved with their data
WITH_NETWORK = 1_000_000  # arcs up to which the digraph behind a map is saved with it


def save_map(embedding: Any, path: str | os.PathLike[str], with_data: bool | None) -> Path:
    """Write a map; see :meth:`finsler.Embedding.save`."""
    arrays = {name: getattr(embedding, name) for name in ("coordinates", "drift", "stress_per_point")}
    for name in ("misfit", "swirl"):
        if getattr(embedding, name) is not None:
            arrays[name] = getattr(embedding, name)
    keep = embedding.n_points <= WITH_DATA if with_data is None else with_data
    data, network = embedding.data, embedding.network
    if keep and data is not None:
        arrays["data_matrix"] = data.matrix
        if data.weights is not None:
            arrays["data_weights"] = data.weights
    facts, shown = embedding.provenance.to_dict(), embedding.asymmetry_shown()
    record = {
        **{name: getattr(embedding, name) for name in PLAIN},
        "labels": None if embedding.labels is None else [saved_label(label) for label in embedding.labels],
        "provenance": {**facts, "left_out": [str(label) for label in embedding.provenance.left_out]},
        "shown": None if shown is None else shown._asdict(),
        "held_out": None if embedding.held_out is None else embedding.held_out.to_dict(),
        "scaled": None if embedding.scaled is None else embedding.scaled.to_dict(),
        "data_dropped": embedding.data_dropped or (data is not None and not keep),
        "geodesic": embedding.geodesic,
        "unit": embedding.unit,
        "swirl_choice": None if embedding.swirl_choice is None else asdict(embedding.swirl_choice),
        "attributes": _save_columns(embedding.attributes, "attribute", arrays),
    }
    if network is not None and (network.graph.n_arcs <= WITH_NETWORK if with_data is None else with_data):
        record["network"] = _save_network(network, arrays)
    written = save_archive(path, "embedding", arrays, record)
    if data is not None and not keep and with_data is None:
        said = f"The data of {embedding.n_points:,} points are not in {str(path)!r}. with_data=True (--keep-data) keeps "
        said += "them; with_data=False (--no-keep-data) leaves them out without a word."
        warnings.warn(said, UserWarning, stacklevel=3)
    return written


def load_map(kind: Callable[..., Map], path: str | os.PathLike[str]) -> Map:
    """Read a map; see :meth:`finsler.Embedding.load`."""
    saved = load_archive(path, "embedding")
    coordinates = saved.array("coordinates", None, None)
    n, m = coordinates.shape
    swirl = saved.array("swirl", m, m) if "swirl" in saved.arrays else None
    drift = saved.array("drift", m, least=0 if swirl is None else None)
    sound = (not drift[:-1].any() and drift[-1:] < 1) if swirl is None else not (swirl + swirl.T).any()
    if not n or not m or not sound:
        raise saved.wrong("drift", f"is {drift.tolist()} for {n} points in {m} dimensions")
    labels = saved.labels(n)
    misfit = saved.array("misfit", None, least=0) if "misfit" in saved.arrays else None
    if misfit is not None and len(misfit) > n:
        raise saved.wrong("misfit", f"has {len(misfit)} entries for {n} points")
    stress, share = (saved.value(name, float, type(None)) for name in ("stress", "normalized_stress"))
    if (stress is None) != (share is None) or min(stress or 0.0, share or 0.0) < 0:
        raise saved.wrong("stress", f"is {stress}, and normalized {share}")
    source: Any = saved.value("alpha_source", str)
    if source not in get_args(AlphaSource):
        raise saved.wrong("alpha_source", f"is {source!r}")
    n_starts, n_same = saved.value("n_starts", int), saved.value("n_same", int)
    if not 1 <= n_same <= n_starts:
        raise saved.wrong("n_same", f"is {n_same} of {n_starts} starts")
    facts, found = _facts(saved)
    kept = saved.pairs(n)
    return kind(
        coordinates, drift, labels,
        stress=stress, normalized_stress=share,
        stress_per_point=saved.array("stress_per_point", n, nan=True),
        n_iter=saved.value("n_iter", int), status=saved.value("status", str), message=saved.value("message", str),
        data=None if kept is None else Dissimilarities(*kept, labels, facts), provenance=facts, alpha_source=source,
        misfit=misfit, data_dropped=saved.value("data_dropped", bool), swirl=swirl,
        geodesic=saved.value("geodesic", bool), n_starts=n_starts, n_same=n_same,
        attributes=_load_columns(saved, saved.record.get("attributes", []), "attribute", n),
        network=_load_network(saved, n), unit=saved.value("unit", str), **found,
    )  # fmt: skip


def _facts(saved: Saved) -> tuple[Provenance, dict[str, Any]]:
    """Provenance and scores."""
    try:
        shown, held_out = saved.record.get("shown"), saved.record.get("held_out")
        return Provenance.from_dict(saved.record.get("provenance", {})), {
            "shown": None if shown is None else from_saved(AsymmetryShown, shown),
            "held_out": None if held_out is None else SampledScores.from_dict(held_out),
            "swirl_choice": SwirlChoice.from_dict(saved.record.get("swirl_choice")),
            "scaled": ScaledFacts.from_dict(saved.record.get("scaled")),
        }
    except (TypeError, KeyError, AttributeError) as error:
        raise saved.wrong(
            "provenance or score", f"is not what it was ({one_line(str(error))[:80]})"
        ) from error


def _save_columns(
    columns: dict[str, NDArray[Any]], prefix: str, arrays: dict[str, NDArray[Any]]
) -> list[list[Any]]:
    """Names of columns, each with its words; numbers are put among the arrays."""
    record: list[list[Any]] = []
    for k, (name, values) in enumerate(columns.items()):
        if values.dtype.kind in "biuf":
            arrays[f"{prefix}_{k}"] = values
            record.append([name, None])
        else:
            record.append([name, [str(value) for value in values]])
    return record


def _load_columns(saved: Saved, record: Any, prefix: str, n: int) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    if not isinstance(record, list):
        raise saved.wrong(f"{prefix}s", "are no list of columns")
    for k, entry in enumerate(record):
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            raise saved.wrong(f"{prefix} {k}", "is no column")
        name, words = entry
        if words is None:
            values = saved.arrays.get(f"{prefix}_{k}")
            if values is None or values.dtype.kind not in "biuf" or values.shape != (n,):
                raise saved.wrong(f"{prefix} {k}", f"is no column of {n} numbers")
        elif (
            not isinstance(words, list) or len(words) != n or not all(isinstance(word, str) for word in words)
        ):
            raise saved.wrong(f"{prefix} {k}", f"is no column of {n} words")
        else:
            values = np.array(words)
        columns[name] = values
    return columns


def _save_network(network: Network, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    graph = network.graph
    arrays["network_nodes"] = np.asarray(network.nodes, dtype=np.int64)
    arrays["network_indptr"] = graph.matrix.indptr.astype(np.int64)
    arrays["network_indices"] = graph.matrix.indices.astype(np.int64)
    arrays["network_lengths"] = graph.matrix.data
    return {
        "labels": None if graph.labels is None else [saved_label(label) for label in graph.labels],
        "attributes": _save_columns(graph.attributes, "node_attribute", arrays),
    }


def _load_network(saved: Saved, n: int) -> Network | None:
    record = saved.record.get("network")
    if record is None:
        return None
    if not isinstance(record, dict):
        raise saved.wrong("network", "is no record")
    nodes, indptr, indices = (
        saved.array(f"network_{name}", None, kinds="i", least=0) for name in ("nodes", "indptr", "indices")
    )
    lengths = saved.array("network_lengths", None, least=0)
    n_nodes = len(indptr) - 1
    sound = (
        n_nodes >= 1 and indptr[0] == 0 and indptr[-1] == len(indices) == len(lengths) and (np.diff(indptr) >= 0).all()
        and (indices < n_nodes).all() and len(nodes) == n == len(np.unique(nodes)) and (nodes < n_nodes).all()
    )  # fmt: skip
    if not sound:
        raise saved.wrong("network", f"has no sound arcs between {n_nodes} nodes")
    labels = saved.names("network labels", record.get("labels"), n_nodes)
    if labels is not None and (None in labels or len({*labels}) < n_nodes):
        raise saved.wrong("network labels", "does not give each node a name of its own")
    about = _load_columns(saved, record.get("attributes", []), "node_attribute", n_nodes)
    from scipy.sparse import csr_array  # a map without arcs is measured without SciPy

    from finsler.graphs.digraph import Digraph
    from finsler.graphs.network import Network

    matrix = csr_array((lengths.astype(np.float64), indices, indptr), shape=(n_nodes, n_nodes))
    try:
        return Network(Digraph(matrix, labels, attributes=about), nodes.astype(np.intp))
    except InputError as error:
        raise saved.wrong("network", f"is not sound ({one_line(str(error))[:80]})") from error
