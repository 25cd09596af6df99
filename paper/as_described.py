"""Finsler representation learning as the paper describes it, once, without anything of ours: a row in both tables.

A multi-layer perceptron maps inputs of the nodes to R^m; a Fermi-Dirac decoder makes probabilities of arcs from the squared
canonical Randers distance; a weighted cross-entropy with negative sampling is minimized by Riemannian stochastic gradient
descent with the Randers metric; Optuna chooses learning rate, number of hidden layers, their width and dropout from the
candidates in the paper's appendix, for each graph and dimension, by the validation pairs of split 0. These settings are then
frozen: for the splits of Table 2, and for the whole graph of Table 1.

    python paper/as_described.py --graphs cora citeseer --dims 2 5 10 50

Studies (``studies/``, one file each, written after each trial) and cells (``results/``) that are there are not run again, so
that a run can be stopped and continued; a study that was stopped goes on as if it had not been. `CHOICES` says what the
paper leaves open and what was chosen.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from finsler._runtime import Progress
from finsler.geometry.randers import drift_vector
from finsler.graphs.arc_set import ArcSet
from finsler.graphs.paths import shortest_paths
from finsler.graphs.scores import digraph_scores
from finsler.learn.model import randers_distance, torch, torch_threads
from finsler.learn.optimizers import steepest_ascent
from finsler.learn.tasks import LinkTasks, mean_score, score_links, split_links

from cells import command, kept_result, read_results, show, write_result, write_text
from published.networks import seeded
from table2 import NAMES, TASKS, link_data, mean_text
from tuning import PAPER_SPACE

Array = NDArray[Any]

ALPHA, RADIUS, TEMPERATURE = 0.5, 2.0, 1.0
EPOCHS, PATIENCE, BATCHES, NEGATIVES = 50, 10, 10, 5
LOOK_EVERY = 5  # epochs between two looks at the validation pairs
SPACE = {"inputs": ("features", "identity"), **PAPER_SPACE}
N_TRIALS, RANDOM_TRIALS, DIMENSIONS, SPLITS = 12, 6, (2, 5, 10, 50), (0, 1, 2)

CHOICES = f"""\
**What the paper leaves open, and what was chosen.**

* The drift points along the last axis and has alpha = {ALPHA}; the decoder has r = {RADIUS:g} and t = {TEMPERATURE:g}, as
  in the hyperbolic graph networks that it comes from. None of them is among the settings that the paper searches.
