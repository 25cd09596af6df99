"""The figures of *Finsler Multi-Dimensional Scaling* (CVPR 2025), with the numbers behind them.

Each function draws one figure from the paper's data, parameters and seeds and returns it with a record of numbers.
The stress of every method is normalized and measured against the same dissimilarities; methods without a scale of
their own (t-SNE, UMAP, force-directed layouts) get the best one.

    python paper/figures.py                          # all of them
    python paper/figures.py fig4 fig8 --out FOLDER
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from finsler._io import write_atomically
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.datasets.synthetic import make_binary_tree, make_river, make_sea, make_swiss_roll
from finsler.embedding import Embedding
from finsler.geometry import local_extrema
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import normalized_stress
from finsler.graphs.neighbors import geodesic_distances, neighborhood_graph
from finsler.graphs.paths import shortest_paths
from finsler.graphs.wormholes import consistency_weights
from finsler.plotting.canvas import pyplot
from finsler.solvers.classical import classical
from finsler.solvers.smacof import smacof

from river import fig1

Array = NDArray[Any]
Figure = tuple[Any, dict[str, Any]]

PAPER: dict[str, Any] = {
    "rule": "start",
    "zermelo": "first-order",
}  # how the paper measures an edge and a current
SEEDS = {"roll": 1, "hole": 3, "sea": 0, "river": 0}  # the seeds of the paper's code


def _roll_distances(roll: Any, alpha: float, **options: Any) -> Array:
    """Distances on a roll whose drift is scaled to ``alpha``."""
    drift = roll.drift * (alpha / roll.alpha)
    return geodesic_distances(roll.points, drift=drift, **PAPER, **options).matrix


def _symmetric_scaling(D: Array, m: int) -> Array:
    """Isomap's map: classical scaling of the symmetrized distances."""
    return classical(as_dissimilarities((D + D.T) / 2), m, 0.0).coordinates


def _scaled_stress(X: Array, D: Array) -> float:
    """Normalized stress of a layout without a drift, at its best scale."""
    e = randers_distances(X, drift=0.0)
    scale = float(np.vdot(e, D) / np.vdot(e, e))
    return normalized_stress(scale * X, D, drift=0.0)


def procrustes_correlation(X: Array, Y: Array) -> float:
    """Squared correlation of two sets of points after the best shift, rotation, reflection and scale.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> round(procrustes_correlation(X, 3 * X @ [[0.0, 1.0], [1.0, 0.0]] + 5), 12)
    1.0
    """
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    singular = np.linalg.svd(X.T @ Y, compute_uv=False)
    return float(singular.sum() ** 2 / ((X**2).sum() * (Y**2).sum()))


def _in_space(ax: Any, X: Array, color: Array, title: str, zoom: float = 1.0, **style: Any) -> None:
    ax.scatter(*X.T, c=color, **{"s": 3, "cmap": "jet", "clip_on": False, **style})
    _same_scale(ax, X, zoom)
    ax.set_title(title, fontsize=9, y=1.02)
    ax.locator_params(nbins=4)
    ax.tick_params(labelsize=6)
    ax.patch.set_visible(False)  # it would cover the numbers of the panel to the left


def _same_scale(ax: Any, X: Array, zoom: float = 1.0) -> None:
    """One unit is as long on every axis; a thin map still gets a box of some height."""
    middle, extent = (X.max(axis=0) + X.min(axis=0)) / 2, np.ptp(X, axis=0)
    extent = np.maximum(extent, 0.15 * extent.max())
    for axis, low, high in zip("xyz", middle - extent / 2, middle + extent / 2, strict=True):
        ax.set(**{f"{axis}lim": (low, high)})
    ax.set_box_aspect(extent, zoom=zoom)


def _in_plane(ax: Any, X: Array, color: Array, title: str, **style: Any) -> None:
    ax.scatter(*X.T, c=color, **{"s": 4, "cmap": "jet", **style})
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(title, fontsize=9)
    ax.tick_params(labelsize=6)


def _inclination(X: Array) -> tuple[float, float]:
    """Sine of the steepest angle of a sheet with the horizontal, and the thickness of the sheet over its width."""
    _, singular, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return float(np.linalg.norm(axes[-1, :-1])), float(singular[-1] / singular[0])


