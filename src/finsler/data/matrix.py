"""Dissimilarities: a checked matrix, its weights and its labels, which every solver takes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_number, check_words
from finsler._memory import require_memory
from finsler.data.frames import RECTANGULAR, labeled, place_in
from finsler.data.labels import LabelIndex, frame_labels, plain_label
from finsler.data.provenance import Provenance
from finsler.errors import InputError, InputTypeError, check_choice, shown
from finsler.geometry.components import matrix_components
from finsler.geometry.scaling import shift_of

Array = NDArray[Any]

# What can be done with NaN and inf. Another way goes into `_without_gaps` and `gaps_found`, is worded in `data/provenance`,
# offered in `cli/options`; the backends in `solvers/backends` know one number, how far unreachable pairs are at least.
MISSING_POLICIES = ("raise", "mask", "hinge")
# Diagonals computed in floating point are not exactly zero; below this share of the largest entry they count as zero.
DIAGONAL_TOLERANCE = 1e-6
# Squares of what is larger, or of what is smaller than its inverse, leave the range of floating point when summed.
LARGEST = 1e120
IN_CACHE = 2**16  # numbers that stay in the cache between two looks at them
LARGEST_SINGLE = 1e15  # in single precision, where squares leave the range at 1e19 already


@dataclass(frozen=True, eq=False)
class Dissimilarities:
    """Checked dissimilarities. Make one with :func:`as_dissimilarities`.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        From row to column, float32 or float64; anything may stand where the weight is 0. A negative entry ``-b`` is a
        bound, "at least b": the map pays for it only where it is closer.
    weights : ndarray of shape (n, n) or None
        Weight of each ordered pair; None means 1 for every pair.
    labels : list or None
        Names of the points.
    provenance : Provenance
        Where they come from, and what was filled or left out on the way here.
    """

    matrix: Array
    weights: Array | None = None
    labels: list[Any] | None = None
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.matrix)

    def name(self, i: int) -> str:
        """Label of point ``i`` as an error message shows it."""
        return LabelIndex(self.labels, self.n_points).name(i)

    def require_connected(self) -> None:
        """Raise ``ValueError`` if the pairs with a weight leave the points in several unconnected groups."""
        if self.weights is not None:
            raise_if_unconnected(matrix_components(self.weights), self.name)


def raise_if_unconnected(group: NDArray[np.intp], name: Callable[[int], str]) -> None:
    """Raise ``ValueError`` unless all points are in one group; ``name(i)`` is what the message calls point i."""
    sizes = np.bincount(group)
    if len(sizes) == 1:
        return
    small = np.flatnonzero(group != np.argmax(sizes))
    shown = ", ".join(name(int(i)) for i in small[:8]) + (", ..." if len(small) > 8 else "")
    raise InputError(
        f"The pairs with a weight leave the points in {len(sizes)} unconnected groups (sizes "
        f"{', '.join(map(str, sorted(sizes.tolist(), reverse=True)[:8]))}), which have no common frame. Outside the "
        f"largest group: {shown}. Embed each by itself, the largest alone (unreachable='largest'), or add values between."
    )


def as_dissimilarities(
    D: ArrayLike | Dissimilarities,
    weights: ArrayLike | None = None,
    *,
    labels: Sequence[Any] | None = None,
    missing: str = "raise",
    far: float | None = None,
    diagonal: str = "check",
    negative: str = "raise",
    name: str = "D",
) -> Dissimilarities:
    """Check a matrix of dissimilarities and keep it with its weights and labels. Nothing is modified.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame or Dissimilarities
        From row to column, non-negative, zero diagonal. float32 is kept; everything else becomes float64.
        A DataFrame gives its index as labels; its columns must carry the same labels in the same order.
    weights : array-like of shape (n, n), optional
        Non-negative weight of each ordered pair. The diagonal does not count.
    labels : sequence, optional
        Names of the points, if ``D`` does not bring any.
    missing : {"raise", "mask", "hinge"}
        What to do with NaN (missing) and inf (unreachable): refuse; give these ordered pairs weight 0; or, with
        "hinge", give NaN weight 0 and take inf for "at least ``far``", which costs only where the map is closer.
    far : float, optional
        How far unreachable pairs are at least; the largest finite dissimilarity by default.
    diagonal : {"check", "ignore"}
        Refuse a diagonal that is not zero, or set it to zero.
    negative : {"raise", "shift"}
        Refuse negative values, or add to all what makes them positive, for scalings that do not see a shift; the
        provenance keeps how much.
    name : str
        What error messages call ``D``.

    Examples
    --------
    >>> data = as_dissimilarities([[0, 2], [3, 0]], labels=["north", "south"])
    >>> data.matrix
    array([[0., 2.],
           [3., 0.]])
    """
    check_choice("missing", missing, MISSING_POLICIES)
    check_choice("diagonal", diagonal, ("check", "ignore"))
    check_choice("negative", negative, ("raise", "shift"))
    if far is not None:
        check_number("far", far, 1 / LARGEST, LARGEST)
        if missing != "hinge":
            raise InputError(f"far={far!r} goes with missing='hinge'.", argument="far")
    if isinstance(D, Dissimilarities):
        if weights is not None or labels is not None:
            raise InputError("Dissimilarities carry their own weights and labels; do not pass them again.")
        return D
    table = labeled(D)
    own_labels = frame_labels(table, name)
    matrix = as_float_array(table, name)
    check_square(matrix, name)
    own = np.diagonal(matrix)
    void = np.flatnonzero(own if diagonal == "ignore" else ~np.isfinite(own))  # these mean nothing there
    if void.size:
        matrix = matrix.copy()
        matrix[void, void] = 0
    names = own_labels if labels is None else [plain_label(label) for label in check_words("labels", labels)]
    index = LabelIndex(names, len(matrix))
    if weights is not None:
        weights = _check_weights(weights, matrix.shape, index)
    shift = 0.0
    if negative == "shift":
        away = ~np.eye(len(matrix), dtype=bool)
        shift = shift_of(matrix[away & np.isfinite(matrix) & (True if weights is None else weights > 0)])
        matrix = np.where(away, matrix + matrix.dtype.type(shift), matrix) if shift else matrix
    found = check_rows(matrix, weights, 0, missing, name, index.name)
    check_whole([found], name, index.name)
    if matrix.dtype == np.float32 and needs_double(found.farthest):
        matrix = matrix.astype(np.float64)
    if found.n_unknown:
        bound = (found.farthest if far is None else far) if missing == "hinge" else 0.0
        matrix, weights = _without_gaps(matrix, weights, missing == "hinge", bound, name)
    policy = missing if found.n_unknown else ""
    facts = Provenance(
        n_missing=found.n_missing, n_unreachable=found.n_unreachable, policy=policy, shift=shift
    )
    return Dissimilarities(matrix, weights, names, facts)


def _without_gaps(matrix: Array, weights: Any, hinge: bool, bound: float, name: str) -> tuple[Array, Array]:
    """Give pairs that are not known the weight 0, or take infinite ones for "at least ``bound``"."""
    n = len(matrix)
    require_memory(8.0 * n * n, f"A weight matrix for {n} points", "Use float32, or fewer points.")
    known = np.isfinite(matrix)
    if hinge:
        require_bound(bound, name)
        unreachable = matrix == np.inf
        matrix = np.where(unreachable, matrix.dtype.type(-bound), matrix)
        known |= unreachable
    weights = known.astype(matrix.dtype) if weights is None else np.where(known, weights, 0)
    np.fill_diagonal(weights, 0)
    return matrix, weights


def needs_double(largest: float) -> bool:
    """Whether squares of numbers up to this one leave the range of single precision."""
    return largest > 0 and not 1 / LARGEST_SINGLE < largest < LARGEST_SINGLE


def require_bound(bound: float, name: str) -> None:
    """Raise ``ValueError`` if nothing tells how far unreachable pairs are at least."""
    if bound == 0:
        raise InputError(
            f"No dissimilarity in {name} is finite; say with far= how far unreachable pairs are."
        )


def check_square(matrix: Array, name: str) -> None:
    """Raise ``ValueError`` unless a matrix is square and not empty."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        if matrix.ndim == 2 and 0 in matrix.shape:
            kind = "sample" if matrix.shape[0] == 0 else "feature"
            hint = f" Found array with 0 {kind}(s) (shape={matrix.shape}) while a minimum of 1 is required."
        elif matrix.ndim == 1:
            hint = " Reshape your data to two dimensions."
        else:
            hint = "" if np.isfinite(matrix).all() else " It also contains NaN or infinity."
            hint += f" {RECTANGULAR}" if matrix.ndim == 2 else ""
        raise InputError(
            f"{name} must be a square matrix of dissimilarities from row to column, got shape {matrix.shape}.{hint}"
        )
    if len(matrix) == 0:
        raise InputError(f"{name} is empty: Found array with 0 sample(s) while a minimum of 1 is required.")


