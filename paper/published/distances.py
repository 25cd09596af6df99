"""What a distance is worth: our inputs, encoders, loss and optimizer, with one distance or another in the decoder.

`iqe` has the interval quasimetric of Wang and Isola (2022), the fairest rival of a Finsler distance. Coordinates are dealt
into parts; the distance of a part is the length of the union of the intervals [x_k, max(x_k, y_k)] over its coordinates, and
the parts are joined by a learned mix of their mean and maximum. It obeys the triangle inequality and is not symmetric.

`randers` has the Randers distance of `LinkPredictor`, its partner in the comparison: no closed form, no free coordinates, no
choice among maps. With ``alpha=0`` the distance is Euclidean, and the radii of the nodes alone tell directions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from finsler.graphs.arc_set import ArcSet
from finsler.learn.features import feature_factors
from finsler.learn.inputs import Problem, cross_fit
from finsler.learn.model import FeatureEncoder, FermiDirac, LinkModel, Places, torch
from finsler.learn.options import LinkOptions, schedule
from finsler.learn.training import Trainer

from published.networks import seeded
from published.sight import Array, Logit, Logits, Sight


def interval_distance(x: Any, y: Any, n_parts: int, mix: Any) -> Any:
    """Distance from x to y, along the last axis, which is dealt into parts."""
    shape = (*x.shape[:-1], n_parts, x.shape[-1] // n_parts)
    start, end = x.reshape(shape), torch.maximum(x, y).reshape(shape)
    lengths = union_length(start, end)
    share = torch.sigmoid(mix)
    return share * lengths.mean(-1) + (1 - share) * lengths.amax(-1)


def union_length(start: Any, end: Any) -> Any:
    """Length of the union of intervals along the last axis: in the order of their starts, what each adds to those before."""
    order = start.argsort(-1)
    start, end = start.gather(-1, order), end.gather(-1, order)
    reached = end.cummax(-1).values
    before = torch.cat([torch.full_like(start[..., :1], -torch.inf), reached[..., :-1]], -1)
    return (end - torch.maximum(start, before)).clamp_min(0).sum(-1)


class IntervalDecoder(FermiDirac):
    """The decoder of `LinkPredictor` with the interval distance in place of the Randers one."""

    def __init__(self, n_parts: int):
        super().__init__(alpha=0.0)
        self.n_parts = n_parts
        self.mix = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x: Any, y: Any, out_radius: Any = 0.0, in_radius: Any = 0.0) -> Any:
        """Logits of arcs from x to y."""
        square = interval_distance(x, y, self.n_parts, self.mix).square()
        return (self.log_radius.exp() + out_radius + in_radius - square) / self.log_temperature.exp()


def iqe(
    sight: Sight, *, seed: int = 0, n_parts: int = 8, n_components: int = 64, epochs: int | None = None
) -> Logits:
    """Our encoders with the interval distance."""
    return encoded(
        sight, lambda: IntervalDecoder(n_parts), seed=seed, n_components=n_components, epochs=epochs
    )


def randers(
    sight: Sight, *, seed: int = 0, alpha: float | None = None, n_components: int = 64, epochs: int | None = None
) -> Logits:  # fmt: skip
    """Our encoders with the Randers distance; alpha is learned unless it is given."""
    return encoded(sight, lambda: FermiDirac(alpha), seed=seed, n_components=n_components, epochs=epochs)


def encoded(
    sight: Sight, decoder: Callable[[], FermiDirac], *, seed: int, n_components: int, epochs: int | None
) -> Logits:
    """Linear and two-layer encoders, as in our ensemble, trained and chosen in the same way; their logits are averaged."""
    options = LinkOptions()
    features = None
    if sight.features is not None:
        features = feature_factors(sight.features, random_state=seed)
    problem = Problem(sight.arcs, sight.arcs, sight.n_nodes, features, sight.validation)
    curriculum = cross_fit(problem, options, np.random.default_rng([seed, 1]))
    members = []
    for layers in sorted({0, options.layers}):
        with seeded(seed):
            encoder = FeatureEncoder(
                curriculum.inputs.shape[1], n_components, layers=layers, width=options.width, dropout=options.dropout,
                input_dropout=options.input_dropout, radii=options.node_radii,
            )  # fmt: skip
            model = LinkModel(encoder, decoder())
        plan = schedule(
            options, epochs, n_arcs=len(sight.arcs), n_lessons=len(curriculum.lessons), direct=False
        )
        trainer = Trainer(
            model, curriculum.lessons, ArcSet(sight.arcs, sight.n_nodes), plan, options, seed=seed,
            inputs=curriculum.inputs, validation=sight.validation,
        )  # fmt: skip
        trainer.fit()
        members.append(_logit(model, trainer.places(curriculum.inputs)))

    def mean(pairs: Array) -> Array:
        return np.mean([logit(pairs) for logit in members], axis=0)

    return Logits(mean, mean)


def _logit(model: LinkModel, places: Places) -> Logit:
    def logit(pairs: Array) -> Array:
        with torch.no_grad():
            return model.logits(places, torch.as_tensor(np.ascontiguousarray(pairs))).double().numpy()

    return logit
