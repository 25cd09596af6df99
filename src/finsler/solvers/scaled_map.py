"""A map beside its data: what the scaling made of them, stress-1, and how much of their asymmetry is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_argument
from finsler._runtime import cached_property
from finsler.errors import InputError
from finsler.geometry.measure import Measured
from finsler.geometry.swirl import skew_shown

if TYPE_CHECKING:
    from finsler.data.matrix import Dissimilarities
    from finsler.data.provenance import Provenance
    from finsler.geometry.disparities import Transformation
    from finsler.geometry.pairs import AsymmetryShown, SampledScores
    from finsler.geometry.scaling import ScaledFacts, Scaling
    from finsler.solvers.nonmetric import Fitted

Array = NDArray[np.floating[Any]]

ALL_PAIRS = 3000  # points up to which all pairs are looked at to tell how much asymmetry a map shows
ROWS = 200  # points whose pairs are looked at beyond


class ScaledMap(Measured):
    """A map, its data, and how data became disparities. Of these only the facts are kept: the rest is made again."""

    data: Dissimilarities | None
    provenance: Provenance
    scaled: ScaledFacts | None
    shown: AsymmetryShown | None
    held_out: SampledScores | None

    @property
    def scaling(self) -> Scaling:
        """How data became disparities; "ratio" where they are the data themselves."""
        from finsler.geometry.scaling import Scaling

        return Scaling() if self.scaled is None else self.scaled.scaling

    @cached_property
    def stress1(self) -> float | None:
        """Kruskal's stress-1, at the best scale; None if the data are not known."""
        if self.scaled is not None or self.data is None:
            return None if self.scaled is None else self.scaled.stress1
        from finsler.geometry.stress import stress1

        return stress1(self.coordinates, self.data.matrix, self.data.weights, **self.metric)

    @cached_property
    def _measured(self) -> Fitted:
        """The map beside its disparities, fitted once more: they are not kept."""
        from finsler.solvers.nonmetric import ScaledData

        if self.data is None:
            raise InputError("Disparities are made from the data, and this map carries none (data is None).")
        return ScaledData(self.data, self.scaling).measure(self.coordinates, self.drift)

    def disparities(self) -> Array:
        """What distances on the map were compared with, as a matrix: the data, or what became of them; NaN for unknown."""
        if self.scaled is None and self.data is not None:
            unknown = False if self.data.weights is None else self.data.weights == 0
            full = np.where(unknown, np.nan, np.abs(self.data.matrix.astype(float)))
            np.fill_diagonal(full, 0.0)
            return full
        return self._measured.disparities()

    def transformation(self) -> Transformation | list[Transformation]:
        """Function from data to disparities; a list if each row or column has its own."""
        found = self._measured.transformations()
        return found if self.scaling.by_group else found[0]

    @cached_property
    def fitted_to(self) -> Dissimilarities | None:
        """What distances on the map are to agree with: the data, or their disparities; None if the data are not known.

        Disparities of a symmetric part with the skew part added may be below 0, where no distance is; they count as 0.
        """
        if self.scaled is None or self.data is None:
            return self.data
        return replace(self.data, matrix=np.maximum(self.disparities(), 0.0))

    def data_for(self, what: str) -> Dissimilarities:
        """Data that the map was made from, or what the scaling made of them; or an error that says what to do."""
        if self.fitted_to is None:
            raise InputError(
                f"{what} compares the map with its data, and this map carries none (embedding.data is None). Maps of more "
                "than 1,000 points are saved without; use embedding.save(path, with_data=True), or put the data back with "
                "dataclasses.replace(embedding, data=finsler.data.matrix.as_dissimilarities(D))."
            )
        return self.fitted_to

    def as_disparities(self, values: Any) -> Any:
        """Dissimilarities of new points in the units of the map; those of the data where the scaling is "ratio"."""
        if values is None or self.scaled is None:
            return values
        check_argument("values", values, "ArrayLike")
        if self.scaling.conditional != "matrix":
            raise InputError(
                f"= {self.scaling.conditional!r} leaves no function for new points; use 'matrix'.",
                argument="conditional",
            )
        function = cast("Transformation", self.transformation())
        return function(np.asarray(values, dtype=float) + self.provenance.shift)

    @cached_property
    def _shown(self) -> AsymmetryShown | None:
        if self.held_out is not None:
            return self.held_out.asymmetry_shown
        if self.shown is not None or self.fitted_to is None:
            return self.shown
        from finsler.geometry.asymmetry import asymmetry_shown

        rows = None
        if self.n_points > ALL_PAIRS:
            rows = np.sort(np.random.default_rng(0).permutation(self.n_points)[:ROWS])
        shown = skew_shown(self.coordinates, self.drift, self.swirl)
        found = asymmetry_shown(self.fitted_to.matrix, self.fitted_to.weights, shown, rows=rows)
        # Neither lengths of paths nor disparities, fitted to this map, are what noise alone is reckoned for.
        return found._replace(noise=None) if self.provenance.paths or self.scaled is not None else found