def fig2() -> Figure:
    """Swiss roll with a drift along its length (data alpha 0.3), flattened in three dimensions."""
    roll = make_swiss_roll(3000, alpha=0.3, random_state=SEEDS["roll"])
    D = _roll_distances(roll, 0.3)
    found = smacof(as_dissimilarities(D), 3, 0.5)
    sine, thickness = _inclination(found.coordinates)
    figure = pyplot().figure(figsize=(13, 4.8))
    figure.subplots_adjust(left=0.02, right=0.95, top=0.86, bottom=0.05, wspace=0.1)
    axes = [figure.add_subplot(1, 3, k, projection="3d") for k in (1, 2, 3)]
    _in_space(axes[0], roll.points, roll.t, "Swiss roll, 3000 points")
    some = np.random.default_rng(0).permutation(3000)[:250]
    _in_space(axes[1], roll.points, roll.t, "its drift: going along the arrows costs more", alpha=0.15)
    axes[1].quiver(*roll.points[some].T, *(roll.drift[some] / 0.3 * 2.5).T, color="k", lw=0.7)
    stress = normalized_stress(found.coordinates, D, drift=found.drift)
    _in_space(
        axes[2],
        found.coordinates,
        roll.t,
        f"Finsler MDS: flat and tilted; up costs more\nnormalized stress {stress:.4f}",
    )
    axes[2].set_zlabel("height", fontsize=7)
    return figure, {
        "normalized_stress": {"Finsler MDS": stress, "Isomap, 3-D": _scaled_stress(_symmetric_scaling(D, 3), D)},
        "sine_of_inclination": sine, "thickness_over_width": thickness, "passes": found.n_passes,
    }  # fmt: skip


def fig3() -> Figure:
    """Swiss roll with a hole, in two dimensions: with and without wormhole weights, beside the symmetric methods."""
    roll = make_swiss_roll(2000, alpha=0.5, hole=True, random_state=SEEDS["hole"])
    D = _roll_distances(roll, 0.5, n_neighbors=15)
    S = _roll_distances(roll, 0.0, n_neighbors=15)

    def wormhole(distances: Array, bound: float) -> Array:
        return consistency_weights(distances, roll.points, roll.boundary, bound=bound, keep=3.0)

    maps = {
        "Isomap of the symmetric roll": (_symmetric_scaling(S, 2), S, 0.0),
        "wormhole weights, symmetric roll": (
            smacof(Dissimilarities(S, wormhole(S, 1.0)), 2, 0.0, max_iter=2000).coordinates, S, 0.0,
        ),
        "Finsler MDS, uniform weights": (smacof(Dissimilarities(D), 2, 0.5).coordinates, D, 0.5),
        "Finsler MDS, wormhole weights": (
            smacof(Dissimilarities(D, wormhole(D, 0.5)), 2, 0.5, max_iter=2000).coordinates, D, 0.5,
        ),
    }  # fmt: skip
    figure = pyplot().figure(figsize=(15, 4), layout="constrained")
    _in_space(figure.add_subplot(1, 5, 1, projection="3d"), roll.points, roll.t, f"{len(D)} points, a hole")
    record: dict[str, Any] = {"points": len(D), "boundary_points": int(roll.boundary.sum()), "maps": {}}
    for k, (name, (X, data, alpha)) in enumerate(maps.items(), 2):
        match = procrustes_correlation(X, roll.coordinates)
        stress = normalized_stress(X, data, drift=alpha)
        record["maps"][name] = {"procrustes_correlation": match, "normalized_stress": stress}
        _in_plane(
            figure.add_subplot(1, 5, k), X, roll.t, f"{name}\ncorrelation with the true sheet {match:.4f}"
        )
    return figure, record


