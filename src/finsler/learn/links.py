"""LinkPredictor: which arcs a digraph lacks, and which way they run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from finsler._arguments import as_random_state, check_arguments, check_number
from finsler._runtime import blas_libraries, thread_count
from finsler.data.labels import LabelIndex, saved_label
from finsler.data.provenance import Provenance
from finsler.embedding import Embedding
from finsler.errors import InputError, InputTypeError, check_count, one_line, shown
from finsler.geometry.randers import drift_vector
from finsler.graphs.arc_set import ArcSet, Integers, simple_arcs
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.learn.baselines import CLOSED_FORM_RANK
from finsler.learn.calibration import about_missing
from finsler.learn.features import feature_factors, node_features
from finsler.learn.fitting import Fitter, Outcome
from finsler.learn.inputs import Problem
from finsler.learn.link_file import load_outcome, save_outcome
from finsler.learn.model import LARGEST_ALPHA, check_device, torch, torch_threads
from finsler.learn.options import LinkOptions
from finsler.learn.tasks import (
    LinkTasks,
    check_tasks,
    held_out_arcs,
    hide_single_arcs,
    roc_auc,
    score_links,
    split_arcs,
)
from finsler.learn.training import fingerprint

Array = NDArray[np.floating[Any]]

MOST_FACTORS = 128  # of log-PPR, from which direct coordinates start
ENDINGS = {
    "time_limit": "the time limit was reached",
    "interrupted": "it was interrupted",
    "stopped": "the callback stopped it",
}


class LinkPredictor(BaseEstimator):
    """Learns a digraph in Randers space, to say which further arcs are likely and which way they run.

    An arc from i to j is likely where the Randers distance from x_i to x_j is short:
    ``p = 1 / (1 + exp((d(x_i, x_j)^2 - r_ij) / t))`` with ``d(x, y) = ||y - x|| + alpha (y - x)[last]``. Arcs run downhill.

    By default what suits the graph is found out, not asked for: encoders, direct coordinates and a closed form without
    training are compared, alone and together, on held-out pairs (``validation_scores_``; `finsler.learn.options` has the
    rules); their maps are put together as log odds against random pairs and reversed arcs (`finsler.learn.blend`), with what
    is learned for the direction alone (`finsler.learn.heights`), and with a correction by the reverse arc and by directed
    common neighbors where these pairs favor it. ``scores_`` says what it reaches, beside scores without learning.

    Parameters
    ----------
    n_components : int, default=64
        Dimension of the space, the height included.
    encoder : {"auto", "features", "structure", "direct", "closed_form"}, default="auto"
        Where points come from: an encoder of structural inputs and features, of structural inputs alone, coordinates of
        their own for each node, or a closed form without training. "auto" compares and combines them on held-out pairs;
        a named one is used alone.
    alpha : float in [0, 1) or "auto", default="auto"
        Strength of the drift: fixed, or learned.
    epochs : int, optional
        Passes over the arcs; by default 4 to 24, by their number.
    validation_fraction : float, default=0.05
        Share of the pairs that `fit` holds out, if it is not given validation tasks. 0 trains to the end and, with
        encoder="auto", takes the first candidate.
    missing_share : float in (0, 1), default=0.1
        Share of its true arcs that the graph is assumed to lack, each as likely as any other. No graph tells it; it
        decides what the probabilities add up to, not their order.
    random_state : int, RandomState instance or None, default=None
        The same number gives the same model.
    n_jobs : int, optional
        Threads; None means all cores, but one for the steps of the training and for BLAS, which are too short to share.
    device : str, default="auto"
        "cpu", "cuda", ...; "auto" takes a GPU if there is one.
    time_limit : float, optional
        Seconds after which the best model so far is taken.
    checkpoint : path, optional
        Folder where the state of the training is kept. A `fit` with the same graph, features and options that finds
        it goes on where the last one was killed, and ends with the same numbers.
    callback : callable, optional
        Called after each evaluation with a dict of model, epoch, loss and validation scores; True ends the training.
    verbose : bool or "auto", default="auto"
        Progress line on stderr, with loss and validation score.
    options : LinkOptions, optional
        What is seldom changed: :class:`~finsler.learn.LinkOptions`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Coordinates of the nodes, by the best single model. Arcs run down along the last axis. A closed form has a dimension
        of its own.
    omega_, alpha_ : ndarray of shape (n_components,), float
        Drift of that map, and its norm.
    result_ : Embedding
        The same with labels: measure, save, plot, explore. It was fitted to arcs, not to distances, so it has no stress.
    classes_ : ndarray of shape (2,)
        False and True: there is no arc from the first to the second node of a pair, or there is one.
    encoder_ : {"features", "structure", "direct", "closed_form"}
        Where the points of ``embedding_`` come from.
    members_ : list of str
        Maps that make the score together; the first is ``embedding_``.
    learned_direction_ : LearnedDirection or None
        Four fifths of a direction if encoder="auto", pairs validate, and there are 50 one-way arcs, 50 beyond a tree, and
        up to 20,000 nodes: ``heights``, whose differences are log odds, and ``path_weights``, for paths one way.
    validation_scores_ : dict
        Mean validation score (areas under ROC curves, percent) of each candidate, alone or together.
    scores_ : dict
        On the held-out pairs by which candidates and a correction were chosen, so that new pairs may score a little lower:
        "direction", "existence_mixed" and "existence_random" (areas under ROC curves, percent) and, where
        single arcs of reciprocal pairs were held out, "existence_reciprocal"; "baselines", the same of scores without
        learning; "correction", the mean score without and with the neighbors of a pair, and the weights these got;
        "calibration": population, missing share and arcs, the largest share that the arcs without a reverse allow, Brier
        score, log loss, and the reliability curve (predicted and observed share of arcs, and how many pairs of the
        population a bin stands for); "pairs", how many each task asks about, and "chance_spread", by how much (standard
        deviation) the scores of so many pairs are off 50 by chance.
    labels_ : list or None
        Labels of the nodes.
    history_ : dict
        For each training: epoch, loss and validation scores at every evaluation.
    status_ : {"finished", "time_limit", "stopped", "interrupted"}
        How it ended.
    n_features_in_ : int
        Number of nodes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> arcs = [(f"p{i}", f"p{j}") for i in range(40) for j in rng.choice(i, min(i, 4), replace=False)]
    >>> model = LinkPredictor(n_components=8, epochs=10, random_state=0, n_jobs=1).fit(arcs)
    >>> model.predict_proba([("p39", "p3"), ("p3", "p39")]).shape
    (2, 2)
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
        alpha: float | str = "auto",
        epochs: int | None = None,
        validation_fraction: float = 0.05,
        missing_share: float = 0.1,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "auto",
        time_limit: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        verbose: bool | str = "auto",
        options: LinkOptions | None = None,
    ):
        self.n_components = n_components
        self.encoder = encoder
        self.alpha = alpha
        self.epochs = epochs
        self.validation_fraction = validation_fraction
        self.missing_share = missing_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose
        self.options = options

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True  # a matrix of arcs, from row to column
        tags.input_tags.sparse = True
        return tags

    def fit(
        self, X: Any, y: Any = None, *, features: Any = None, validation: LinkTasks | None = None
    ) -> LinkPredictor:
        """Learn a graph.

        Parameters
        ----------
        X : graph
            Anything that `finsler.graphs.digraph.as_digraph` takes. Lengths of arcs are not used.
        y : ignored
        features : matrix of shape (n, d), dense, sparse or a table, optional
            A row for each node, in the order of the graph's nodes; a table indexed by the labels may be in any order.
        validation : LinkTasks, optional
            Tasks about pairs that the graph does not contain, to choose by, of positions in the order of the graph's nodes;
            by default a share of the graph's own pairs is held out from training.
        """
        if np.ndim(y) > 1 or issparse(y):
            raise InputError("y is not used: give what is known of the nodes by name, fit(X, features=...).")
        check_arguments(LinkPredictor.fit, locals())
        settings, seed, device = self._settings(), self._seed(), self.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        check_device(device)
        graph = X if isinstance(X, Digraph) else as_digraph(X, weight=None)
        known, n = simple_arcs(graph)
        nodes = LabelIndex(graph.labels, n, "node")
        matrix = node_features(features, nodes)
        arcs, tasks, held_out = self._hold_out(known, n, validation, seed)
        # By default one: the steps are short, and threads that wait for each other took up to five times the CPU time.
        threads = 1 if self.n_jobs is None else thread_count(self.n_jobs)
        with torch_threads(threads), blas_libraries().limit(limits=threads, user_api="blas"):
            rank = max(
                settings["options"].ppr_rank, min(self.n_components - 1, MOST_FACTORS), CLOSED_FORM_RANK
            )
            factors = None if matrix is None else feature_factors(matrix, settings["options"].feature_rank)
            outcome = Fitter(
                Problem(arcs, known, n, factors, tasks, held_out, rank, self.n_jobs),
                **settings,
                seed=seed,
                device=device,
                folder=None if self.checkpoint is None else Path(self.checkpoint),
                fingerprint=fingerprint(arcs, known, n, matrix, tasks, settings, seed),
                time_limit=self.time_limit,
                callback=self.callback,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            ).run()
        if outcome.status != "finished":
            said = f"Training stopped early: {ENDINGS[outcome.status]}. The best model so far is kept."
            warnings.warn(said, ConvergenceWarning, stacklevel=2)
        if said := about_missing(outcome.scores["calibration"]):
            warnings.warn(said, stacklevel=2)
        columns = {role: name for role, name in graph.provenance.columns.items() if role != "value"}
        facts = graph.provenance.having(counts_arcs=False, columns=columns)
        self._keep(outcome, nodes, known, facts)
        return self

    def _hold_out(
        self, known: Integers, n: int, validation: LinkTasks | None, seed: int
    ) -> tuple[Integers, LinkTasks | None, Integers]:
        """Arcs to learn, tasks to choose by, and arcs held out: pairs of neighbors, and single arcs of reciprocal pairs."""
        if validation is not None:
            check_tasks(validation, n)
            asked = held_out_arcs(validation)
            return known, validation, asked[~ArcSet(known, n).contains(asked)]
        if self.validation_fraction == 0:
            return known, None, known[:0]
        share = self.validation_fraction
        try:
            split = split_arcs(known, n, random_state=seed, validation_fraction=share)
        except InputError as error:
            raise InputError(
                f"{error} validation_fraction=0 trains without validation.",
                argument=error.argument,
            ) from error
        arcs, _ = hide_single_arcs(split.observed, n, share, np.random.default_rng([seed, 5]))
        return arcs, split.validation, known[~ArcSet(arcs, n).contains(known)]

    def decision_function(self, X: Any) -> Array:
        """Raw score of an arc from the first to the second node of each pair, shape (P,).

        The mean logit of the maps of a named encoder; with encoder="auto", log odds against random pairs and reversed arcs,
        see `finsler.learn.blend`.
        """
        check_is_fitted(self)
        return self._outcome.score(self._nodes.pairs(X))

    def predict_proba(self, X: Any) -> Array:
        """Probability that there is no arc, and that there is one, from the first to the second node of each pair.

        The population is stated: a random ordered pair that is not an observed arc, in a graph that lacks ``missing_share``
        of its arcs. The probabilities of all these pairs add up to the number of arcs that are then missing. See
        `finsler.learn.calibration`, and ``scores_["calibration"]`` for how good they are on held-out pairs. Of an
        observed arc they say little: it is among what was learned from.

        Parameters
        ----------
        X : array-like of shape (P, 2)
            Pairs of nodes by label, from and to.

        Returns
        -------
        ndarray of shape (P, 2)
            Its columns are those of ``classes_``: column 1 is the probability of an arc; NaN from a node to itself.
        """
        check_is_fitted(self)
        _, there = self._scored(self._nodes.pairs(X))
        return np.column_stack([1 - there, there])

    def _scored(self, pairs: Integers) -> tuple[Array, Array]:
        """Raw scores of pairs of positions, and probabilities; NaN from a node to itself, which no score is made for."""
        scores = self._outcome.score(pairs)
        there = self._outcome.calibration.probabilities(scores, self._arcs.contains(pairs[:, ::-1]))
        return scores, np.where(pairs[:, 0] == pairs[:, 1], np.nan, there)

    def predict(self, X: Any) -> NDArray[np.bool_]:
        """Whether an arc from the first to the second node of each pair is more likely than not: rarely, if it is sparse."""
        return np.asarray(self.predict_proba(X)[:, 1] > 0.5)

    def predict_direction(self, X: Any) -> Array:
        """Probability, given that there is one arc between the two nodes, that it runs from the first to the second.

        NaN from a node to itself.
        """
        check_is_fitted(self)
        pairs = self._nodes.pairs(X)
        direction = expit(self._outcome.score.direction(pairs))
        return np.where(pairs[:, 0] == pairs[:, 1], np.nan, direction)

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
        check_arguments(LinkPredictor.rank, locals())
        check_count("k", k)
        n = len(self._nodes)
        at = self._nodes.position(source, "source")
        scores, chances = self._scored(np.column_stack([np.full(n, at), np.arange(n)]))
        chances[at] = -1
        if exclude_known:
            chances[self._known[self._known[:, 0] == at, 1]] = -1
        best = np.lexsort((-scores, -chances))[:k]  # a calibration may be level between two scores
        return [(self._nodes.label(j), float(chances[j])) for j in best if chances[j] >= 0]

    def score(self, X: Any, y: ArrayLike | None = None) -> float:
        """Area under the ROC curve of existence, from 0 to 1: 0.5 is chance, NaN if all answers are the same.

        Parameters
        ----------
        X : array-like of shape (P, 2), or LinkTasks
            Pairs of nodes by label, from and to; or tasks of `split_links`, of which ``existence_mixed`` is asked.
        y : array-like of P booleans
            Whether there is an arc from the first to the second node; tasks have their own.
        """
        check_is_fitted(self)
        if isinstance(X, LinkTasks):
            return self.scores(X)["existence_mixed"] / 100
        logits, labels = self.decision_function(X), np.asarray(y)
        if labels.shape != logits.shape:
            raise InputError(
                f"must say for each of the {len(logits)} pairs whether there is an arc; got shape {labels.shape}.",
                argument="y",
            )
        return roc_auc(labels.astype(bool), logits)

    def scores(self, tasks: LinkTasks) -> dict[str, float]:
        """Areas under ROC curves of the three tasks (`finsler.learn.tasks`), percent; direction by `predict_direction`."""
        check_is_fitted(self)
        check_arguments(LinkPredictor.scores, locals())
        check_tasks(tasks, len(self._nodes), "tasks")
        return score_links(tasks, self._outcome.score, self._outcome.score.direction)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model to an npz file (arrays and JSON, no pickle). Labels must be strings or numbers."""
        check_arguments(LinkPredictor.save, locals())
        check_is_fitted(self)
        labels = None if self.labels_ is None else [saved_label(label) for label in self.labels_]
        plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in self.get_params().items()}
        options = plain.pop("options")
        record = {
            "labels": labels,
            "provenance": self.result_.provenance.to_dict(),
            "parameters": {k: v for k, v in plain.items() if isinstance(v, int | float | str | None)},
            "options": None if options is None else asdict(options),
        }
        return save_outcome(path, self._outcome, self._known, record)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LinkPredictor:
        """Read a fitted model that `save` wrote."""
        saved, outcome, known = load_outcome(path)
        n = len(outcome.score.members[0].points)
        labels = saved.labels(n)
        try:
            options = saved.value("options", dict, type(None))
            parameters = saved.value("parameters", dict)
            model = cls(**parameters, options=None if options is None else LinkOptions(**options))
            model._settings()
            facts = Provenance.from_dict(saved.value("provenance", dict))
            model._keep(outcome, LabelIndex(labels, n, "node"), known, facts)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise saved.wrong("a parameter", f"is not what it was ({one_line(str(error))[:80]})") from error
        return model

    def _keep(self, outcome: Outcome, nodes: LabelIndex, known: Integers, facts: Provenance) -> None:
        self._outcome, self._known = outcome, known
        self._arcs = ArcSet(known, len(nodes))
        best = outcome.score.members[0]
        self.embedding_, self.alpha_ = best.points, best.alpha
        self.omega_ = drift_vector(best.alpha, best.points.shape[1])
        self._nodes, self.history_ = nodes, outcome.history
        self.labels_ = None if nodes.labels is None else list(nodes.labels)
        self.encoder_, self.members_, self.status_ = outcome.kind, outcome.members, outcome.status
        self.validation_scores_, self.scores_ = outcome.candidates, outcome.scores
        self.learned_direction_ = outcome.score.learned
        self.classes_ = np.array([False, True])
        self.n_features_in_ = len(self.embedding_)
        self.result_ = Embedding(
            coordinates=self.embedding_,
            drift=self.omega_,
            labels=self.labels_,
            stress=None,
            normalized_stress=None,
            stress_per_point=np.full(len(self.embedding_), np.nan),
            n_iter=int(sum(entries[-1]["epoch"] for entries in self.history_.values() if entries)),
            status=self.status_,
            message=f"Link predictor, encoder {self.encoder_!r}.",
            provenance=facts,
            alpha_source="fitted" if self.alpha == "auto" else "given",
        )

    def _settings(self) -> dict[str, Any]:
        """What decides the outcome beside the data, checked."""
        check_arguments(type(self).__init__, self.get_params(deep=False))
        check_count("n_components", self.n_components, most=100_000)
        check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_number("missing_share", self.missing_share, 0.0, 1.0, open_ends=True)
        check_number("time_limit", self.time_limit, 0.0, open_ends=True, optional=True)
        if self.epochs is not None:
            check_count("epochs", self.epochs)
        if self.alpha != "auto" and (isinstance(self.alpha, str) or not 0 <= self.alpha < LARGEST_ALPHA):
            raise InputError(
                f"must be 'auto' or in [0, {LARGEST_ALPHA}), got {self.alpha!r}.", argument="alpha"
            )
        if not isinstance(self.options, LinkOptions | None):
            raise InputTypeError(f"must be LinkOptions, got {self.options!r}.", argument="options")
        return {
            "n_components": int(self.n_components),
            "encoder": self.encoder,
            "alpha": None if self.alpha == "auto" else float(self.alpha),
            "epochs": None if self.epochs is None else int(self.epochs),
            "missing_share": float(self.missing_share),
            "options": self.options or LinkOptions(),
        }

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        if self.checkpoint is not None:
            needs = "checkpoint needs a random_state that is a number, or a resumed training would differ"
            raise InputError(f"{needs}; got {shown(self.random_state)}.", argument="random_state")
        return int(as_random_state(self.random_state).randint(2**31))
