"""How asymmetric are the data, how much of that can a map show, and what would noise alone give?

The data are checked as for a map, by :func:`~finsler.data.matrix.as_dissimilarities`; the numbers are those of
:mod:`finsler.geometry`. A new number is a field of `AsymmetryReport`, filled in by `_report` and shown by `rows`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import sqrt
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from finsler._arguments import check_arguments
from finsler._html import card, plain
from finsler._runtime import thread_count
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.provenance import listed
from finsler.errors import InputError, check_count
from finsler.geometry.asymmetry import FEWEST_ROWS, Triangles, gradient_share, is_symmetric, triangles
from finsler.geometry.components import graph_components
from finsler.geometry.heights import heights_of_rows, solve_heights
from finsler.geometry.noise import LEVEL, noise_of
from finsler.geometry.pairs import Array, Estimate, Pairs, Rows, components, strongly_connected, survey
from finsler.geometry.turning import Turning, turning_shares
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.graphs.distances import DENSE_NODES, sample_rows
from finsler.graphs.paths import shortest_paths

SYMMETRIC = 1e-6  # asymmetry, a share of squares, below which data is called symmetric: 0.1 % of the values
MOSTLY_GRADIENT = 0.5  # share of the asymmetry that must follow heights for a map to be recommended
DOUBTFUL = 0.1  # share of triangles with a shorter detour from which D looks like similarities or flows
QUANTILES = (0.5, 0.9, 0.99, 1.0)  # of the ratios of the two directions
SAMPLE = 50  # rows looked at of a graph too large for all


class Row(NamedTuple):
    """A line of the report: its name, what it says as a value, and in words."""

    name: str
    value: Any
    text: str
    noise: float | None = None  #: What noise alone would give.
    p: float | None = None  #: How likely noise alone gives as much.


@dataclass(frozen=True, eq=False)
class AsymmetryReport:
    """What `asymmetry_report` found; print it to read it. What the data do not define is None, or empty."""

    n_points: int
    n_rows: int | None  #: Points whose pairs, both ways, were looked at; None for all.
    n_looked_at: int  #: Ordered pairs looked at, of which the counts below are.
    n_pairs: int  #: Ordered pairs that are known.
    missing: int  #: Ordered pairs that are NaN or have weight 0.
    unreachable: int  #: Ordered pairs that are infinite, whatever their weight.
    one_way: int  #: Unordered pairs known in one direction only.
    component_sizes: tuple[int, ...]  #: Groups of points with no known pair between them, largest first.
    strongly_connected: bool  #: Every point reaches every other one along known ordered pairs.
    asymmetry: float | None  #: Share of squares, from 0, symmetric, to 1; over the pairs known both ways.
    gradient_share: float | None  #: Part of it that follows heights; chance may put that of a sample below 0.
    errors: dict[str, float]  #: Standard errors of the shares of a sample, by name.
    ratio_quantiles: dict[float, float]  #: Of rho, the costlier over the cheaper way, both positive.
    most_asymmetric: dict[str, Any] | None  #: from, to; there and back, of largest difference.
    heights: Array  #: One a point: the high ones cost more to reach than to leave.
    labels: list[Any]
    random_state: int  #: Seed of what was sampled.
    paths: bool = False  #: Lengths of shortest paths: they share arcs, so that no test of noise applies.
    noise: dict[str, float] = field(
        default_factory=dict
    )  #: What noise alone gives, by the name of the share.
    p_values: dict[str, float] = field(default_factory=dict)
    """How likely noise alone gives as much: "gradient_share", and "circle", the largest circle in what heights leave.
    A p-value is left out where the pairs are too few to tell, or too many."""
    turning: tuple[
        Turning, ...
    ] = ()  #: How much of it turns round a center (in the plane), or an axis (in space).
    left_out: tuple[Any, ...] = ()  #: Points that could not be placed with the others.
    triangle_violations: float | None = None  #: Share of known triples i, j, k with D_ik > D_ij + D_jk.
    triangles_checked: int = 0  #: Ordered triples whose three values are known, among those looked at.
    triangles_sampled: bool = False  #: If not, all were looked at.
    worst_triangle: dict[str, Any] | None = None  #: from, via, to; direct, detour; excess, their difference.

    @property
    def components(self) -> int:
        """Number of groups of points with no known pair between them."""
        return len(self.component_sizes)

    @property
    def known_share(self) -> float:
        """Share of the ordered pairs looked at that are known."""
        return self.n_pairs / max(self.n_looked_at, 1)

    @property
    def cyclic_share(self) -> float | None:
        """Part of the asymmetry that runs in circles: what does not follow heights."""
        return None if self.gradient_share is None else 1.0 - self.gradient_share

    @property
    def alpha_asked(self) -> dict[float, float]:
        """Alpha that a map needs to show each of the ratios: (rho - 1) / (rho + 1)."""
        return {q: (rho - 1) / (rho + 1) for q, rho in self.ratio_quantiles.items()}

    @property
    def symmetric_stress(self) -> float | None:
        """Root of the asymmetry: the least normalized stress that a symmetric map can have on these pairs."""
        return None if self.asymmetry is None else sqrt(self.asymmetry)

    def is_significant(self, share: str) -> bool:
        """Whether a share, given by its name, is above noise: by its p-value, else by two standard errors."""
        value = getattr(self, share)
        if value is None or value - 2 * self.errors.get(share, 0.0) <= 0:
            return False
        return self.p_values.get(share, 0.0) <= LEVEL

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        if self.components == 1:
            return self._about_asymmetry()
        split = f"The points fall into {self.components:,} groups with no known pair between them"
        return f"{split}: there is no common map, embed each group by itself. {self._about_asymmetry()}"

    def _about_asymmetry(self) -> str:
        if self.asymmetry is None:
            where = "" if self.n_rows is None else " of these rows"
            return f"No pair{where} is known both ways, so nothing tells how asymmetric the data is."
        if self.asymmetry < SYMMETRIC:
            aside = f"; pairs known one way only ({self.one_way:,}) say nothing about it" * bool(self.one_way)
            return f"The data is symmetric: use ordinary MDS, or alpha = 0{aside}."
        if self.errors and not self.is_significant("asymmetry"):
            return f"The asymmetry is not significantly above 0 ({self._root()})."
        amount = f"The asymmetry is {self._root()}: {self._least_stress()}."
        if self.gradient_share is None:
            return f"{amount} These rows do not tell how much of it follows heights."
        share = f"{self._share('gradient_share')} of its squares"
        beside = f" ({self._beside('gradient_share')})" if self._beside("gradient_share") else ""
        if not self.is_significant("gradient_share"):
            chance = "is not significantly above 0" if self.errors else "may be noise"
            turns = f"; {self._rest()}" if self._turns() else ": nothing speaks against alpha = 0"
            return f"{amount} What follows heights, {share}, {chance}{beside}{turns}."
        if self.gradient_share >= MOSTLY_GRADIENT:
            return f"{amount} A Randers map of enough dimensions can show up to {share}{beside}."
        return f"{amount} Only {share} follow heights{beside}; {self._rest()}."

    def _turns(self) -> Turning | None:
        """What stands out as turning, on the map of the fewest dimensions."""
        return next((found for found in self.turning if found.stands_out), None)

    def _rest(self) -> str:
        if (found := self._turns()) is not None:
            return f"{_percent(found.share)} or more turn round {found.where}, which swirl=True shows; the rest does neither"
        p = self.p_values.get("circle")
        if p is not None and p > LEVEL:
            return "the rest may be noise, and no such map can show it"
        runs = "runs in circles" if self.paths or p is not None else "runs in circles or is noise"
        return f"the rest {runs}, which no such map can show"

    def rows(self) -> list[Row]:
        """Give the report line by line.

        Examples
        --------
        >>> [row.text for row in asymmetry_report([[0, 2], [1, 0]]).rows() if row.name == "asymmetry"]
        ['31.6 %: no symmetric map can have a lower normalized stress']
        """
        looked = "" if self.n_rows is None else f" looked at, from and to {self.n_rows:,} points"
        known = f"{self.n_pairs:,} of {self.n_looked_at:,}{looked} ({self._share('known_share')})"
        rows = [
            Row("pairs known", self.known_share, known),
            Row("missing", self.missing, f"{self.missing:,}"),
            Row("unreachable", self.unreachable, f"{self.unreachable:,}"),
            Row("known one way only", self.one_way, f"{self.one_way:,} of {self.n_looked_at // 2:,} pairs"),
            *([Row("left out", len(self.left_out), listed(self.left_out))] if self.left_out else []),
            Row("connected", self.strongly_connected, self._connected()),
            *self._asymmetry_rows(),
        ]
        if (share := self.triangle_violations) is not None:
            seed = f"sampled triangles (random_state {self.random_state})"
            doubt = "; are these similarities, or flows?" if share > DOUBTFUL else ""
            which = seed if self.triangles_sampled else "triangles"
            text = f"{_percent(share)} of {self.triangles_checked:,} {which}{doubt}"
            rows.append(Row("shorter by a detour", share, text))
        elif self.n_rows is None:
            rows.append(Row("shorter by a detour", None, "no triangle is known"))
        if (worst := self.worst_triangle) is not None:
            detour = f"{worst['direct']:.6g}, by way of {worst['via']} {worst['detour']:.6g}"
            rows.append(Row("worst detour", worst, f"{worst['from']} to {worst['to']}: {detour}"))
        return rows

    def _asymmetry_rows(self) -> list[Row]:
        if self.asymmetry is None:
            return [Row("asymmetry", None, "no pair is known both ways")]
        if self.gradient_share is None and self.asymmetry < SYMMETRIC:
            return [Row("asymmetry", self.asymmetry, "none"), *self._ratio_rows()]
        amount = f"{self._root()}: {self._least_stress()}{self._doubt('asymmetry')}"
        rows = [
            Row("asymmetry", self.symmetric_stress, amount),
            self._share_row("of it follows heights", "gradient_share"),
            self._share_row("of it runs in circles", "cyclic_share"),
            *(Row(f"turns round {each.where}", each.share, str(each), *each[3:]) for each in self.turning),
            *self._ratio_rows(),
        ]
        if (pair := self.most_asymmetric) is not None:
            values = f"{pair['there']:.6g} there, {pair['back']:.6g} back"
            rows.append(Row("most asymmetric", pair, f"{pair['from']} to {pair['to']}: {values}"))
        if (self.gradient_share or 0.0) > SYMMETRIC and self.is_significant("gradient_share"):
            for name, i in ("hardest", np.argmax(self.heights)), ("easiest", np.argmin(self.heights)):
                text = f"{self.labels[i]} (height {self.heights[i]:+.4g})"
                rows.append(Row(f"{name} to reach", self.labels[i], text))
        return rows

    def _share_row(self, name: str, share: str) -> Row:
        """Line of a share, beside what noise alone would give."""
        p = self.p_values.get({"cyclic_share": "circle"}.get(share, share))
        text = self._share(share) + self._doubt(share)
        beside = self._beside(share)
        return Row(name, getattr(self, share), text + f"; {beside}" * bool(beside), self.noise.get(share), p)

    def _beside(self, share: str) -> str:
        """Words on what noise alone would give of a share."""
        if self.paths:
            return "lengths of paths, to which no test of noise applies" * (share == "gradient_share")
        if share not in self.noise:
            return ""
        words = f"noise alone: {_percent(self.noise[share])}"
        if share == "cyclic_share":
            p = self.p_values.get("circle")
            found = "one stands out" if p is not None and p <= LEVEL else "none stands out"
            return words + ("" if p is None else f"; {found}, p = {p:.2g}")
        if share in self.p_values:
            return f"{words}, p = {self.p_values[share]:.2g}"
        return words + ", too few pairs to tell" * (self.n_rows is None)

    def _root(self) -> str:
        """The asymmetry as a root, in percent, with its error if it has one."""
        root, error = self.symmetric_stress or 0.0, self.errors.get("asymmetry")
        if error is None or root == 0:
            return _percent(root)
        return f"{100 * root:.3g} ± {50 * error / root:.2g} %"

    def _least_stress(self) -> str:
        if self.one_way:
            return "on pairs known both ways, no symmetric map can have a lower stress"
        return "no symmetric map can have a lower normalized stress"

    def _ratio_rows(self) -> list[Row]:
        if not self.ratio_quantiles:
            return []
        ratios, alphas = self.ratio_quantiles, self.alpha_asked
        names = "median {}, 90 % up to {}, 99 % up to {}, largest {}"
        text = names.format(*(f"{x:.3g}" for x in ratios.values()))
        asked = ", ".join(f"{x:.2f}" for x in alphas.values())
        return [Row("costlier : cheaper way", ratios, text), Row("alpha it asks for", alphas, asked)]

    def _connected(self) -> str:
        if self.components > 1:
            sizes = ", ".join(map(str, self.component_sizes[:5])) + (", …" if self.components > 5 else "")
            return f"no: {self.components:,} groups, of {sizes} points"
        return "yes, both ways" if self.strongly_connected else "yes, but not both ways"

    def _share(self, name: str) -> str:
        """Share in percent, no less than 0 and no more than 100, with its error if it has one."""
        if getattr(self, name) is None:
            return "not known"
        error = self.errors.get("gradient_share" if name == "cyclic_share" else name)
        share = min(1.0, max(0.0, getattr(self, name)))
        return _percent(share) if error is None else f"{100 * share:.3g} ± {100 * error:.2g} %"

    def _doubt(self, name: str) -> str:
        doubted = self.errors and getattr(self, name) is not None and not self.is_significant(name)
        return ", not significantly above 0" if doubted else ""

    def to_dict(self) -> dict[str, Any]:
        """Give the report as plain Python numbers, strings, lists and dicts, ready for JSON."""
        made = ("components", "known_share", "symmetric_stress", "cyclic_share", "alpha_asked", "verdict")
        names = [*(field.name for field in fields(self)), *made]
        return {name: plain(getattr(self, name)) for name in names}

    def _repr_html_(self) -> str:
        facts = [(row.name, row.text) for row in self.rows()]
        return card(f"Asymmetry of {self.n_points:,} points", facts=facts, notes=[self.verdict])

    def __str__(self) -> str:
        body = "\n".join(f"  {row.name:<24}{row.text}" for row in self.rows())
        return f"Asymmetry of {self.n_points:,} points\n{body}\n{fill(self.verdict, 84)}"


def asymmetry_report(
    data: Any,
    weights: Any = None,
    *,
    labels: Sequence[Any] | None = None,
    diagonal: str = "check",
    hops: bool = False,
    sample: int | None = None,
    random_state: int | None = 0,
    max_triangles: int = 200_000,
    n_jobs: int | None = None,
) -> AsymmetryReport:
    """Tell whether the data is asymmetric, and whether in a way that a map can show.

    Parameters
    ----------
    data : array-like or DataFrame of shape (n_points, n_points), Dissimilarities, Digraph, or path
        Dissimilarities **from row to column**, checked as for a map; but NaN (missing) and inf (unreachable) are counted,
        not refused. Of a graph, the lengths of its shortest paths. A path is that of a file with such a matrix, as
        :func:`finsler.embed_matrix` takes it.
    weights : array-like of the same shape, optional
        Weight of each ordered pair, 0 for unknown.
    labels : sequence, optional
        Names of the points; by default those that the data bring, or 0, 1, 2, …
    diagonal : {"check", "ignore"}
        Refuse a diagonal that is not zero, or ignore it.
    hops : bool
        Count the arcs of a graph instead of adding their lengths.
    sample : int, optional
        Look only at the pairs from and to so many points, drawn at random; by default at all, or at 50 of a graph with
        more than 5,000 nodes. Shares then have standard errors, and triangles are not looked at.
    random_state : int, optional
        Seed of what is sampled: points, triangles, signs of noise, and ratios beyond two million pairs. None draws one
        and tells it.
    max_triangles : int
        Check all ordered triples if there are no more than this, else sample so many.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    AsymmetryReport
        Prints as a short text; ``rows()`` gives it line by line, and ``to_dict()`` is ready for JSON.

    Examples
    --------
    >>> report = asymmetry_report([[0, 3, 5], [1, 0, 3], [1, 1, 0]], labels=["sea", "hill", "top"])
    >>> report.heights
    array([-1.,  0.,  1.])
    >>> print(report.verdict)
    The asymmetry is 51.1 %: no symmetric map can have a lower normalized stress. A Randers map of enough dimensions
    can show up to 100 % of its squares (noise alone: 66.7 %, too few pairs to tell).
    """
    check_arguments(asymmetry_report, locals())
    fresh = int(np.random.SeedSequence().generate_state(1)[0])
    seed = check_count("random_state", fresh if random_state is None else random_state, 0)
    most = check_count("max_triangles", max_triangles, 0)
    thread_count(n_jobs)  # refuses what is no number of threads
    if isinstance(data, str | os.PathLike):
        from finsler.data.tables import read_table

        table = read_table(data, kind="matrix")
        data, labels = table.values, table.labels if labels is None else labels
    if hasattr(data, "adj") or hasattr(data, "get_edgelist"):  # networkx, igraph
        data = as_digraph(data)
    if isinstance(data, Digraph):
        if weights is not None or labels is not None:
            raise InputError("A graph carries its own labels, and its pairs no weights; do not pass them.")
        found, facts = _look_at_graph(data, hops, sample, seed, n_jobs), data.provenance
    else:
        checked = as_dissimilarities(data, weights, labels=labels, missing="mask", diagonal=diagonal)
        found, facts = _look_at_matrix(checked, sample, seed, n_jobs), checked.provenance
    report = _report(*found, facts.paths or isinstance(data, Digraph), seed, most)
    return replace(report, left_out=facts.left_out)


# All pairs or some rows, the names of the points, their groups, and whether each reaches each other.
_LookedAt = tuple[Pairs | Rows, list[Any], Array, bool]


def _look_at_graph(
    graph: Digraph, hops: bool, sample: int | None, seed: int, n_jobs: int | None
) -> _LookedAt:
    k = _rows_to_draw(SAMPLE if sample is None and graph.n_nodes > DENSE_NODES else sample, graph.n_nodes)
    if k is None:
        D = shortest_paths(graph, method="bfs" if hops else "auto", n_jobs=n_jobs)
        data = as_dissimilarities(D, labels=graph.nodes, missing="mask", name="the distances of the graph")
        return _look_at_matrix(data, None, seed, n_jobs)
    rows = sample_rows(graph, k, hops=hops, random_state=seed, n_jobs=n_jobs)
    strong = not graph_components(graph.matrix, "strong").any()
    return rows, graph.nodes, graph_components(graph.matrix), strong


def _look_at_matrix(data: Dissimilarities, sample: int | None, seed: int, n_jobs: int | None) -> _LookedAt:
    pairs, k = Pairs.of(data.matrix, data.weights, n_jobs), _rows_to_draw(sample, data.n_points)
    looked: Pairs | Rows = pairs
    if k is not None:
        looked = pairs.rows(np.sort(np.random.default_rng(seed).choice(pairs.n_points, k, replace=False)))
    return looked, data.labels or list(range(pairs.n_points)), components(pairs), strongly_connected(pairs)


def _rows_to_draw(sample: int | None, n: int) -> int | None:
    """How many of n rows to look at; None for all."""
    k = n if sample is None else check_count("sample", sample, FEWEST_ROWS)
    return k if k < n else None


def _report(
    pairs: Pairs | Rows, labels: list[Any], groups: Array, strong: bool, paths: bool, seed: int, most: int
) -> AsymmetryReport:
    """Say what all pairs tell, or those of some rows, which stand for all."""
    found, sampled = survey(pairs, seed), isinstance(pairs, Rows)
    asymmetry = Estimate(0.0) if found.both and found.asymmetry.value is None else found.asymmetry
    heights = heights_of_rows(pairs)[0] if isinstance(pairs, Rows) else solve_heights(pairs, found)
    share = Estimate(None, None) if is_symmetric(found, pairs) else gradient_share(pairs, found, heights)
    estimates = {"known_share": found.known_share, "asymmetry": asymmetry, "gradient_share": share}
    noise, p_values = ({}, {}) if paths or share.value is None else noise_of(pairs, found, share.value, seed)
    told = share.value is not None and not groups.any()
    turning = turning_shares(pairs, test=not paths, seed=seed) if told else ()
    quantiles = np.quantile(found.ratios, QUANTILES).tolist() if len(found.ratios) else []
    i, j, there, back = found.widest
    widest = {"from": labels[i], "to": labels[j], "there": there, "back": back}
    seen = Triangles() if isinstance(pairs, Rows) else triangles(pairs, most, seed)
    worst = None
    if seen.worst is not None:
        worst = {name: labels[i] for name, i in zip(("from", "via", "to"), seen.worst, strict=True)}
        worst.update(direct=seen.direct, detour=seen.detour, excess=seen.direct - seen.detour)
    return AsymmetryReport(
        n_points=len(labels),
        n_rows=len(found.flow) if sampled else None,
        n_looked_at=found.looked_at,
        n_pairs=found.known,
        missing=found.looked_at - found.known - found.unreachable,
        unreachable=found.unreachable,
        one_way=found.one_way,
        component_sizes=tuple(np.sort(np.bincount(groups))[::-1].tolist()),
        strongly_connected=strong,
        asymmetry=asymmetry.value,
        gradient_share=share.value,
        errors={name: e for name, (_, e) in estimates.items() if sampled and e is not None},
        ratio_quantiles=dict(zip(QUANTILES, quantiles, strict=False)),
        triangle_violations=seen.violated,
        triangles_checked=seen.checked,
        triangles_sampled=seen.sampled,
        worst_triangle=worst,
        most_asymmetric=widest if there > back else None,
        heights=heights,
        labels=labels,
        random_state=seed,
        paths=paths,
        noise=noise,
        p_values=p_values,
        turning=turning,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share == 0 or share >= 1e-3 else "less than 0.1 %"
