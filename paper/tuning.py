"""Choosing the settings of a `LinkPredictor` with Optuna, on the validation pairs of one split and nothing else.

python paper/tuning.py cora --n-trials 30 --storage output/cora.db
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array

from finsler.graphs.digraph import as_digraph
from finsler.learn import LinkOptions, LinkPredictor, split_links

PAPER_SPACE: dict[str, Sequence[Any]] = {
    "learning_rate": (5e-1, 3e-1, 2e-1, 1e-1, 5e-2, 1e-2, 5e-3, 1e-3),
    "layers": tuple(range(1, 11)),
    "width": (64, 128, 256, 512),
    "dropout": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
}
"""Candidates of the paper (its appendix)."""

SPACE: dict[str, Sequence[Any]] = PAPER_SPACE | {
    "learning_rate": (*PAPER_SPACE["learning_rate"], 2e-2, 3e-3),
    "layers": (0, *PAPER_SPACE["layers"]),
    "weight_decay": (0.0, 1e-5, 1e-4, 1e-3),
    "direction_weight": (0.0, 0.1, 0.3, 1.0),
    "folds": (1, 3, 6),
}
"""The paper's and ours."""

OPTIONS = {entry.name for entry in fields(LinkOptions)}


def make_predictor(settings: Mapping[str, Any]) -> LinkPredictor:
    """`LinkPredictor` with parameters and options from one mapping."""
    options = LinkOptions(**{name: value for name, value in settings.items() if name in OPTIONS})
    rest = {name: value for name, value in settings.items() if name not in OPTIONS}
    return LinkPredictor(**rest, options=options)


def tune(
    graph: Any,
    features: Any = None,
    *,
    storage: str | os.PathLike[str] | None = None,
    n_trials: int = 30,
    space: Mapping[str, Sequence[Any]] = SPACE,
    split: int = 0,
    forest: Literal["random", "index"] = "random",
    seed: int = 0,
    time_limit: float | None = None,
    **options: Any,
) -> Any:
    """Search settings that do best on the validation pairs of one split; its test pairs are not looked at.

    Parameters
    ----------
    graph, features
        As in `LinkPredictor.fit`.
    storage : path, optional
        SQLite file that keeps the study. A later call goes on with it until ``n_trials`` are done in all.
    n_trials : int
        Settings to try, those of earlier calls included.
    space : mapping of parameter to candidates
        `SPACE`, `PAPER_SPACE`, or your own.
    split, forest
        Which split, see `finsler.learn.split_links`.
    seed : int
        Of the search and of every training.
    time_limit : float, optional
        Seconds after which no further trial begins.
    **options
        Fixed parameters of `LinkPredictor`, or of its `LinkOptions`.

    Returns
    -------
    optuna.Study
        ``make_predictor(study.best_params)`` has the best settings; the value is the mean of the three validation scores.

    Examples
    --------
    >>> arcs = [(i, (i + step) % 30) for i in range(30) for step in (1, 2, 5)]
    >>> study = tune(arcs, n_trials=2, space={"width": (8, 16)}, epochs=2, n_components=4)
    >>> sorted(study.best_params)
    ['width']
    """
    try:
        import optuna
    except ImportError as error:
        raise ImportError("Tuning needs Optuna: pip install 'finsler[learn]'.") from error
    _check(space, options)
    digraph = as_digraph(graph, weight=None)
    held_out = split_links(digraph, random_state=split, forest=forest)
    ones = np.ones(len(held_out.observed), dtype=bool)
    matrix = coo_array((ones, tuple(held_out.observed.T)), shape=(held_out.n_nodes, held_out.n_nodes))
    observed = as_digraph(matrix, labels=digraph.labels)

    def objective(trial: Any) -> float:
        chosen = {name: trial.suggest_categorical(name, list(values)) for name, values in space.items()}
        model = make_predictor({"random_state": seed} | options | chosen)
        model.fit(observed, features=features, validation=held_out.validation)
        return float(max(model.validation_scores_.values()))

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=seed),
            study_name="finsler link prediction",
            storage=None if storage is None else _sqlite(Path(storage)),
            load_if_exists=True,
        )
        finished = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
        study.optimize(objective, n_trials=max(0, n_trials - len(finished)), timeout=time_limit)
    finally:
        optuna.logging.set_verbosity(before)
    return study


def _check(space: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]) -> None:
    """Refuse what is no parameter, and what is both searched and fixed."""
    unknown = sorted(set(space) - set(LinkPredictor().get_params()) - OPTIONS)
    if unknown:
        raise ValueError(f"space: LinkPredictor has no parameter {unknown[0]!r}.")
    both = sorted(set(space) & set(fixed))
    if both:
        raise ValueError(f"{both[0]!r} is both in space and fixed; give it once.")


def _sqlite(path: Path) -> Any:
    """Storage in a file that is open only while something is read or written: the study outlives the search."""
    from optuna.storages import RDBStorage
    from sqlalchemy.pool import NullPool

    return RDBStorage(f"sqlite:///{path.absolute()}", engine_kwargs={"poolclass": NullPool})


def main(arguments: Sequence[str] | None = None) -> None:
    """Tune on a graph of Table 2 and print what was best."""
    from table2 import NAMES, link_data

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("graph", choices=NAMES)
    parser.add_argument(
        "--n-trials", type=int, default=30, help="settings to try, earlier ones included (30)"
    )
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument(
        "--storage", type=Path, help="SQLite file that keeps the study, to go on with it later"
    )
    given = parser.parse_args(arguments)
    study = tune(*link_data(given.graph), storage=given.storage, n_trials=given.n_trials, split=given.split)
    print(f"{study.best_value:.2f} with {study.best_params}")


if __name__ == "__main__":
    main()
