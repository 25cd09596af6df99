"""Where data came from, and what was done to them on the way to a map: facts first, sentences made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

SHOWN = 5  # labels that a sentence names


@dataclass(frozen=True)
class Provenance:
    """What was read, chosen, filled and left out.

    Examples
    --------
    >>> facts = Provenance("roads.graphml", "edges", {"value": "travel_time"}, left_out=("Z",))
    >>> print(" ".join(facts.sentences()))
    The values are those of travel_time. 1 point was left out: 'Z'.
    """

    source: str = ""  #: Name of the file, or kind of the object.
    kind: str = ""  #: What it was taken for: matrix, pairs, edges, points, field.
    columns: dict[str, str] = field(default_factory=dict)  #: Their names by role: {"value": "seconds"}.
    counts_arcs: bool = False  #: Whether every arc counts as one, for lack of lengths.
    similarity: str = ""  #: Transform by which flows or similarities became dissimilarities.
    n_missing: int = 0  #: Ordered pairs without a value.
    n_unreachable: int = 0  #: Ordered pairs without a path.
    policy: str = ""  #: What was done with them: "mask", "hinge" or "largest".
    bow_tie: tuple[
        int, ...
    ] = ()  #: Nodes above, in, below and beside a core, where leaving those pairs out hides it.
    left_out: tuple[Any, ...] = ()  #: Labels of points that are not on the map.
    shift: float = 0.0  #: Added to every dissimilarity, because some were negative.
    n_duplicates: int = 0  #: Pairs or arcs that were given more than once.
    aggregate: str = ""  #: How those were made one.
    n_self_loops: int = 0  #: Arcs from a node to itself, dropped.
    method: str = ""  #: "dense" (all pairs) or "sparse" (arcs and pivots).
    chosen: bool = False  #: Whether the method was chosen for the size of the data rather than asked for.
    n_pivots: int = 0  #: Pivots of a sparse map.
    backend: str = ""  #: Where the pairs were, if not in memory: "memmap" or "dask".
    n_panels: int = 0  #: Panels of rows in which they were read there.
    detour: float = (
        0.0  #: By how much ways on a lattice are too long, relative: estimated median over directions,
    )
    most_detour: float = 0.0  #: and the most.
    n_comments: int = 0  #: Rows of a text below its first that look like comments, skipped.
    n_graphs_skipped: int = 0  #: Further and nested graphs of a file, skipped.
    remarks: tuple[str, ...] = ()  #: Whatever else the user should know, in words.

    @property
    def paths(self) -> bool:
        """Whether the values are lengths of shortest paths: they share arcs, so their errors are not independent."""
        return self.kind in ("edges", "points", "field")

    def having(self, **changes: Any) -> Provenance:
        """Give the same facts with some changed; ``remarks`` and ``left_out`` are added to those that are there."""
        for name in ("remarks", "left_out"):
            if name in changes:
                changes[name] = (*getattr(self, name), *changes[name])
        return replace(self, **changes)

    def skipped(self) -> list[str]:
        """Say in words what of the file was not read."""
        said = []
        if self.n_comments:
            said.append(
                f"{count(self.n_comments, 'row')} below the first began with # or %: skipped as comments; put labels that "
                "begin so in quotes."
            )
        if self.n_graphs_skipped:
            said.append(f"{count(self.n_graphs_skipped, 'further or nested graph')} of the file skipped.")
        return said

    def sentences(self) -> list[str]:
        """Say in words what a reader of the map should know."""
        said = self.skipped()
        if "value" in self.columns:
            said.append(f"The values are those of {self.columns['value']}.")
        if self.counts_arcs:
            said.append("Every arc counts as one.")
        if self.similarity:
            said.append(f"Similarities became dissimilarities by {self.similarity!r}.")
        if self.n_self_loops:
            said.append(f"{count(self.n_self_loops, 'self-loop')} dropped.")
        if self.n_duplicates:
            said.append(f"{count(self.n_duplicates, 'repeated pair')} merged ({self.aggregate}).")
        if self.left_out:
            were = "was" if len(self.left_out) == 1 else "were"
            said.append(f"{count(len(self.left_out), 'point')} {were} left out: {listed(self.left_out)}.")
        done = "kept far apart" if self.policy == "hinge" else "left out"
        if self.n_unreachable:
            said.append(f"{count(self.n_unreachable, 'ordered pair')} without a path, {done}.")
        if len(self.bow_tie) == 4:
            above, core, below, beside = (f"{n:,}" for n in self.bow_tie)
            said.append(
                f"These pairs make a bow-tie: {above} nodes above a core of {core}, {below} below, {beside} beside; "
                "unreachable='hinge' shows it."
            )
        if self.n_missing:
            said.append(f"{count(self.n_missing, 'ordered pair')} without a value, left out.")
        if self.shift:
            said.append(f"{self.shift:g} was added to every dissimilarity, because some were negative.")
        if self.method == "sparse":
            why = ", chosen for the number of nodes" if self.chosen else ""
            said.append(f"A sparse map by arcs and {self.n_pivots} pivots{why}.")
        if self.detour:
            said.append(
                f"Ways run along the edges of a lattice: an estimated {self.detour:.1%} too long in the median, "
                f"{self.most_detour:.1%} at most."
            )
        if self.backend == "memmap":
            said.append(f"The matrix was read in {count(self.n_panels, 'panel')} at each pass.")
        elif self.backend == "dask":
            said.append(f"Solved with Dask in {count(self.n_panels, 'panel')}.")
        return [*said, *self.remarks]

    def to_dict(self) -> dict[str, Any]:
        """Give the facts that differ from their defaults, as plain Python."""
        usual = asdict(Provenance())
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Provenance:
        """Make the facts again from what :meth:`to_dict` gave; a fact of another type is a ``TypeError``."""
        usual = cls()
        kept: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in record.items() if hasattr(usual, name)
        }
        for name, value in kept.items():
            words = value.values() if isinstance(value, dict) else value if name == "remarks" else ()
            if type(value) is not type(getattr(usual, name)) or not all(isinstance(w, str) for w in words):
                raise TypeError(f"{name} is {value!r}")
        return cls(**kept)


def count(n: int, what: str) -> str:
    """Count things in words: 1 node, 2,500 nodes."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def listed(labels: Sequence[Any], shown: int = SHOWN) -> str:
    """List the first few labels: 'a', 'b', ..."""
    names = [repr(label) if len(repr(label)) <= 40 else repr(label)[:37] + "..." for label in labels[:shown]]
    return ", ".join([*names, *(["..."] if len(labels) > shown else [])])