def as_float_array(values: ArrayLike, name: str) -> Array:
    """Array of float32 or float64 with the numbers in ``values``, or a ``TypeError`` that shows the first non-number."""
    if isinstance(values, str | os.PathLike):
        raise InputTypeError(
            f"{name} is the path {os.fspath(values)!r}: read the file first, say with pandas.read_csv.",
            argument=name,
        )
    if hasattr(values, "toarray"):
        raise InputTypeError(
            f"{name} is a sparse matrix: Sparse data was passed, but dense data is required here, because absent "
            "entries could mean zero, missing or unreachable. Pass a dense array with NaN for missing pairs.",
            argument=name,
        )
    if np.ma.isMaskedArray(values):
        values = np.ma.filled(np.ma.asarray(values).astype(float), np.nan)
    elif hasattr(values, "to_numpy") and any(str(t) != str(t).lower() for t in getattr(values, "dtypes", ())):
        values = values.to_numpy(dtype=float, na_value=np.nan)  # pandas' nullable types
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must be a rectangular array of numbers: {error}", argument=name) from None
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} has dtype {array.dtype}.", argument=name)
    if array.dtype.kind in "OUS":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            for place in np.ndindex(array.shape):
                try:
                    float(array[place])
                except (TypeError, ValueError, OverflowError):
                    where = place_in(values, place)
                    raise InputTypeError(
                        f"{name} must hold numbers; {where} holds {shown(array[place])}: argument must be a string or a "
                        f"number. {_remedy(values, place, array[place])}",
                        argument=name,
                    ) from None
    raise InputTypeError(f"{name} must hold numbers, got dtype {array.dtype}.", argument=name)