def _current_map(data: Any, name: str) -> tuple[Embedding, Any, Array, dict[str, Any]]:
    found = geodesic_distances(data.points, current=data.current, **PAPER)
    embedding = Embedding.from_solution(
        smacof(found, 3, 0.5), labels=found.labels, provenance=found.provenance, data=found
    )
    graph = neighborhood_graph(data.points, n_neighbors=10)
    extrema = local_extrema(embedding.height, graph, hops=3)
    D = found.matrix
    return embedding, extrema, D, {
        "normalized_stress": {
            "Finsler MDS": embedding.normalized_stress,
            "Isomap, 2-D": _scaled_stress(_symmetric_scaling(D, 2), D),
            "Isomap, 3-D": _scaled_stress(_symmetric_scaling(D, 3), D),
        },
        "data": name,
    }  # fmt: skip


def fig4() -> Figure:
    """A sea with currents, unflattened: peaks are where the current springs up, pits where it gathers."""
    sea = make_sea(2000, random_state=SEEDS["sea"])
    embedding, extrema, _, record = _current_map(sea, "sea")
    inner = ((sea.points > 0.7) & (sea.points < 9.3)).all(axis=1)  # at the shore a current has no other side
    peaks, pits = ([i for i in found if inner[i]] for found in extrema)
    figure = pyplot().figure(figsize=(14, 6), layout="constrained")
    flat = figure.add_subplot(1, 2, 1)
    drawn = flat.scatter(*sea.points.T, c=embedding.height, s=12, cmap="viridis")
    flat.quiver(*sea.points.T, *sea.current.T, color="k", alpha=0.5, width=0.0015, scale=25)
    solid = figure.add_subplot(1, 2, 2, projection="3d")
    _in_space(solid, embedding.coordinates, embedding.height, "unflattened: Finsler MDS", cmap="viridis")
    for marks, color, text in ((peaks, "black", "peak: source"), (pits, "gray", "pit: sink")):
        flat.scatter(*sea.points[marks].T, c=color, s=70, edgecolor="white", label=text, zorder=4)
        solid.scatter(*embedding.coordinates[marks].T, c=color, s=50, depthshade=False)
    flat.legend(fontsize=8, loc="upper right")
    flat.set_aspect("equal")
    flat.set_title("current (arrows) and height of the map (color)", fontsize=9)
    figure.colorbar(drawn, ax=flat, label="height", shrink=0.7)
    record["divergence"] = {
        "at_peaks": sea.divergence[peaks].tolist(), "at_pits": sea.divergence[pits].tolist(),
        "median_at_peaks": float(np.median(sea.divergence[peaks])),
        "median_at_pits": float(np.median(sea.divergence[pits])),
        "quantile_0.1_and_0.9_of_all": np.quantile(sea.divergence, [0.1, 0.9]).tolist(),
    }  # fmt: skip
    return figure, record


def fig5() -> Figure:
    """Directed binary trees of depth 3 to 7: symmetric methods lose the hierarchy, the height shows it.

    UMAP and the spring layout have a row where `umap` and `networkx` are installed.
    """
    from sklearn.manifold import TSNE

    plt = pyplot()
    packages = {"UMAP": "umap", "Fruchterman-Reingold": "networkx"}
    methods = [
        name
        for name in ("t-SNE", "UMAP", "Fruchterman-Reingold", "Isomap", "Finsler MDS")
        if name not in packages or importlib.util.find_spec(packages[name])
    ]
    depths = range(3, 8)
    figure, axes = plt.subplots(
        len(methods), len(depths), figsize=(13, 2.4 * len(methods)), layout="constrained"
    )
    record: dict[str, Any] = {}
    for column, depth in enumerate(depths):
        tree = make_binary_tree(depth)
        D = shortest_paths(tree.graph, verbose=False)
        S = (D + D.T) / 2
        n = len(D)
        finsler = smacof(as_dissimilarities(D), 2, 0.5)
        layouts = {
            "t-SNE": TSNE(metric="precomputed", init="random", perplexity=min(30, (n - 1) / 3), random_state=0)
            .fit_transform(S),
            "UMAP": _umap(S) if "UMAP" in methods else None,
            "Fruchterman-Reingold": _spring_layout(tree.graph) if "Fruchterman-Reingold" in methods else None,
            "Isomap": _symmetric_scaling(D, 2),
            "Finsler MDS": finsler.coordinates,
        }  # fmt: skip
        numbers: dict[str, Any] = {"nodes": n}
        record[f"depth {depth}"] = numbers
        for row, name in enumerate(methods):
            ax, X = axes[row, column], layouts[name]
            ax.set(xticks=[], yticks=[])
            if column == 0:
                ax.set_ylabel(name)
            assert X is not None, "the method is installed"
            ax.scatter(*X.T, c=tree.depth, cmap="viridis", s=12)
            ours = name == "Finsler MDS"
            stress = normalized_stress(X, D, drift=0.5) if ours else _scaled_stress(X, D)
            order = float(spearmanr(tree.depth, X[:, 1]).statistic)
            numbers[name] = {"normalized_stress": stress, "rank_correlation_of_depth_and_y": order}
            if ours:
                levels = [X[tree.depth == k, 1] for k in range(depth + 1)]
                numbers[name]["each_level_wholly_below_its_parents"] = all(
                    bool(child.max() < parent.min()) for parent, child in pairwise(levels)
                )
            ax.set_title(
                f"{f'depth {depth}, {n} nodes' if row == 0 else ''}\nstress {stress:.3f}", fontsize=8
            )
    figure.suptitle(
        "Color: depth. Only Finsler MDS puts the root on top and each level below its parents",
        fontsize=10,
    )
    return figure, record


