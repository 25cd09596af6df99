"""How much of the asymmetry a map shows: the answer, without the means to find it, so that saved maps load fast."""

from __future__ import annotations

from typing import NamedTuple


class AsymmetryShown(NamedTuple):
    """How much of the asymmetry a map shows."""

    share: float | None  #: 1 is all of it, below 0 worse than nothing; None for symmetric data.
    error: float | None = 0.0  #: Standard error, if it comes from some rows.
    n_rows: int | None = None  #: Rows looked at; None for all.
    available: float | None = None  #: The share that the best heights would show.

    def __str__(self) -> str:
        if self.share is None:
            return "nothing to show: the data are symmetric"
        error = f" ± {100 * self.error:.2g}" if self.error else ""
        most = "" if self.available is None else f"; up to {100 * self.available:.3g} % can be shown"
        rows = "" if self.n_rows is None else f" (from {self.n_rows} rows)"
        return f"{100 * max(self.share, 0.0):.3g}{error} %{most}{rows}"
