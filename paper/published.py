"""MagNet and DiGCN, as they come with torch-geometric-signed-directed, trained on our splits.

The package is imported when a function is called; it works with any torch that `finsler.learn` does.

    python paper/published.py cora --splits 0 1 2
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import Progress
from finsler.graphs.arc_set import ArcSet, arcs_of_keys
from finsler.learn.tasks import LinkSplit, PairTask, score_links, split_links

Array = NDArray[Any]


def magnet(
    split: LinkSplit,
    *,
    on: Literal["test", "validation"] = "test",
    hidden: int = 16,
    q: float = 0.25,
    learning_rate: float = 5e-3,
    epochs: int = 500,
    patience: int = 100,
    seed: int = 0,
    verbose: bool | int | str = "auto",
) -> dict[str, float]:
    """Train MagNet (Zhang et al., NeurIPS 2021) on a split and score it; needs torch-geometric-signed-directed.

    One network is trained for direction and one for existence, as its authors did, on the logarithms of in- and
    out-degree; the epoch with the best validation score counts.

    Parameters
    ----------
    split : LinkSplit
    on : {"test", "validation"}
    hidden : int
        Channels of its two layers.
    q : float
        Charge of the magnetic Laplacian: 0 ignores directions, 0.25 shows them best.
    learning_rate : float
    epochs, patience : int
        Passes over the observed arcs at most, and without an improvement.
    seed : int
    verbose : bool, int or "auto"
        Progress line.

    Examples
    --------
    Split 0 of Cora:

    >>> magnet(split, seed=0)  # doctest: +SKIP
    {'direction': 95.2..., 'existence_mixed': 85.0..., 'existence_random': 81.5...}
    """
    networks = _signed_directed("torch_geometric_signed_directed.nn.directed")
    torch = import_module("torch")
    arcs = torch.as_tensor(np.array(split.observed.T))
    inputs = torch.as_tensor(_degrees(split), dtype=torch.float32)

    def network() -> tuple[Any, Callable[[Any], Any]]:
        model = networks.MagNet_link_prediction(
            num_features=2, hidden=hidden, q=q, K=1, label_dim=2, layer=2, dropout=0.5, cached=True
        )
        return model, lambda pairs: model(inputs, inputs, arcs, pairs)

    return _train("MagNet", split, network, on, learning_rate, epochs, patience, seed, verbose)


def digcn(
    split: LinkSplit,
    *,
    on: Literal["test", "validation"] = "test",
    hidden: int = 64,
    teleport: float = 0.1,
    learning_rate: float = 1e-2,
    epochs: int = 500,
    patience: int = 100,
    seed: int = 0,
    verbose: bool | int | str = "auto",
) -> dict[str, float]:
    """Train DiGCN (Tong et al., 2020), without inception blocks, on a split; needs torch-geometric-signed-directed.

    Parameters
    ----------
    split : LinkSplit
    on : {"test", "validation"}
    hidden : int
        Channels of its two layers.
    teleport : float
        Of the PageRank that weighs its arcs.
    learning_rate : float
    epochs, patience : int
        Passes over the observed arcs at most, and without an improvement.
    seed : int
    verbose : bool, int or "auto"
        Progress line.

    Examples
    --------
    Split 0 of Cora:

    >>> digcn(split, seed=0)  # doctest: +SKIP
    {'direction': 95.2..., 'existence_mixed': 85.5..., 'existence_random': 83.6...}
    """
    networks = _signed_directed("torch_geometric_signed_directed.nn.directed")
    tools = _signed_directed("torch_geometric_signed_directed.utils.directed")
    torch = import_module("torch")
    arcs, strength = tools.cal_fast_appr(
        teleport, torch.as_tensor(np.array(split.observed.T)), split.n_nodes, torch.float32
    )
    inputs = torch.as_tensor(_degrees(split), dtype=torch.float32)

    def network() -> tuple[Any, Callable[[Any], Any]]:
        model = networks.DiGCN_link_prediction(num_features=2, hidden=hidden, label_dim=2, dropout=0.5)
        return model, lambda pairs: model(inputs, arcs, pairs, strength)

    return _train("DiGCN", split, network, on, learning_rate, epochs, patience, seed, verbose)


def _signed_directed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as missing:
        raise ImportError(
            "MagNet and DiGCN come with the package torch-geometric-signed-directed, which is not installed: "
            "pip install torch-geometric-signed-directed"
        ) from missing


def _degrees(split: LinkSplit) -> Array:
    return np.log1p(
        np.column_stack([np.bincount(split.observed[:, k], minlength=split.n_nodes) for k in (1, 0)])
    )


def training_pairs(
    split: LinkSplit, task: Literal["direction", "existence"], rng: np.random.Generator
) -> PairTask:
    """Examples to train on, from observed arcs alone: arcs against reversed ones and, for existence, pairs without arc.

    For existence the negatives are drawn as in the mixed task: a third reversed, two thirds without an *observed* arc.

    Examples
    --------
    >>> from finsler.learn.tasks import split_links
    >>> arcs = np.array([(i, j) for i in range(30) for j in range(i + 1, min(i + 4, 30))])
    >>> examples = training_pairs(split_links(arcs), "existence", np.random.default_rng(0))
    >>> examples.pairs.shape, int(examples.labels.sum())
    ((134, 2), 67)
    """
    n = split.n_nodes
    observed = ArcSet(split.observed, n)
    one_way = split.observed[~observed.contains(split.observed[:, ::-1])]
    if task == "direction":
        positives, negatives = one_way, one_way[:, ::-1]
    else:
        positives = split.observed
        reversed_ones = rng.permutation(one_way[:, ::-1])[: len(positives) // 3]
        wanted = len(positives) - len(reversed_ones)
        drawn = np.unique(rng.integers(0, n * n, size=2 * wanted + 100))
        ends = arcs_of_keys(drawn, n)
        neighbors = observed.contains(ends) | observed.contains(ends[:, ::-1])
        ends = ends[~neighbors & (ends[:, 0] != ends[:, 1])]
        negatives = np.concatenate([reversed_ones, rng.permutation(ends)[:wanted]])
    pairs = np.concatenate([positives, negatives])
    return PairTask(pairs, np.arange(len(pairs)) < len(positives))


def _train(
    name: str,
    split: LinkSplit,
    network: Callable[[], tuple[Any, Callable[[Any], Any]]],
    on: str,
    learning_rate: float,
    epochs: int,
    patience: int,
    seed: int,
    verbose: bool | int | str,
) -> dict[str, float]:
    """Train one network for direction and one for existence, each stopped by its validation score."""
    torch = import_module("torch")
    scores: dict[str, float] = {}
    for task, watched in (("direction", "direction"), ("existence", "existence_mixed")):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            examples = training_pairs(split, task, np.random.default_rng(seed))  # type: ignore[arg-type]
            pairs, labels = (
                torch.as_tensor(examples.pairs.copy()),
                torch.as_tensor(examples.labels.astype(np.int64)),
            )
            model, forward = network()
            optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, weight_decay=5e-4)

            def logit(queried: np.ndarray, model: Any = model, forward: Any = forward) -> np.ndarray:
                model.eval()
                with torch.no_grad():
                    log_chance = forward(torch.as_tensor(np.array(queried)))
                return np.asarray((log_chance[:, 1] - log_chance[:, 0]).numpy(), dtype=float)

            best, found, since = -np.inf, {}, 0
            progress = Progress(f"{name}, {task}", verbose)
            for epoch in range(epochs):
                model.train()
                optimizer.zero_grad()
                loss = torch.nn.functional.nll_loss(forward(pairs), labels)
                loss.backward()
                optimizer.step()
                reached = score_links(split.validation, logit)[watched]
                progress.update(f"epoch {epoch + 1}, loss {loss.item():.4f}, validation {reached:.2f}")
                since += 1
                if reached > best:
                    best, since = reached, 0
                    found = score_links(getattr(split, on), logit)
                if since >= patience:
                    break
            progress.close(f"validation {best:.2f}")
        scores.update({key: value for key, value in found.items() if key.startswith(task)})
    return scores


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the scores of both networks on splits of a graph of Table 2."""
    from table2 import NAMES, link_data

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("graph", choices=NAMES)
    parser.add_argument("--splits", nargs="+", type=int, default=[0], help="0 by default")
    given = parser.parse_args(arguments)
    graph, _ = link_data(given.graph)
    for k in given.splits:
        split = split_links(graph, random_state=k)
        for train in (magnet, digcn):
            scores = train(split, seed=k)
            print(f"{train.__name__}, split {k}:", ", ".join(f"{key} {v:.1f}" for key, v in scores.items()))


if __name__ == "__main__":
    main()
