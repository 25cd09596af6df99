"""LinkPredictor: which arcs a digraph lacks, and which way they run."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from finsler._io import load_archive, save_archive
from finsler._runtime import thread_count
from finsler.data.labels import LabelIndex, plain_label
from finsler.embedding import Embedding
from finsler.errors import InputError, InputTypeError
from finsler.graphs.arc_keys import simple_arcs
from finsler.graphs.digraph import as_digraph
from finsler.learn.backend import torch
from finsler.learn.fitted import FittedModel, mean_logits
from finsler.learn.fitting import Fitter, Problem, Settings
from finsler.learn.nodes import node_features
from finsler.learn.structure import feature_factors
from finsler.learn.tasks import LinkTasks, score_links, split_links

Array = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]


class LinkPredictor(BaseEstimator):
    """Learns a digraph in Randers space, to say which further arcs are likely and which way they run.

    An arc from i to j is likely where the Randers distance from x_i to x_j is short:
    ``p = 1 / (1 + exp((d(x_i, x_j)^2 - r_ij) / t))`` with ``d(x, y) = ||y - x|| + alpha (y - x)[last]``. Arcs run downhill.

    With the default options what suits the graph is found out, not asked for: see `finsler.learn.selection` for the rules,
    and ``validation_scores_`` for the comparison on held-out pairs.

    Parameters
    ----------
    n_components : int, default=64
        Dimension of the space, the height included.
    encoder : {"auto", "features", "structure", "direct"}, default="auto"
        Where points come from: an encoder of structural inputs and features, of structural inputs alone, or
        coordinates of their own for each node. "auto" compares them on held-out pairs.
    layers, width : int, default=1, 128
        Hidden layers of the encoder, and their width.
    dropout, input_dropout : float, default=0.3, 0.2
        Probability of dropping a hidden unit, and an input.
    ensemble : bool, default=True
        Average a linear encoder and one with hidden layers; otherwise the one with ``layers`` hidden layers is used alone.
    alpha, radius, temperature : float, optional
        Drift, r and t of the decoder: learned, or fixed at the value given.
    node_radii : bool, default=True
        Whether nodes have radii of their own, ``r_ij = r + out_i + in_j``; False is the paper's decoder.
    folds : int, default=6
        Folds of the cross-fitting (see `finsler.learn.crossfit`); 1 does without.
    ppr_rank : int, default=64
        Factors of the log-PPR matrix among the structural inputs.
    text_rank : int, default=128
        Factors to which features are reduced.
    hops : int, default=2
        How far features are propagated.
    epochs, batch_size : int, optional
        By default they follow from the number of arcs, see `finsler.learn.selection.size_options`.
    learning_rate : float, optional
        By default 0.02 for direct coordinates and 0.003 for encoders.
    weight_decay : float, default=1e-4
        Of the weights of encoders.
    optimizer : {"adam", "randers-sgd"}, default="adam"
        The latter is the paper's stochastic gradient descent in the Randers metric.
    negatives : int, default=4
        Random pairs per arc.
    reversed_share, direction_weight : float, default=1/3, 0.3
        Weights in the loss, see `finsler.learn.losses.link_loss`.
    patience : int, default=20
        Evaluations without a better validation score after which a training stops.
    validation_share : float, default=0.05
        Share of the pairs that `fit` holds out, if it is not given validation tasks. 0 trains to the end and, with
        encoder="auto", takes the first candidate.
    device : str, default="auto"
        "cpu", "cuda", ...; "auto" takes a GPU if there is one.
    n_jobs : int, optional
        Threads of the training: one by default, which is the fastest for most graphs; -1 means all cores.
    random_state : int, RandomState instance or None, default=None
        Seed. The same seed gives the same numbers.
    verbose : bool or "auto", default="auto"
        Progress line on stderr, with loss and validation score.
    time_limit : float, optional
        Seconds after which the best model so far is taken.
    checkpoint : path, optional
        Folder where the state of the training is kept. A `fit` with the same graph, features and options that finds
        it goes on where the last one was killed, and ends with the same numbers.
    checkpoint_every : float, default=30
        Seconds between checkpoints.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Coordinates of the nodes, by the best single model. Arcs run down along the last axis.
    result_ : Embedding
        The same with labels: measure, save, plot, explore.
    alpha_ : float
        Strength of the drift.
    encoder_ : {"features", "structure", "direct"}
        What was chosen.
    validation_scores_ : dict
        Mean validation score (areas under ROC curves, percent) of each candidate.
    labels_ : list or None
        Labels of the nodes.
    history_ : dict
        For each training: epoch, loss and validation scores at every evaluation.
    status_ : {"finished", "time_limit", "interrupted"}
        How it ended.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> arcs = [(f"p{i}", f"p{j}") for i in range(40) for j in rng.choice(i, min(i, 4), replace=False)]
    >>> model = LinkPredictor(n_components=8, epochs=10, random_state=0, n_jobs=1).fit(arcs)
    >>> model.predict_proba([("p39", "p3"), ("p3", "p39")]).shape
    (2,)
    >>> bool(model.predict_direction([("p39", "p3")])[0] > 0.5)
    True
    >>> len(model.rank("p39", k=3))
    3
    """

    def __init__(
        self,
        n_components: int = 64,
        *,
        encoder: str = "auto",
        layers: int = 1,
        width: int = 128,
        dropout: float = 0.3,
        input_dropout: float = 0.2,
        ensemble: bool = True,
        alpha: float | None = None,
        radius: float | None = None,
        temperature: float | None = None,
        node_radii: bool = True,
        folds: int = 6,
        ppr_rank: int = 64,
        text_rank: int = 128,
        hops: int = 2,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        optimizer: str = "adam",
        negatives: int = 4,
        reversed_share: float = 1 / 3,
        direction_weight: float = 0.3,
        patience: int = 20,
        validation_share: float = 0.05,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool | str = "auto",
        time_limit: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ):
        self.n_components = n_components
        self.encoder = encoder
        self.layers = layers
        self.width = width
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.ensemble = ensemble
        self.alpha = alpha
        self.radius = radius
        self.temperature = temperature
        self.node_radii = node_radii
        self.folds = folds
        self.ppr_rank = ppr_rank
        self.text_rank = text_rank
        self.hops = hops
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.optimizer = optimizer
        self.negatives = negatives
        self.reversed_share = reversed_share
        self.direction_weight = direction_weight
        self.patience = patience
        self.validation_share = validation_share
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def fit(self, graph: Any, features: Any = None, *, validation: LinkTasks | None = None) -> LinkPredictor:
        """Learn a graph.

        Parameters
        ----------
        graph : object
            Anything that `finsler.graphs.digraph.as_digraph` takes. Lengths of arcs are not used.
        features : matrix of shape (n, d), dense, sparse or a table, optional
            A row for each node, in the order of the graph's nodes; a table indexed by the labels may be in any order.
        validation : LinkTasks, optional
            Tasks about pairs that the graph does not contain, to choose by; by default a share of the graph's own pairs
            is held out from training.
        """
        settings = self._settings()
        digraph = as_digraph(graph, weight=None)
        known, n = simple_arcs(digraph)
        nodes = LabelIndex(digraph.labels, n, "node")
        matrix = node_features(features, nodes)
        seed = self._seed()
        arcs, tasks = known, validation
        if validation is None and self.validation_share > 0:
            arcs, tasks = _hold_out(known, n, self.validation_share, seed)
        # By default one: the steps are short, and threads that wait for each other took up to five times the CPU time.
        with _threads(1 if self.n_jobs is None else thread_count(self.n_jobs)):
            problem = Problem(
                arcs, known, n, None if matrix is None else feature_factors(matrix, self.text_rank), tasks
            )
            outcome = Fitter(
                problem,
                settings,
                seed=seed,
                device=self._device(),
                folder=None if self.checkpoint is None else Path(self.checkpoint),
                fingerprint=_fingerprint(known, n, matrix, tasks, settings, seed),
                checkpoint_every=self.checkpoint_every,
                time_limit=self.time_limit,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            ).run()
        if outcome.status != "finished":
            why = {
                "time_limit": f"time_limit={self.time_limit} s was reached",
                "interrupted": "it was interrupted",
            }
            warnings.warn(
                f"Training stopped early: {why[outcome.status]}. The best model so far is kept.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.history_ = {name: record.history for name, record in outcome.records.items()}
        self._keep(outcome.models, digraph.labels, known, outcome.kind, outcome.scores, outcome.status)
        return self

    def decision_function(self, pairs: Any) -> Array:
        """Logit of an arc from the first to the second node of each pair."""
        return self._logits(self._positions(pairs))

    def predict_proba(self, pairs: Any) -> Array:
        """Probability of an arc from the first to the second node of each pair.

        It is relative to the training, in which arcs weigh as much as all negatives: good for ranking and for comparing
        pairs; in a sparse graph the share of true arcs among random pairs is far lower.

        Parameters
        ----------
        pairs : array-like of shape (P, 2)
            Labels of nodes, from and to.

        Returns
        -------
        ndarray of shape (P,)
        """
        return np.asarray(expit(self.decision_function(pairs)))

    def predict_direction(self, pairs: Any) -> Array:
        """Probability, given that there is one arc between the two nodes, that it runs from the first to the second."""
        at = self._positions(pairs)
        return np.asarray(expit(self._logits(at) - self._logits(at[:, ::-1])))

    def rank(self, source: Any, k: int = 10, *, exclude_known: bool = True) -> list[tuple[Any, float]]:
        """Most likely targets of arcs from a node.

        Parameters
        ----------
        source : label of a node
        k : int
            How many.
        exclude_known : bool
            Leave out the arcs of the graph that was fitted.

        Returns
        -------
        list of (label, probability), most likely first
        """
        check_is_fitted(self)
        if not (isinstance(k, int | np.integer) and k >= 1):
            raise InputError(f"k must be a whole number from 1 on; found {k!r}.")
        at = self._nodes.position(source, "source")
        logits = self._logits(np.column_stack([np.full(len(self._nodes), at), np.arange(len(self._nodes))]))
        logits[at] = -np.inf
        if exclude_known:
            logits[self._known[self._known[:, 0] == at, 1]] = -np.inf
        best = np.argsort(-logits, kind="stable")[:k]
        return [(self._nodes.label(j), float(expit(logits[j]))) for j in best if np.isfinite(logits[j])]

    def transform(self, nodes: Any = None) -> Array:
        """Coordinates of nodes given by label, or of all in the order of the graph."""
        check_is_fitted(self)
        if nodes is None:
            return self.embedding_
        at = [self._nodes.position(label, f"nodes, entry {k}") for k, label in enumerate(nodes)]
        return np.asarray(self.embedding_[at])

    def score(self, tasks: LinkTasks) -> dict[str, float]:
        """Areas under the ROC curves of the three tasks, percent; see `finsler.learn.tasks`."""
        check_is_fitted(self)
        return score_links(tasks, self._logits)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model to an npz file (arrays and JSON, no pickle). Labels must be strings or numbers."""
        check_is_fitted(self)
        arrays: dict[str, Any] = {"known": self._known}
        for k, model in enumerate(self._models):
            arrays |= {f"points{k}": model.points, f"radii{k}": model.radii}
            arrays[f"decoder{k}"] = np.array([model.alpha, model.radius, model.temperature])
        labels = None if self.labels_ is None else [plain_label(label) for label in self.labels_]
        for label in labels or []:
            if not isinstance(label, str | int | float | bool | None):
                raise InputTypeError(f"Label {label!r} cannot be saved; use strings or numbers as labels.")
        options = {
            name: value
            for name, value in self.get_params().items()
            if value is None or isinstance(value, int | float | str)
        }
        record = {
            "labels": labels,
            "members": len(self._models),
            "encoder": self.encoder_,
            "validation_scores": self.validation_scores_,
            "history": self.history_,
            "status": self.status_,
            "options": options,
        }
        return save_archive(path, "link predictor", arrays, record)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LinkPredictor:
        """Read a fitted model that `save` wrote."""
        arrays, record = load_archive(path, "link predictor")
        try:
            models = [
                FittedModel(arrays[f"points{k}"], arrays[f"radii{k}"], *map(float, arrays[f"decoder{k}"]))
                for k in range(record["members"])
            ]
            model = cls(**record["options"])
            model.history_ = record["history"]
            model._keep(
                models,
                record["labels"],
                arrays["known"],
                record["encoder"],
                record["validation_scores"],
                record["status"],
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"{str(path)!r} is not a complete saved link predictor ({error}).") from error
        return model

    @property
    def result_(self) -> Embedding:
        """The map of the nodes. It was fitted to arcs, not to distances, so it has no stress."""
        check_is_fitted(self)
        model = self._models[0]
        drift = np.zeros(model.points.shape[1])
        drift[-1] = model.alpha
        return Embedding(
            coordinates=model.points,
            drift=drift,
            labels=self.labels_,
            stress=float("nan"),
            normalized_stress=float("nan"),
            stress_per_point=np.full(len(model.points), np.nan),
            n_iter=int(sum(history[-1]["epoch"] for history in self.history_.values() if history)),
            status=self.status_,
            message=f"Link predictor, encoder {self.encoder_!r}.",
        )

    def _keep(
        self,
        models: list[FittedModel],
        labels: Any,
        known: Integers,
        kind: str,
        scores: dict[str, float],
        status: str,
    ) -> None:
        self._models, self._known = models, known
        self.labels_ = labels
        self._nodes = LabelIndex(labels, len(models[0].points), "node")
        self.encoder_, self.validation_scores_, self.status_ = kind, scores, status
        self.embedding_ = models[0].points
        self.alpha_ = models[0].alpha

    def _positions(self, pairs: Any) -> Integers:
        check_is_fitted(self)
        return self._nodes.pairs(pairs)

    def _logits(self, pairs: Integers) -> Array:
        return mean_logits(self._models, pairs)

    def _settings(self) -> Settings:
        return Settings(**{entry.name: getattr(self, entry.name) for entry in fields(Settings)})

    def _seed(self) -> int:
        if self.checkpoint is not None and not isinstance(self.random_state, int | np.integer):
            raise InputError(
                f"checkpoint needs a random_state that is a number, or a resumed training would differ; found "
                f"{self.random_state!r}."
            )
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _device(self) -> str:
        if self.device != "auto":
            return str(self.device)
        return "cuda" if torch.cuda.is_available() else "cpu"


def _hold_out(arcs: Integers, n: int, share: float, seed: int) -> tuple[Integers, LinkTasks]:
    """Arcs to train on, and tasks about the others."""
    try:
        split = split_links(arcs, seed=seed, n_nodes=n, test_share=0.0, validation_share=share)
    except ValueError as error:
        raise InputError(f"{error} Or use validation_share=0 to train without validation.") from error
    return split.observed, split.validation


def _fingerprint(
    arcs: Integers, n: int, features: Any, tasks: LinkTasks | None, settings: Settings, seed: int
) -> str:
    """Short digest of all that decides the outcome of a training."""
    digest = hashlib.sha256(json.dumps([n, seed, asdict(settings)]).encode())
    parts: list[Any] = [arcs]
    if features is not None:
        sparse = issparse(features)
        parts += [features.data, features.indices, features.indptr] if sparse else [features]
    if tasks is not None:
        parts.append(tasks.direction.pairs)
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let torch use so many threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
