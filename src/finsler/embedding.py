"""Embedding: the map that people keep."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_arguments, check_words
from finsler.data.attributes import columns_of, lengthened
from finsler.data.frames import labeled
from finsler.data.labels import check_columns, plain_label, point_labels
from finsler.data.matrix import Dissimilarities
from finsler.data.provenance import Provenance, count
from finsler.errors import InputError
from finsler.exports.exported import ExportedMap
from finsler.geometry.pairs import AlphaSource, AsymmetryShown, SampledScores
from finsler.geometry.randers import randers_distances
from finsler.geometry.scaling import ScaledFacts
from finsler.map_file import PLAIN, load_map, save_map
from finsler.views import ViewedMap

if TYPE_CHECKING:
    from finsler.graphs.network import Network
    from finsler.solvers.placement import Placement
    from finsler.solvers.solution import Solution
    from finsler.solvers.swirl.choice import SwirlChoice

Array = NDArray[np.floating[Any]]

# What a map takes over from its solver as it is.
FROM_SOLUTION = ("coordinates", "drift", "swirl", "geodesic", "swirl_choice", "scaled", *PLAIN)


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(ViewedMap, ExportedMap):
    """A map on which the way there and the way back can be measured.

    The same data give the same map: it is centered, the axes beside the height are its principal axes, the widest first,
    and their signs are fixed; see :func:`finsler.solvers.drift.upright`.

    Attributes
    ----------
    coordinates : ndarray of shape (n, m)
        Centered; the last axis is the one along which going up costs more.
    drift : ndarray of shape (m,)
        ``(0, ..., 0, alpha)``; beside a swirl, the drift at the origin, which may point anywhere.
    swirl : ndarray of shape (m, m) or None
        Skew matrix K of a drift ``drift + K x`` that turns, see `finsler.geometry.swirl`; None if it is the same everywhere.
    geodesic : bool
        Whether ways on a map with a swirl are the cheapest ones, which are arcs, instead of straight.
    swirl_choice : SwirlChoice or None
        What was found about a swirl, if one was asked for.
    labels : list or None
        Names of the points; None if they are numbered.
    stress, normalized_stress : float or None
        Weighted sum of squared errors, and the square root of its share in the weighted sum of squares of the data. None
        if the map was fitted to something else than distances.
    stress_per_point : ndarray of shape (n,)
        Share of each point in the stress; 0 for points that were placed later.
    n_iter : int
        Iterations it took.
    n_starts, n_same : int
        Starts of which this is the best map, and those of them that ended at it.
    status, message : str
        How the solver ended, as a word and as a sentence.
    data : Dissimilarities or None
        What was embedded, to compare the map with; None if it was not in memory, or not kept.
    provenance : Provenance
        Where the data come from, and what was chosen, filled and left out on the way to the map.
    alpha_source : {"given", "fitted", "symmetric", "cyclic", "one_way", "unclear"}
        Where alpha comes from, see `finsler.solvers.start`.
    scaled : ScaledFacts or None
        What is known of a map whose distances agree with disparities, not with the data: `scaling`, stress-1, alpha of
        least stress, whether it is degenerate. The stress is then that of the disparities.
    shown : AsymmetryShown or None
        How much of the asymmetry it shows, if that was found out before; ask :meth:`asymmetry_shown`.
    held_out : SampledScores or None
        Scores of a sparse map on pairs that it was not made from.
    misfit : ndarray of shape (k,) or None
        Of the last k points, which were placed later: root of the stress of each over the squares of its dissimilarities.
    data_dropped : bool
        Whether the data were left out of the file from which the map was loaded.
    attributes : dict of ndarray of shape (n,)
        What else is known of the points, by name: numbers or words. Pictures and pages can be colored by them.
    network : Network or None
        The digraph whose shortest paths were mapped, and the node of each point.
    unit : str
        What the data count, such as "hours"; "" if that was not said.

    Examples
    --------
    >>> import finsler
    >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
    >>> there, back = towns.distance("A", "B"), towns.distance("B", "A")
    >>> bool(there > back)
    True
    """

    coordinates: Array
    drift: Array
    labels: list[Any] | None
    stress: float | None
    normalized_stress: float | None
    stress_per_point: Array
    n_iter: int
    status: str
    message: str
    data: Dissimilarities | None = None
    provenance: Provenance = field(default_factory=Provenance)
    alpha_source: AlphaSource = "given"
    scaled: ScaledFacts | None = None
    shown: AsymmetryShown | None = None
    held_out: SampledScores | None = None
    misfit: Array | None = None
    data_dropped: bool = False
    swirl: Array | None = None
    geodesic: bool = False
    swirl_choice: SwirlChoice | None = None
    n_starts: int = 1
    n_same: int = 1
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)
    network: Network | None = None
    unit: str = ""

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        *,
        labels: list[Any] | None,
        provenance: Provenance,
        data: Dissimilarities | None = None,
        shown: AsymmetryShown | None = None,
        held_out: SampledScores | None = None,
    ) -> Embedding:
        """Embedding that a solver found; ``shown`` and ``held_out`` are for data that are not in memory."""
        return cls(
            **{name: getattr(solution, name) for name in FROM_SOLUTION},
            stress_per_point=solution.per_point,
            labels=labels,
            data=data,
            provenance=provenance,
            shown=shown,
            held_out=held_out,
        )

    @property
    def alpha_identifiable(self) -> bool | None:
        """Whether the data determine alpha; None if alpha was given."""
        from finsler.solvers.start import identifiable

        return identifiable(self.alpha_source)

    def distance(self, a: Any, b: Any) -> float:
        """Distance on the map **from a to b**, points given by label or by number."""
        ends = self.coordinates[[self.index(a), self.index(b)]]
        return float(randers_distances(ends[:1], ends[1:], **self.metric)[0, 0])

    def place(self, *, to_fitted: Any = None, from_fitted: Any = None, n_jobs: int | None = None) -> Array:
        """Coordinates of new points, from their dissimilarities to and/or from the points of this map.

        Parameters
        ----------
        to_fitted, from_fitted : array-like of shape (k, n) or DataFrame, optional
            Dissimilarities *from* each new point *to* those of the map, and *from* those of the map to each new one, also
            one row per new point; NaN where unknown. The columns of a DataFrame must be the labels of the map.
        n_jobs : int, optional
            Threads; None means all.
        """
        check_arguments(Embedding.place, locals())
        return self._placed(to_fitted, from_fitted, n_jobs).coordinates

    def with_points(
        self,
        *,
        to_fitted: Any = None,
        from_fitted: Any = None,
        labels: Sequence[Any] | None = None,
        n_jobs: int | None = None,
    ) -> Embedding:
        """The map with new points, which are placed into it and come last; how well each fits is its ``misfit``.

        Parameters
        ----------
        to_fitted, from_fitted, n_jobs
            As in :meth:`place`.
        labels : sequence, optional
            Names of the new points; by default those of the rows of a DataFrame, else "new 1", "new 2", ...

        Examples
        --------
        >>> import finsler
        >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
        >>> larger = towns.with_points(to_fitted=[[2, 2, 3]], labels=["D"])
        >>> larger.labels, larger.misfit.shape
        (['A', 'B', 'C', 'D'], (1,))
        """
        to_fitted, from_fitted = labeled(to_fitted), labeled(from_fitted)
        check_arguments(Embedding.with_points, locals())
        placed = self._placed(to_fitted, from_fitted, n_jobs)
        k = len(placed.coordinates)
        if labels is None:
            own = [point_labels(values) for values in (to_fitted, from_fitted)]
            rows = [index for index in own if index is not None]
            if len(rows) == 2 and rows[0] != rows[1]:
                raise InputError("to_fitted and from_fitted must hold the same new points in the same order.")
            labels = rows[0] if rows else [f"new {i + 1}" for i in range(k)]
        names = [plain_label(label) for label in labels]
        if len(names) != k:
            raise InputError(f"must have one entry per new point, {k}; got {len(names)}.", argument="labels")
        fitted = list(range(self.n_points)) if self.labels is None else self.labels
        if again := {str(label) for label in fitted} & {str(label) for label in names}:
            raise InputError(f"labels: {min(again)!r} is a point of the map; call the new one differently.")
        return replace(
            self,
            coordinates=np.vstack([self.coordinates, placed.coordinates]),
            labels=[*fitted, *names],
            stress_per_point=np.concatenate([self.stress_per_point, np.zeros(k)]),
            data=None,
            shown=self.asymmetry_shown(),
            misfit=np.concatenate([np.empty(0) if self.misfit is None else self.misfit, placed.misfit]),
            attributes={name: lengthened(values, k) for name, values in self.attributes.items()},
            network=None,
        )

    def _placed(self, to_fitted: Any, from_fitted: Any, n_jobs: int | None) -> Placement:
        from finsler.solvers.placement import place

        to_fitted, from_fitted = labeled(to_fitted), labeled(from_fitted)
        check_columns(to_fitted, self.labels, "to_fitted")
        check_columns(from_fitted, self.labels, "from_fitted")
        return place(
            self.coordinates, **self.metric, to_fitted=self.as_disparities(to_fitted),
            from_fitted=self.as_disparities(from_fitted), n_jobs=n_jobs,
        )  # fmt: skip

    def with_attributes(self, columns: Any) -> Embedding:
        """The map with more known about its points: a dict of sequences, or a data frame; columns of the same name are new.

        Parameters
        ----------
        columns : dict of sequences or data frame
            One value per point, in the order of the map; rows of a data frame are found by the labels of the map.

        Examples
        --------
        >>> import finsler
        >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
        >>> list(towns.with_attributes({"people": [120, 80, 45]}).attributes)
        ['people']
        """
        more = columns_of(columns, self.labels, self.n_points, "columns")
        return replace(self, attributes={**self.attributes, **more})

    def align(self, like: Embedding) -> Embedding:
        """The map, moved to lie over another one of the same points: turned about its height, mirrored, shifted.

        No distance on it changes. A map without a drift is turned any way. Points are matched by their labels, and those on
        both maps count. :func:`finsler.inference.compare_maps` tells how well two maps agree.

        Parameters
        ----------
        like : Embedding
            The other map, of the same dimension.

        Examples
        --------
        >>> import finsler
        >>> hours = finsler.load_flight_hours().hours
        >>> first, second = finsler.embed_matrix(hours), finsler.embed_matrix(1.1 * hours)
        >>> bool(np.allclose(1.1 * first.coordinates, second.align(first).coordinates, atol=1e-3))
        True
        """
        from finsler.inference.alignment import aligned_to

        check_arguments(Embedding.align, locals())
        return aligned_to(self, like)

    def asymmetry_shown(self) -> AsymmetryShown | None:
        """How much of the asymmetry of the data the map shows, and how much heights could.

        Beyond 3,000 points it is an estimate from the pairs of 200 of them, drawn at random, and for sparse maps from
        pairs that the map was not made from: ``n_rows`` and ``error`` say so. None if the data are not known.
        """
        return self._shown

    def summary(self, *, said: Sequence[str] = ()) -> str:
        """Describe the map in a few lines, without sentences that were `said` already."""
        from finsler.solvers.swirl.choice import turning

        known = [text for text in check_words("said", said) if isinstance(text, str)]
        kappa = "" if self.kappa is None else f", kappa = {self.kappa:.4g}"
        what = f"{self.n_points} points in {count(self.n_components, 'dimension')}, alpha = {self.alpha:.4g}{kappa}"
        ways = turning(self.coordinates, self.drift, self.swirl, self.geodesic)
        lines = [what, *(f"  {line}" for line in ways)]
        if self.normalized_stress is not None:
            lines.append(
                f"  normalized stress {self.normalized_stress:.4g} (0 is perfect), stress {self.stress:.6g}"
            )
        lines += [] if self.scaled is None else [f"  {self.scaled.words(self.alpha)}"]
        if self.held_out is not None:
            rows = f"on {self.held_out.n_sources} rows that it was not made from"
            lines.append(f"  {rows}: normalized stress {self.held_out.normalized_stress}")
        if (shown := self.asymmetry_shown()) is not None:
            may_turn = self.swirl is None and self.swirl_choice is None and self.scaled is None
            lines.append(
                f"  asymmetry shown: {shown}{shown.advice(self.n_components, may_turn, self.n_points)}"
            )
        sentences = [sentence for sentence in self.sentences() if sentence not in known]
        lines.append(f"  {self.status}: {' '.join(sentences)}")
        return "\n".join(lines)

    def sentences(self) -> list[str]:
        """Say in words what a reader of the map should know: how it ended, what was chosen, filled and left out."""
        from finsler.solvers.start import about_alpha, about_starts
        from finsler.solvers.swirl.choice import about_swirl

        said = [self.message, about_starts(self.n_starts, self.n_same)]
        if self.swirl is None:
            said.append(about_alpha(self.alpha_source, self.alpha, self.n_components))
        said.append(about_swirl(self.swirl_choice))
        said += [] if self.scaled is None else self.scaled.sentences()
        said += self.provenance.sentences()
        if self.misfit is not None:
            were = "point was" if len(self.misfit) == 1 else "points were"
            said.append(
                f"{len(self.misfit)} {were} placed into it later; stress and shares are those of the others."
            )
        if self.data_dropped:
            said.append("The data were not kept in the file.")
        return [sentence for sentence in said if sentence]

    def __repr__(self) -> str:
        fit = "" if self.normalized_stress is None else f"normalized stress {self.normalized_stress:.4g}, "
        fit = fit if self.kappa is None else f"kappa={self.kappa:.4g}, {fit}"
        return f"Embedding({self.n_points} points in {self.n_components}-D, alpha={self.alpha:.4g}, {fit}{self.status})"

    def save(self, path: str | os.PathLike[str], *, with_data: bool | None = None) -> Path:
        """Write the map to an npz file (arrays and JSON, no pickle).

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced once the new one is complete.
        with_data : bool, optional
            Whether to keep the dissimilarities in the file, and the digraph behind the map. By default up to 1,000 points
            and a million arcs; beyond, a warning says that the data are left out. How much of the asymmetry the map shows
            is kept in any case. Labels must be strings, numbers, booleans or None.
        """
        check_arguments(Embedding.save, locals())
        return save_map(self, path, with_data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Embedding:
        """Read a map that :meth:`save` wrote. What it holds is checked as an input is."""
        check_arguments(Embedding.load, locals())
        return load_map(cls, path)