def _remedy(values: Any, place: tuple[int, ...], entry: Any) -> str:
    """What to do about an entry that is not a number."""
    if hasattr(values, "columns") and len(place) == 2 and isinstance(entry, str):
        if re.fullmatch(r"\s*\d+,\d+\s*", entry):
            return "Read decimal commas with pandas.read_csv(..., decimal=',')."
        if place[1] == 0:
            return "If the first column holds the labels, read it as the index: pandas.read_csv(..., index_col=0)."
    return "Replace it, or use NaN where a value is missing."


def _check_weights(weights: ArrayLike, shape: tuple[int, ...], index: LabelIndex) -> Array:
    weights = labeled(weights)
    own = frame_labels(weights, "weights")
    if own is not None and index.labels is not None and list(map(str, own)) != list(map(str, index.labels)):
        raise InputError(
            "The labels of weights are not those of the dissimilarities, in the same order. Reorder with "
            "weights.loc[labels, labels]."
        )
    if np.ma.isMaskedArray(weights):
        weights = np.ma.filled(weights, 0)
    checked = as_float_array(weights, "weights")
    if checked.shape != shape:
        raise InputError(f"weights must have the shape of D, {shape}, got {checked.shape}.")
    if not np.isfinite(np.diagonal(checked)).all():
        checked = checked.copy()
        np.fill_diagonal(checked, 0)
    check_weight_rows(checked, 0, index.name)
    return checked


def check_weight_rows(rows: Array, first: int, point: Callable[[int], str] = str) -> float:
    """Check rows of weights, of which the first is that of point ``first``; return the largest off the diagonal."""
    largest = 0.0
    for i, row in enumerate(rows, start=first):
        bad = ~(np.isfinite(row) & (row >= 0))
        bad[i] = -np.inf < row[i] < 0  # NaN or inf there mean nothing
        if bad.any():
            j = int(np.argmax(bad))
            raise InputError(
                f"weights must be finite and non-negative; from {point(i)} to {point(j)} it is {row[j]}. "
                "Use 0 for a pair that should not count."
            )
        for part in (row[:i], row[i + 1 :]):
            largest = max(largest, float(part.max(initial=0)))
    return largest


@dataclass(frozen=True, eq=False)
class RowsFound:
    """What a check of some rows found."""

    largest: float  #: Of the entries that count.
    farthest: float  #: Of all finite entries.
    n_missing: int  #: Ordered pairs that are NaN.
    n_unreachable: int  #: Ordered pairs that are infinite.
    diagonal: Array

    @property
    def n_unknown(self) -> int:
        """Ordered pairs that are NaN or infinite."""
        return self.n_missing + self.n_unreachable


