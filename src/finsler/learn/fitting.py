"""Fit a graph: train the candidates, compare them with the closed form, and take what does best on held-out pairs.

A named encoder is trained and used alone. With "auto" the closed form is a candidate as well, direct coordinates start from
it, and the means of several maps compete, so that the outcome is not below what it starts from, as far as the validation
pairs can tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import Progress, cached_property
from finsler.graphs.arc_set import ArcSet, Integers
from finsler.learn.baselines import CLOSED_FORM_ALPHA, CLOSED_FORM_SPREAD, maps_of_factors, trivial_logits
from finsler.learn.blend import FEWEST_ARCS, HeldOut, LinkScore, Odds, corrected, log_odds_line
from finsler.learn.calibration import (
    POPULATION,
    Calibration,
    fit_intercepts,
    fit_lines,
    largest_share,
    missing_arcs,
)
from finsler.learn.features import unit_rows
from finsler.learn.heights import LearnedDirection, learned_direction
from finsler.learn.inputs import N_COLUMNS, Curriculum, Problem, Sketch, cross_fit
from finsler.learn.model import DirectCoordinates, FeatureEncoder, FermiDirac, FittedModel, LinkModel, torch
from finsler.learn.neighbors import FEATURES, PairFeatures
from finsler.learn.options import CLOSED_FORM, MANY_NODES, LinkOptions, candidates, schedule
from finsler.learn.tasks import mean_score, score_links
from finsler.learn.training import Checkpoint, Lesson, Trainer

Array = NDArray[np.floating[Any]]

START_ALPHA = 0.9  # of direct coordinates, which start from the closed form
FEWEST_COMPONENTS = 4  # of a map whose location starts from log-PPR factors
MOST_ARCS = 20_000  # from which radius and temperature of the start are found
SMALLEST_RADIUS = 0.05


class Member(NamedTuple):
    """A map as it was validated and as it predicts, and its validation score.

    A closed form predicts from all known arcs, which is computed when it is chosen.
    """

    validated: FittedModel
    predicts: FittedModel | None
    score: float


@dataclass
class Outcome:
    """The score and its calibration, how they came about, the scores of all candidates, and the course of each training."""

    score: LinkScore
    calibration: Calibration
    kind: str = ""
    members: list[str] = field(default_factory=list)
    candidates: dict[str, float] = field(default_factory=dict)
    scores: dict[str, Any] = field(default_factory=dict)
    history: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    status: str = "finished"


@dataclass(eq=False)
class Fitter:
    """Trains the members one after the other; each has a checkpoint of its own in the folder.

    The parameters are those of `LinkPredictor`; the time limit is for all members together.
    """

    problem: Problem
    options: LinkOptions
    n_components: int
    encoder: str
    alpha: float | None
    epochs: int | None
    missing_share: float
    seed: int
    device: str = "cpu"
    folder: Path | None = None
    fingerprint: str = ""
    time_limit: float | None = None
    callback: Callable[[dict[str, Any]], Any] | None = None
    n_jobs: int | None = None
    verbose: bool | int | str = False

    def __post_init__(self) -> None:
        self.deadline = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
        self.observed = ArcSet(self.problem.arcs, self.problem.n_nodes)
        self.outcome = Outcome(LinkScore.mean([]), Calibration([], np.zeros(2)))
        self._curriculum: Curriculum | None = None
        self._trained: dict[str, Member] = {}
        self._known_lines: dict[str, Array] = {}
        self._validated = self.outcome.score  # the score of the outcome, from the arcs to learn alone
        # To validate and to predict with.
        self._learned: tuple[LearnedDirection, LearnedDirection] | None = None

    @cached_property
    def held_out(self) -> HeldOut | None:
        """What there is to choose by; None without pairs that validate, or if all of them are reciprocal."""
        problem, tasks = self.problem, self.problem.validation
        if tasks is None or np.isnan(mean_score(score_links(tasks, lambda pairs: np.zeros(len(pairs))))):
            return None
        rng = np.random.default_rng([self.seed, 2])
        return HeldOut.draw(tasks, problem.held_out, self.observed, problem.known, rng)

    def run(self) -> Outcome:
        """Train, choose, combine, calibrate."""
        problem, options, outcome = self.problem, self.options, self.outcome
        kinds = candidates(self.encoder, problem.n_nodes, problem.features is not None)
        if self.held_out is None:
            kinds = kinds[:1]
        try:
            self._close()
            for kind in self._worth_training(kinds):
                if kind != CLOSED_FORM:
                    self.train(kind, layers=0 if options.ensemble else options.layers)
                if self.over():
                    break
            outcome.kind = self._best_kind()
            trained = outcome.kind not in ("direct", CLOSED_FORM)
            if options.ensemble and options.layers and trained and not self.over():
                self.train(outcome.kind, layers=options.layers)
        except KeyboardInterrupt:  # between two trainings, while inputs are computed
            outcome.status = "interrupted"
            if not self._trained:
                raise
            outcome.kind = self._best_kind()
        self._choose()
        self._score_trivially()
        self._calibrate()
        return outcome

    def _worth_training(self, kinds: list[str]) -> list[str]:
        """Without "structure" where features help already the closed form: their encoder has all its inputs, and more."""
        scores, held_out = self.outcome.candidates, self.held_out
        if "features" not in kinds or held_out is None or len(held_out.arcs) < FEWEST_ARCS:
            return kinds
        helped = scores.get(f"{CLOSED_FORM}_features", -np.inf) > scores.get(CLOSED_FORM, np.inf)
        return [kind for kind in kinds if kind != "structure" or not helped]

    def _best_kind(self) -> str:
        """Kind with the best score, of those that were trained if any was; the first, if none has a score."""
        scores = self.outcome.candidates
        kinds = [kind for kind in scores if not kind.startswith(CLOSED_FORM)] or [CLOSED_FORM]
        return max(kinds, key=lambda kind: -np.inf if np.isnan(scores[kind]) else scores[kind])

    def _names(self, kind: str) -> list[str]:
        """Members of a kind, the best first."""
        names = [name for name in self._trained if name.split()[0] == kind]
        return sorted(names, key=lambda name: -np.nan_to_num(self._trained[name].score, nan=-np.inf))

    def _close(self) -> None:
        """Make the closed forms members; of two, the second has features. A named encoder has them beside it only.

        What is learned for the direction alone takes little longer, and goes with whatever is chosen.
        """
        outcome, held_out = self.outcome, self.held_out
        for name, X in self._maps(self.problem.arcs, self.problem.sketch).items():
            model, score = self._decoded(X), np.nan
            if held_out is not None:
                outcome.scores.setdefault("baselines", {})[name] = held_out.scores(model.logits)
                score = mean_score(score_links(held_out.tasks, model.logits))
            if self.encoder in ("auto", CLOSED_FORM):
                self._trained[name] = Member(model, None, score)
                outcome.candidates[name] = score
        if self.encoder == "auto" and held_out is not None and self.problem.n_nodes <= MANY_NODES:
            self._learned = learned_direction(self.problem, np.random.default_rng([self.seed, 6]))

    def _maps(self, arcs: Integers, sketch: Sketch) -> dict[str, Array]:
        return maps_of_factors(
            arcs, self.problem.n_nodes, sketch.target, self.problem.features, sketch.heights
        )

    def _decoded(self, X: Array, like: FittedModel | None = None) -> FittedModel:
        """A closed form as a model: log odds fall with the distance, at the rate of held-out arcs (or of another model)."""
        alpha = CLOSED_FORM_ALPHA if self.alpha is None else self.alpha
        model = FittedModel(X, np.zeros((len(X), 2)), alpha, 0.0, 1.0, power=1)
        if like is not None:
            return replace(model, radius=like.radius, temperature=like.temperature)
        held_out = self.held_out
        if held_out is None or not len(held_out.arcs) or not len(held_out.random):
            return model
        slope, intercept = log_odds_line(*(model.logits(p) for p in (held_out.arcs, held_out.random)))
        return replace(model, radius=intercept / slope, temperature=1 / slope)

    def _choose(self) -> None:
        """Take the members of the best kind, the closed form, or what does better together; then weigh a correction."""
        outcome, held_out = self.outcome, self.held_out
        closed = sorted((name for name in self._trained if name.startswith(CLOSED_FORM)), key=self._score_of)
        own = self._names(outcome.kind) if outcome.kind != CLOSED_FORM else closed[-1:]
        outcome.members = own
        if held_out is None:
            self._validated = LinkScore.mean([self._trained[name].validated for name in own])
            outcome.score = self._predicting(self._validated)
            return
        best, best_score = LinkScore.mean([]), -np.inf
        for name, members in self._combinations(own, closed).items():
            score = self._together(members)
            outcome.candidates[name] = found = mean_score(score_links(held_out.tasks, score, score.direction))
            if found > best_score:
                best, best_score, outcome.members = score, found, members
        if self.encoder == "auto":
            for name in self._trained:  # each alone, scored as the combinations are
                score = self._together([name])
                label = name if name in closed else name.split()[0]
                if name not in own[1:]:
                    found = mean_score(score_links(held_out.tasks, score, score.direction))
                    outcome.candidates[label] = found
            neighbors = PairFeatures(self.problem.arcs, self.problem.n_nodes)
            best, plain, gained = corrected(best, held_out, neighbors)
            outcome.scores["correction"] = {
                "without": plain,
                "with": gained,
                "weights": dict(zip(FEATURES, best.correction.tolist(), strict=True)),
            }
        if outcome.kind.split()[0] not in {member.split()[0] for member in outcome.members}:
            outcome.kind = CLOSED_FORM
        outcome.scores = {
            **held_out.scores(best, best.direction),
            "pairs": held_out.counts(),
            "chance_spread": held_out.chance_spread(),
            **outcome.scores,
        }
        self._validated = best
        outcome.score = self._predicting(best)

    def _together(self, members: list[str]) -> LinkScore:
        """Score of maps together; named encoders have their logits averaged, "auto" takes log odds of held-out arcs."""
        models = [self._trained[name].validated for name in members]
        if self.encoder != "auto":
            return LinkScore.mean(models)
        lines = np.array([self._lines(name) for name in members])
        learned = None if self._learned is None else self._learned[0]
        return LinkScore.mixture(models, lines, self._odds.reversed_share, learned)

    @cached_property
    def _odds(self) -> Odds:
        assert self.held_out is not None
        return Odds(self.held_out, self.problem.n_nodes, self.options.reversed_share)

    def _lines(self, name: str) -> Array:
        """Lines of a member, computed once."""
        if name not in self._known_lines:
            self._known_lines[name] = self._odds.lines(self._trained[name].validated)
        return self._known_lines[name]

    def _score_of(self, name: str) -> float:
        return float(np.nan_to_num(self._trained[name].score, nan=-np.inf))

    def _combinations(self, own: list[str], closed: list[str]) -> dict[str, list[str]]:
        """Names of combinations and their members: those of the best kind, with the closed form, with another kind."""
        kind = self.outcome.kind
        if kind == CLOSED_FORM:
            return {own[0]: own}
        found = {f"{kind} ensemble" if len(own) > 1 else kind: own}
        if self.encoder != "auto" or not closed:
            return found
        last = closed[-1]
        found |= {last: [last], f"{kind} + {last}": [*own, last]}
        for name in self._trained:
            if name not in own and name not in closed:
                found[f"{kind} + {name.split()[0]} + {last}"] = [*own, name, last]
        return found

    def _predicting(self, score: LinkScore) -> LinkScore:
        """The same combination as it predicts, from all known arcs."""
        problem, members = self.problem, []
        for name in self.outcome.members:
            member = self._trained[name]
            if member.predicts is not None:
                members.append(member.predicts)
            elif problem.known_sketch is problem.sketch:
                members.append(member.validated)
            else:
                X = self._maps(problem.known, problem.known_sketch)[name]
                members.append(self._decoded(X, like=member.validated))
        neighbors = score.neighbors
        if neighbors is not None and problem.known_sketch is not problem.sketch:
            neighbors = PairFeatures(problem.known, problem.n_nodes)
        learned = None if score.learned is None or self._learned is None else self._learned[1]
        return replace(score, members=members, neighbors=neighbors, learned=learned)

    def _calibrate(self) -> None:
        """Probabilities: lines by held-out arcs, or by the arcs themselves if there are none; intercepts by the density."""
        problem, outcome, share = self.problem, self.outcome, self.missing_share
        rng = np.random.default_rng([self.seed, 3])
        arcs, asked, score = problem.arcs, problem.held_out, self._validated
        if not len(asked):  # nothing was held out: probabilities are too sure of themselves
            some = rng.permutation(len(arcs))[: max(1, len(arcs) // 10)]
            asked, arcs = arcs[some], np.delete(arcs, some, axis=0)
        lines, report = fit_lines(score, arcs, asked, problem.n_nodes, share, rng)
        outcome.calibration = fit_intercepts(outcome.score, lines, problem.known, problem.n_nodes, share, rng)
        _, missing = missing_arcs(problem.known, problem.n_nodes, share)
        outcome.scores["calibration"] = {
            "population": POPULATION,
            "missing_share": share,
            "largest_share": largest_share(problem.known, problem.n_nodes),
            "missing_arcs": float(missing.sum()),
            "from": "held-out arcs" if len(problem.held_out) else "the arcs that were learned",
            **report,
        }

    def _score_trivially(self) -> None:
        """Scores without learning, beside those of the closed forms."""
        problem, held_out, scores = self.problem, self.held_out, self.outcome.scores
        if held_out is None:
            return
        trivial = trivial_logits(problem.arcs, problem.n_nodes, problem.sketch.heights)
        found = {name: held_out.scores(logit) for name, logit in trivial.items()}
        scores["baselines"] = found | scores.get("baselines", {})

    def over(self) -> bool:
        """Whether the training was stopped, or the time is up."""
        if self.outcome.status == "finished" and time.perf_counter() > self.deadline:
            self.outcome.status = "time_limit"
        return self.outcome.status != "finished"

    def train(self, kind: str, layers: int) -> None:
        """Train one member, and note its score."""
        outcome, direct = self.outcome, kind == "direct"
        name = kind if direct else f"{kind} {layers}"
        lessons, inputs, final = self._lessons(kind)
        n_arcs = len(self.problem.arcs)
        model = self._model(inputs, layers)
        trainer = Trainer(
            model,
            lessons,
            self.observed,
            schedule(self.options, self.epochs, n_arcs=n_arcs, n_lessons=len(lessons), direct=direct),
            self.options,
            seed=self.seed,
            inputs=inputs,
            validation=self.problem.validation,
            device=self.device,
            start_counts=direct,
        )
        progress = Progress(f"LinkPredictor, {name}", self.verbose)
        ask = self.callback
        record = trainer.fit(
            checkpoint=self._checkpoint(name),
            deadline=self.deadline,
            callback=None if ask is None else lambda found: ask({"model": name, **found}),
            watch=progress.update,
        )
        progress.close(f"{record.status}, validation {record.best_score:.2f} at epoch {record.best_epoch}")
        validated = FittedModel.of(model, trainer.places(inputs))
        predicts = validated if final is inputs else FittedModel.of(model, trainer.places(final))
        self._trained[name] = Member(validated, predicts, record.best_score)
        outcome.history[name] = record.history
        outcome.candidates.setdefault(kind, record.best_score)
        if record.status in ("time_limit", "interrupted", "stopped"):
            outcome.status = record.status

    def _lessons(self, kind: str) -> Curriculum:
        """Lessons and inputs; those of encoders are computed once for all members."""
        if kind == "direct":
            return Curriculum([Lesson(self.problem.arcs)], None, None)
        if self._curriculum is None:
            progress = Progress("LinkPredictor", self.verbose)
            rng = np.random.default_rng([self.seed, 1])
            self._curriculum = cross_fit(self.problem, self.options, rng, watch=progress.update)
            progress.close("inputs computed")
        if kind == "structure" and self.problem.features is not None:
            return self._curriculum.without_features(N_COLUMNS + self.options.ppr_rank)
        return self._curriculum

    def _model(self, inputs: torch.Tensor | None, layers: int) -> LinkModel:
        options = self.options
        decoder = FermiDirac(self.alpha, options.radius, options.temperature)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            if inputs is not None:
                encoder: Any = FeatureEncoder(
                    inputs.shape[1],
                    self.n_components,
                    layers=layers,
                    width=options.width,
                    dropout=options.dropout,
                    input_dropout=options.input_dropout,
                    radii=options.node_radii,
                )
            else:
                heights, location = self._start()
                encoder = DirectCoordinates(
                    heights, self.n_components, location=location, radii=options.node_radii
                )
                if location is not None:
                    decoder.start_at(START_ALPHA, *self._reach(np.column_stack([location, heights])))
        return LinkModel(encoder, decoder)

    def _start(self) -> tuple[Array, Array | None]:
        """Where direct coordinates start: the closed form in as many dimensions, heights with standard deviation 1."""
        sketch = self.problem.sketch
        heights = (sketch.heights - sketch.heights.mean()) / max(float(sketch.heights.std()), 1e-9)
        if self.n_components < FEWEST_COMPONENTS:
            return heights, None
        return heights, unit_rows(sketch.target[:, : self.n_components - 1]) / CLOSED_FORM_SPREAD

    def _reach(self, X: Array) -> tuple[float, float]:
        """Radius and temperature with which a map tells arcs from random pairs and reversed arcs."""
        arcs, n = self.problem.arcs, self.problem.n_nodes
        rng = np.random.default_rng([self.seed, 4])
        arcs = arcs[rng.permutation(len(arcs))[:MOST_ARCS]]
        random = rng.integers(0, n, size=(len(arcs), 2))
        others = np.concatenate([random, arcs[: len(arcs) // 2, ::-1]])
        alpha = START_ALPHA if self.alpha is None else self.alpha
        model = FittedModel(X, np.zeros((len(X), 2)), alpha, 0.0, 1.0)
        slope, intercept = log_odds_line(model.logits(arcs), model.logits(others))
        return max(intercept / slope, SMALLEST_RADIUS), 1 / slope

    def _checkpoint(self, name: str) -> Checkpoint | None:
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        return Checkpoint(self.folder / f"{name.replace(' ', '-')}.pt", self.fingerprint)