def _umap(S: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import umap  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return np.asarray(umap.UMAP(metric="precomputed", random_state=0).fit_transform(S))


def _spring_layout(graph: Any) -> Array:
    import networkx as nx

    G = nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph).to_undirected()
    for _, _, arc in G.edges(data=True):
        arc["weight"] = 1 / arc["weight"]  # a short arc pulls harder
    place = nx.spring_layout(G, seed=0)
    return np.array([place[i] for i in range(len(place))])


def fig6() -> Figure:
    """Swiss rolls with data alpha 0 to 0.6, each flattened in the same space: the more asymmetric, the steeper."""
    roll = make_swiss_roll(3000, alpha=0.5, random_state=SEEDS["roll"])
    figure = pyplot().figure(figsize=(9, 7), layout="constrained")
    ax = figure.add_subplot(projection="3d")
    record: dict[str, Any] = {"embedding_alpha": 0.8, "sheets": {}}
    everything = []
    reference: Array | None = None
    for data_alpha, color in zip(
        (0.0, 0.1, 0.3, 0.5, 0.6), pyplot().cm.plasma(np.linspace(0, 0.85, 5)), strict=True
    ):
        D = _roll_distances(roll, data_alpha)
        X = smacof(as_dissimilarities(D), 3, 0.8).coordinates
        if reference is None:
            reference = X
        else:  # the horizontal frame is arbitrary: turn it to that of the first sheet
            left, _, right = np.linalg.svd(X[:, :2].T @ reference[:, :2])
            X = np.column_stack([X[:, :2] @ left @ right, X[:, 2]])
        sine, thickness = _inclination(X)
        record["sheets"][str(data_alpha)] = {
            "sine_of_inclination": sine, "expected": data_alpha / 0.8, "thickness_over_width": thickness,
            "normalized_stress": normalized_stress(X, D, drift=0.8),
        }  # fmt: skip
        ax.scatter(*X.T, s=2, color=color, label=f"data alpha {data_alpha}: sine {sine:.2f}")
        everything.append(X)
    _same_scale(ax, np.concatenate(everything))
    ax.locator_params(nbins=5)
    ax.locator_params(axis="y", nbins=2)  # the short axis has no room for more
    ax.set_zlabel("height (up costs more)")
    ax.view_init(elev=12, azim=-60)
    ax.legend(markerscale=5, fontsize=8, loc="upper left")
    ax.set_title("Swiss rolls of several asymmetries in one space (alpha = 0.8)", fontsize=10)
    return figure, record


