"""Maps of the cells of an AnnData object, and where they are written in it."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from finsler._arguments import check_arguments
from finsler._html import plain
from finsler.embedding import Embedding
from finsler.graphs.cells import N_NEIGHBORS, cell_arcs, find_source
from finsler.graphs.digraph import assemble
from finsler.recipes import GraphOptions, embed_graph
from finsler.solvers.options import check_names


class CellOptions(GraphOptions, total=False):
    """Options of maps of cells: those of `embed_graph` that have a meaning for them."""

    unreachable: str
    connection: str | None
    weighting: str
    method: str
    n_pivots: int | None


def find_map(
    adata: Any,
    basis: str = "pca",
    vkey: str = "velocity",
    source: str = "auto",
    n_components: int = 2,
    *,
    alpha: float | str = "auto",
    n_neighbors: int = N_NEIGHBORS,
    speed: float | str = "auto",
    **options: Unpack[CellOptions],
) -> Embedding:
    """Map cells by the time it takes to become each other: with their velocity it goes fast, against it slowly.

    Cells are joined to cells near them; a step takes the time of a boat in a current, and longer ways the sum of their
    steps. Up costs more, so cells flow down: those that all others come from are on top, and fates are valleys.

    Parameters
    ----------
    adata : AnnData
        Positions in ``obsm["X_pca"]``, and which way cells go, see `source`. Nothing in it is changed.
    basis : str
        Positions are ``obsm["X_{basis}"]``.
    vkey : str
        First part of the names of what is about velocities, as in scVelo.
    source : str
        Key of what says which way cells go: velocities along the basis in ``obsm``; a matrix of transition probabilities,
        from row to column, in ``obsp``; or cosines of a velocity graph in ``uns``. "auto" takes the first that is
        there of ``obsm["{vkey}_{basis}"]`` (scVelo's ``velocity_embedding``), ``obsp["T_fwd"]`` (CellRank) and
        ``uns["{vkey}_graph"]`` with ``uns["{vkey}_graph_neg"]`` (scVelo), and the result says which.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Strength of the drift; "auto" fits it to the data.
    n_neighbors : int
        Cells to which each one is joined, where velocities are given; matrices say themselves which cells are joined.
    speed : float or "auto"
        Speed of the boat in units of the velocities; "auto" is the speed of which the fastest one has 60 %.
    **options
        Of :func:`finsler.embed_graph`: ``method``, ``n_pivots``, ``unreachable``, ``connection``, ``n_init`` ...;
        ``random_state`` is 0 if not given. Beyond 5,000 cells the map is a sparse one.

    Returns
    -------
    Embedding
        Its labels are the names of the cells, its attributes the columns of ``obs``. Cells without a position or velocity
        are left out and named.

    Notes
    -----
    Of a transition matrix the net share ``(p_ij - p_ji) / (p_ij + p_ji)`` of what passes between two cells counts, and
    lengths come from the basis. Rows of such matrices sum to one, so where cells have different numbers of neighbors a
    little of that is in the shares, too. A pair with a transition one way only counts as one-way: the matrix must rest on
    neighbors that are joined both ways, as those of CellRank are.

    Examples
    --------
    >>> from anndata import AnnData
    >>> import finsler
    >>> cells = finsler.datasets.make_differentiation(200)
    >>> adata = AnnData(obsm={"X_pca": cells.points, "velocity_pca": cells.current})
    >>> chart = finsler.cells.find_map(adata)
    >>> bool(chart.height[cells.clusters == "stem"].min() > chart.height[cells.time > 3].max())
    True
    """
    check_names("find_map", options, CellOptions)
    check_arguments(find_map, locals())
    arcs = cell_arcs(adata, basis, vkey, source, n_neighbors=n_neighbors, speed=speed)
    options.setdefault("random_state", 0)
    return embed_graph(assemble(arcs, None, "min"), n_components=n_components, alpha=alpha, **options)


def embed(
    adata: Any,
    basis: str = "pca",
    vkey: str = "velocity",
    source: str = "auto",
    n_components: int = 2,
    key_added: str = "finsler",
    copy: bool = False,
    *,
    alpha: float | str = "auto",
    n_neighbors: int = N_NEIGHBORS,
    speed: float | str = "auto",
    **options: Unpack[CellOptions],
) -> Any:
    """Map the cells of an AnnData object, and write the map into it: then scanpy's and scVelo's pictures can show it.

    ``sc.pl.embedding(adata, basis="finsler", color="clusters")`` draws it. The last axis is the height; cells flow down.

    Parameters
    ----------
    adata, basis, vkey, source, n_components, alpha, n_neighbors, speed, **options
        As in :func:`find_map`.
    key_added : str
        The map becomes ``obsm["X_{key_added}"]``, heights ``obs["{key_added}_height"]``, and what is known of it
        ``uns["{key_added}"]``: alpha, stress, the source, the parameters, and a summary, as plain values that h5ad can hold.
        Cells that are not on the map are NaN.
    copy : bool
        Whether to write into a copy, which is given back.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for.

    Examples
    --------
    >>> from anndata import AnnData
    >>> import finsler
    >>> cells = finsler.datasets.make_differentiation(200)
    >>> adata = AnnData(obsm={"X_pca": cells.points, "velocity_pca": cells.current})
    >>> finsler.cells.embed(adata)
    >>> adata.obsm["X_finsler"].shape, adata.uns["finsler"]["params"]["source"]
    ((200, 2), 'velocity_pca')
    """
    check_names("embed", options, CellOptions)
    check_arguments(embed, locals())
    chosen: dict[str, Any] = {"alpha": alpha, "n_neighbors": n_neighbors, "speed": speed, **options}
    chart = find_map(adata, basis, vkey, source, n_components, **chosen)
    target = adata.copy() if copy else adata
    rows = {str(name): i for i, name in enumerate(target.obs_names)}
    kept = [rows[str(name)] for name in (range(chart.n_points) if chart.labels is None else chart.labels)]
    places = np.full((len(rows), n_components), np.nan)
    places[kept] = chart.coordinates
    target.obsm[f"X_{key_added}"] = places
    target.obs[f"{key_added}_height"] = places[:, -1]
    taken, _ = find_source(adata, basis, vkey, source)
    given = {
        "basis": basis,
        "vkey": vkey,
        "source": taken.key,
        "slot": taken.slot,
        "n_components": n_components,
    }
    target.uns[key_added] = _facts(chart, {**given, **chosen})
    return target if copy else None


def _facts(chart: Embedding, given: dict[str, Any]) -> dict[str, Any]:
    """What is known of a map, as numbers and words that a file can hold."""
    shown = chart.asymmetry_shown()
    params = {name: plain(value) for name, value in given.items() if isinstance(value, str | int | float)}
    facts = {
        "alpha": float(chart.alpha),
        "stress": chart.stress,
        "normalized_stress": chart.normalized_stress,
        "asymmetry_shown": None if shown is None else shown.share,
        "status": chart.status,
        "summary": chart.summary(),
        "params": params,
    }
    return {name: value for name, value in facts.items() if value is not None}