def check_rows(
    rows: Array,
    weight_rows: Array | None,
    first: int,
    missing: str,
    name: str,
    point: Callable[[int], str] = str,
) -> RowsFound:
    """Check every entry that counts in some rows, of which the first is that of point ``first``."""
    n, largest, farthest, n_missing, n_unreachable = rows.shape[1], 0.0, 0.0, 0, 0
    diagonal = np.diagonal(rows[:, first:]).astype(float)
    if (
        weight_rows is None and n > 1 and len(rows) and not diagonal.any()
    ):  # most matrices need no more than this
        lows, tops = _extremes(rows)
        if (lows >= 0).all() and (tops > 0).all() and (tops < np.inf).all():
            return RowsFound(float(tops.max()), float(tops.max()), 0, 0, diagonal)
    for k, row in enumerate(rows):
        i = first + k
        counts = np.ones(n, dtype=bool) if weight_rows is None else weight_rows[k] > 0
        finite = np.isfinite(row)
        if not finite.all():
            if (row[counts] == -np.inf).any():
                j = int(np.argmax(counts & (row == -np.inf)))
                raise InputError(f"{name} is -inf from {point(i)} to {point(j)}; inf means unreachable.")
            unknown = ~finite & counts
            unknown[i] = False  # an empty diagonal says nothing
            if missing == "raise" and unknown.any():
                j = int(np.argmax(unknown))
                what = f"{row[j]}, which stands for {'an empty cell' if np.isnan(row[j]) else 'no way'}"
                raise InputError(
                    f"{name} contains NaN or infinity: from {point(i)} to {point(j)} it is {what}. Pass missing='mask' to "
                    "leave such ways out (the ways back still count), missing='hinge' to keep infinite ones far, or fill "
                    "them in."
                )
            nan = int(np.isnan(row[unknown]).sum())
            n_missing, n_unreachable = n_missing + nan, n_unreachable + int(unknown.sum()) - nan
        known = counts & finite
        known[i] = False
        values = row[known]
        farthest = max(farthest, float(row[finite].max(initial=0)))
        if values.size:
            if values.min() < 0:
                j = int(np.argmax(known & (row < 0)))
                raise InputError(
                    f"Negative values in data passed to {name}: from {point(i)} to {point(j)} it is {row[j]}. "
                    "Dissimilarities are distances or costs; turn similarities into dissimilarities first."
                )
            top = float(values.max())
            if top == 0 and n > 1:
                raise InputError(
                    f"Row {point(i)} of {name} is all zero: every way from there would be free. Use NaN with "
                    "missing='mask' if these values are unknown, or drop the point if it equals another."
                )
            largest = max(largest, top)
    return RowsFound(largest, farthest, n_missing, n_unreachable, diagonal)


def _extremes(rows: Array) -> tuple[Array, Array]:
    """Least and largest entry of each row, NaN where it holds one; some rows at a time, which stay in the cache."""
    step = max(1, IN_CACHE // rows.shape[1])
    found = [
        (some.min(axis=1), some.max(axis=1))
        for some in (rows[k : k + step] for k in range(0, len(rows), step))
    ]
    lows, tops = zip(*found, strict=True)
    return np.concatenate(lows), np.concatenate(tops)


def check_whole(found: Sequence[RowsFound], name: str, point: Callable[[int], str] = str) -> None:
    """Check what takes all rows: magnitudes and the diagonal."""
    largest = max(part.largest for part in found)
    diagonal = np.concatenate([part.diagonal for part in found])
    if largest > 0 and not 1 / LARGEST < largest < LARGEST:
        raise InputError(
            f"The largest entry of {name} is {largest:g}; rescale to ordinary magnitudes.", argument=name
        )
    off = np.abs(np.nan_to_num(diagonal, nan=0.0)) > DIAGONAL_TOLERANCE * largest
    if len(diagonal) > 1 and off.any():
        i = int(np.argmax(off))
        raise InputError(
            f"The diagonal of {name} must be zero: from {point(i)} to itself it is {diagonal[i]:g}. If it "
            "means nothing, set it to 0 (diagonal='ignore'); if these are counts or similarities, convert them "
            "(similarity='gravity', 'transition', 'rank' or 'linear')."
        )


def gaps_found(found: Sequence[RowsFound], missing: str, name: str) -> tuple[float, Provenance]:
    """How far unreachable pairs are at least, and what is missing, from the checks of all rows."""
    check_whole(found, name)
    counts = {key: sum(getattr(part, key) for part in found) for key in ("n_missing", "n_unreachable")}
    far = 0.0
    if missing == "hinge" and any(counts.values()):
        far = max(part.farthest for part in found)
        require_bound(far, name)
    return far, Provenance(policy=missing if any(counts.values()) else "", **counts)