def fig7() -> Figure:
    """The symmetric Swiss roll in three dimensions: Isomap bends it, Finsler MDS keeps it flat and level."""
    roll = make_swiss_roll(3000, alpha=0.5, random_state=SEEDS["roll"])
    D = _roll_distances(roll, 0.0)
    isomap = _symmetric_scaling(D, 3)
    finsler = smacof(as_dissimilarities(D), 3, 0.5).coordinates
    figure = pyplot().figure(figsize=(13, 4.8))
    figure.subplots_adjust(left=0.02, right=0.95, top=0.86, bottom=0.05, wspace=0.1)
    record = {}
    titles = ("the symmetric roll", "Isomap in three dimensions", "Finsler MDS in three dimensions")
    for k, (X, title) in enumerate(zip((roll.points, isomap, finsler), titles, strict=True), 1):
        if k > 1:
            alpha = 0.5 if k == 3 else 0.0
            stress = normalized_stress(X, D, drift=alpha)
            singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
            flat = float(singular[2] / singular[0])
            record[title] = {"normalized_stress": stress, "thickness_over_width": flat}
            title += f"\nthickness over width {flat:.2g}, stress {stress:.4f}"
        _in_space(
            figure.add_subplot(1, 3, k, projection="3d"), X, roll.t, title, zoom=1.0 if k == 1 else 1.05
        )
    return figure, record


def fig8() -> Figure:
    """A river: upstream is up."""
    river = make_river(1000, random_state=SEEDS["river"])
    embedding, _, _, record = _current_map(river, "river")
    figure = pyplot().figure(figsize=(13, 7))
    flat = figure.add_axes((0.05, 0.72, 0.9, 0.24))
    flat.quiver(*river.points.T, *river.current.T, embedding.height, cmap="viridis", width=0.001, scale=12)
    flat.set_aspect("equal")
    flat.set_title("current; color: height of the map", fontsize=9)
    # Left and right are open: let the map run as the river does.
    downstream = np.sign(np.corrcoef(embedding.coordinates[:, 0], river.points[:, 0])[0, 1])
    X = embedding.coordinates * [downstream, 1, 1]
    stress = embedding.normalized_stress
    solid = figure.add_axes((0.02, 0.0, 0.96, 0.68), projection="3d")
    _in_space(
        solid,
        X,
        embedding.height,
        f"Finsler MDS: the river falls (normalized stress {stress:.4f})",
        zoom=1.5,
        cmap="viridis",
    )
    solid.view_init(elev=15, azim=-75)
    record["rank_correlation_of_height_and_distance_downstream"] = float(
        spearmanr(embedding.height, river.points[:, 0]).statistic
    )
    return figure, record


DRAWN = (fig1, fig2, fig3, fig4, fig5, fig6, fig7, fig8)
FIGURES: dict[str, Callable[[], Figure]] = {f.__name__: f for f in DRAWN}


def reproduce(name: str, folder: str | Path = "output") -> tuple[Path, Path]:
    """Draw a figure of the paper; write ``NAME.png`` and, with the numbers behind it, ``NAME.json``.

    Parameters
    ----------
    name : str
        "fig1" to "fig8".
    folder : path-like
        Where to write; made if it does not exist.

    Returns
    -------
    picture, numbers : Path, Path
    """
    if name not in FIGURES:
        raise ValueError(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    figure, record = FIGURES[name]()
    about = (FIGURES[name].__doc__ or "").splitlines()[0]
    record = {"figure": name, "about": about, "seconds": round(time.perf_counter() - began, 2), **record}
    picture = write_atomically(
        folder / f"{name}.png", lambda file: figure.savefig(file, format="png", dpi=130)
    )
    pyplot().close(figure)

    def write_record(file: IO[bytes]) -> None:
        file.write((json.dumps(record, indent=1) + "\n").encode())

    return picture, write_atomically(folder / f"{name}.json", write_record)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figures that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}; all by default"
    )
    parser.add_argument("--out", type=Path, default=Path("output/figures"), help="folder (output/figures)")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.figures if name not in FIGURES]:
        parser.error(f"there is no figure {unknown[0]!r}; there are {', '.join(FIGURES)}")
    pyplot().switch_backend("agg")
    for name in given.figures or FIGURES:
        picture, numbers = reproduce(name, given.out)
        print(f"{name}: {(FIGURES[name].__doc__ or '').splitlines()[0]} -> {picture}, {numbers}", flush=True)


if __name__ == "__main__":
    main()