* Inputs are the words of the papers or one unit vector for each node: one more candidate in the search, of which each study
  has {N_TRIALS} trials (Optuna's TPE, the first {RANDOM_TRIALS} at random): a small study, for two cores. Many trials
  diverge, since half of the paper's learning rates are large for plain gradient descent; they count as 0.
* Hidden layers have ReLU and dropout, no normalization. Weights start at random with the variance that keeps the length of
  rows, the last ones such that two nodes are r apart in the mean of squares: from the usual small start, where all distances
  are near 0, little moves.
* {NEGATIVES} uniform pairs without an observed arc are drawn for each arc, anew each time; both kinds weigh the same in
  the loss. An epoch has {BATCHES} batches, a training at most {EPOCHS} epochs, or {PATIENCE} without a better mean of the
  validation scores, and the best epoch is kept. On the whole graph, where nothing validates, it has as many epochs as were
  best in the study.
* The Riemannian gradient in a point is the direction of steepest descent in the Randers norm, which is the Legendre dual of
  the Euclidean gradient. Straight lines are the geodesics, so that the retraction is an addition. Through the network this
  gradient is pulled back to the weights, less its mean over the nodes: a movement of the whole map, which changes no
  distance but grows without end.
* Distances are in the unit of the decoder, not in arcs: in Table 1 the map is first multiplied by the factor that gives the
  least distortion."""


class Network(torch.nn.Module):
    """From inputs of the nodes, a sparse matrix or None for unit vectors, to their places."""

    def __init__(self, inputs: Any, n_nodes: int, n_components: int, layers: int, width: int, dropout: float):
        super().__init__()
        self.inputs = inputs
        self.first = torch.nn.Linear(n_nodes if inputs is None else inputs.shape[1], width)
        rest: list[torch.nn.Module] = []
        for _ in range(layers - 1):
            rest += [torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(width, width)]
        self.rest = torch.nn.Sequential(
            *rest, torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(width, n_components)
        )
        # Rows of inputs have length one, and so have, in the mean, those of all layers but the last.
        for linear in (self.first, *(part for part in self.rest if isinstance(part, torch.nn.Linear))):
            torch.nn.init.normal_(linear.weight, std=math.sqrt(2 / width))
            torch.nn.init.zeros_(linear.bias)
        torch.nn.init.normal_(linear.weight, std=math.sqrt(RADIUS / (2 * n_components)))

    def forward(self) -> torch.Tensor:
        """Places of all nodes."""
        weights = self.first.weight.T
        hidden = weights if self.inputs is None else torch.sparse.mm(self.inputs, weights)
        return self.rest(hidden + self.first.bias)


def arc_logits(X: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
    """Logits of the Fermi-Dirac decoder for arcs from the first to the second node of each pair."""
    return (RADIUS - randers_distance(X[pairs[:, 0]], X[pairs[:, 1]], ALPHA).square()) / TEMPERATURE


def train(
    arcs: Array, n_nodes: int, features: Any, n_components: int, settings: dict[str, Any], *, seed: int = 0,
    validation: LinkTasks | None = None, epochs: int = EPOCHS,
) -> tuple[Array, int, float]:  # fmt: skip
    """Places of the nodes, the number of epochs they took, and the mean of their validation scores.

    Without validation pairs all epochs are run, and the score says nothing.
    """
    with seeded(seed), torch_threads(1):
        inputs = None if settings["inputs"] == "identity" else sparse_inputs(features)
        network = Network(
            inputs, n_nodes, n_components, settings["layers"], settings["width"], settings["dropout"]
        )
        optimizer = torch.optim.SGD(network.parameters(), lr=settings["learning_rate"])
        known, rng = ArcSet(arcs, n_nodes), np.random.default_rng(seed)
        best = (-math.inf, 0, places(network))
        for epoch in range(1, epochs + 1):
            network.train()
            for batch in np.array_split(rng.permutation(arcs), BATCHES):
                loss_step(network, optimizer, batch, known, n_nodes, rng)
            if epoch % LOOK_EVERY and epoch < epochs:
                continue
            X = places(network)
            if not np.isfinite(X).all():  # too large a learning rate: what was best before counts
                break
            score = epoch if validation is None else mean_score(score_links(validation, logit(X)))
            if score > best[0]:
                best = (score, epoch, X)
            if epoch - best[1] >= PATIENCE:
                break
        score, epoch, X = best
        return X, epoch, score


def loss_step(
    network: Network, optimizer: Any, batch: Array, known: ArcSet, n_nodes: int, rng: np.random.Generator
) -> None:
    """One step of Riemannian gradient descent on the cross-entropy of some arcs and sampled negatives."""
    drawn = rng.integers(n_nodes, size=(NEGATIVES * len(batch), 2))
    drawn = drawn[(drawn[:, 0] != drawn[:, 1]) & ~known.contains(drawn)]
    X = network()
    held = X.detach().requires_grad_()
    softplus = torch.nn.functional.softplus
    loss = softplus(-arc_logits(held, torch.as_tensor(batch))).mean()
    loss = loss + softplus(arc_logits(held, torch.as_tensor(drawn))).mean()
    loss.backward()
    optimizer.zero_grad()
    step = steepest_ascent(-held.grad, ALPHA)
    # Steps of two ends of a pair do not cancel as gradients do. Their mean moves the whole map, which changes no distance,
    # but through the network it would grow without end.
    X.backward(step.mean(0) - step)
    optimizer.step()


def sparse_inputs(features: Any) -> torch.Tensor:
    """Features with rows of length one, as a sparse tensor."""
    matrix = csr_array(features if issparse(features) else np.asarray(features), dtype=np.float32)
    lengths = np.maximum(np.sqrt(matrix.power(2).sum(axis=1)), 1e-12)
    ends = matrix.tocoo()
    places = np.stack([ends.row, ends.col])
    return torch.sparse_coo_tensor(
        places, ends.data / lengths[ends.row], matrix.shape, check_invariants=True
    ).coalesce()


@torch.no_grad()
def places(network: Network) -> Array:
    """Where the network puts the nodes, without dropout."""
    return network.eval()().double().numpy()


def logit(X: Array) -> Any:
    """Logit of pairs of nodes at these places."""
    return lambda pairs: arc_logits(torch.as_tensor(X), torch.as_tensor(np.ascontiguousarray(pairs))).numpy()


def study(graph: str, n_components: int, folder: Path, n_trials: int = N_TRIALS) -> dict[str, Any]:
    """Settings chosen by the validation pairs of split 0; each trial is kept in a file.

    The sampler of trial k has seed k and knows the earlier trials from the file: stopping changes nothing.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path = folder / f"{graph}-m{n_components}.json"
    space = {name: list(values) for name, values in SPACE.items()}
    matrix, features = link_data(graph)
    if features is None:
        space["inputs"] = ["identity"]
    kept = kept_result(path, "space", space)
    trials = [] if kept is None else kept["trials"]
    split = split_links(matrix, random_state=0)
    choices = {name: optuna.distributions.CategoricalDistribution(values) for name, values in space.items()}
    while len(trials) < n_trials:
        sampler = optuna.samplers.TPESampler(seed=len(trials), n_startup_trials=RANDOM_TRIALS)
        search = optuna.create_study(direction="maximize", sampler=sampler)
        for trial in trials:
            search.add_trial(
                optuna.create_trial(params=trial["settings"], distributions=choices, value=trial["score"])
            )
        settings = search.ask(choices).params
        _, epochs, score = train(
            split.observed, split.n_nodes, features, n_components, settings, validation=split.validation
        )
        trials.append(
            {"settings": settings, "score": score if math.isfinite(score) else 0.0, "epochs": epochs}
        )
        write_result(path, {"graph": graph, "n_components": n_components, "space": space, "trials": trials})
    return max(trials[:n_trials], key=lambda trial: trial["score"])


def run_cell(graph: str, m: int, split: int | None, chosen: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Result of a cell: a split of Table 2, or the whole graph (None) of Table 1; read, or computed and written."""
    path = folder / f"{graph}-m{m}-{'whole' if split is None else f'split{split}'}.json"
    kept = kept_result(path, "settings", chosen["settings"])
    if kept is not None:
        return kept
    began = time.perf_counter()
    matrix, features = link_data(graph)
    result: dict[str, Any] = {
        "graph": graph, "n_components": m, "split": split, "settings": chosen["settings"]
    }  # fmt: skip
    if split is None:
        ends = matrix.matrix.tocoo()
        arcs = np.column_stack([ends.row, ends.col])
        epochs = max(1, chosen["epochs"])
        X, *_ = train(arcs, matrix.n_nodes, features, m, chosen["settings"], epochs=epochs)
        factor = best_factor(X, matrix.matrix)
        result |= {"epochs": epochs, "factor": factor}
        for key, places in (("scores", factor * X), ("unscaled", X)):
            result[key] = asdict(digraph_scores(places, drift_vector(ALPHA, m), matrix, verbose=False))
    else:
        held = split_links(matrix, random_state=split)
        X, epochs, _ = train(
            held.observed,
            held.n_nodes,
            features,
            m,
            chosen["settings"],
            seed=split,
            validation=held.validation,
        )
        result |= {"epochs": epochs, "test": score_links(held.test, logit(X))}
        result["validation"] = score_links(held.validation, logit(X))
    result["seconds"] = round(time.perf_counter() - began, 1)
    write_result(path, result)
    return result


def best_factor(X: Array, adjacency: Any) -> float:
    """The factor s with the least mean of (s d - D)^2 / D over reachable pairs."""
    D = shortest_paths(adjacency, method="bfs", verbose=False)
    above = below = 0.0
    places = torch.as_tensor(X)
    for source, hops in enumerate(D):
        there = np.isfinite(hops) & (hops > 0)
        d = randers_distance(places[source], places[torch.as_tensor(there)], ALPHA).numpy()
        above, below = above + d.sum(), below + (d * d / hops[there]).sum()
    return float(above / below) if below > 0 else 1.0


def run(
    graphs: Sequence[str] = ("cora", "citeseer"),
    dims: Sequence[int] = DIMENSIONS,
    splits: Sequence[int] = SPLITS,
    out: Path = Path("output/as_described"),
    *,
    n_trials: int = N_TRIALS,
    verbose: bool | str = "auto",
) -> Path:
    """Run the studies and cells that are missing and write the table."""
    studies, cells = out / "studies", out / "results"
    for folder in (studies, cells):
        folder.mkdir(parents=True, exist_ok=True)
    progress = Progress("as described", verbose)
    for graph in graphs:
        for m in dims:
            progress.update(f"{graph}, m = {m}")
            chosen = study(graph, m, studies, n_trials)
            for split in (None, *splits):
                run_cell(graph, m, split, chosen, cells)
            write_table(out)
    progress.close("done")
    return write_table(out)


def write_table(out: Path) -> Path:
    """The table of all cells that are there."""
    return write_text(out / "as_described.md", table_markdown(read_results(out / "results")))


def table_markdown(results: Iterable[dict[str, Any]]) -> str:
    """Both tables in one: distortion and MAPs of the whole graph, link prediction on the splits, chosen settings."""
    lines = [
        "# As described in the paper",
        "",
        "B / MAP among all / MAP among reachable nodes of the whole graph; link prediction in percent, mean of the splits.",
        "",
        "| graph | m | B / MAP / MAP reachable | B unscaled | existence, mixed | existence, random | direction | splits "
        "| settings |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((list(NAMES).index(result["graph"]), result["n_components"]), []).append(result)
    for (at, m), group in sorted(groups.items()):
        whole = next((result for result in group if result["split"] is None), None)
        splits = [result for result in group if result["split"] is not None]
        means = [mean_text([result["test"][task] for result in splits]) if splits else "" for task in TASKS]
        scores = whole_text(whole) if whole else ""
        unscaled = f"{whole['unscaled']['B']:.3f}" if whole else ""
        settings = json.dumps(group[0]["settings"]).strip("{}").replace('"', "")
        row = [list(NAMES.values())[at], m, scores, unscaled, *means, len(splits), settings]
        lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join([*lines, "", CHOICES, ""])


def whole_text(result: dict[str, Any]) -> str:
    """Scores of the map of a whole graph, as in Table 1."""
    scores = result["scores"]
    return " / ".join(f"{scores[key]:.4f}" for key in ("B", "MAP", "MAP_reachable"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the arguments ask for."""
    parser = command(__doc__, "output/as_described")
    parser.add_argument("--graphs", nargs="+", choices=NAMES, default=("cora", "citeseer"))
    parser.add_argument("--dims", nargs="+", type=int, default=DIMENSIONS, help="2 5 10 50 by default")
    parser.add_argument("--splits", nargs="+", type=int, default=SPLITS, help="0 1 2 by default")
    parser.add_argument("--n-trials", type=int, default=N_TRIALS, help=f"of each study ({N_TRIALS})")
    given = parser.parse_args(arguments)
    table = run(
        given.graphs, given.dims, given.splits, given.out, n_trials=given.n_trials,
        verbose=False if given.quiet else "auto",
    )  # fmt: skip
    show(table, given.quiet)


if __name__ == "__main__":
    main()
