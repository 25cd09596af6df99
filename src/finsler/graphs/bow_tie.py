"""The bow-tie of a digraph: what leads into its core, the core, and what the core leads to.

Most digraphs that people draw have one: the web, citations with reviews, who follows whom, metabolisms. See A. Broder et
al., "Graph structure in the web" (2000). Pairs without a path are what tells its parts apart: a map that leaves them out
(``unreachable="mask"``) does not show it, one that keeps them far apart (``"hinge"``) does, from the top to the bottom.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from finsler.geometry.components import graph_components, largest_component

SMALLEST_CORE = 3  # nodes; a smaller circle is no core


class BowTie(NamedTuple):
    """Numbers of nodes."""

    above: int  #: From which the core can be reached, but not back.
    core: int  #: The largest part in which each node reaches each other one.
    below: int  #: Which the core reaches, but not back.
    beside: int  #: All others.

    @property
    def is_one(self) -> bool:
        """Whether there is a core to speak of, and something above or below it."""
        return self.core >= SMALLEST_CORE and self.above + self.below > 0

    def words(self) -> str:
        """Say what it consists of."""
        return f"{self.above:,} above a core of {self.core:,}, {self.below:,} below, {self.beside:,} beside"


def bow_tie(matrix: Any) -> BowTie:
    """Count the parts of a digraph, given as a square sparse matrix whose stored entries are arcs.

    Examples
    --------
    >>> from finsler.graphs import as_digraph
    >>> arcs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"), ("d", "e"), ("e", "f")]
    >>> bow_tie(as_digraph(arcs).matrix)
    BowTie(above=1, core=3, below=2, beside=0)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    core = largest_component(graph_components(matrix, "strong"))
    # A stored zero is an arc, too, which the search would pass over.
    there = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    ahead, behind = (
        len(breadth_first_order(arcs, int(core[0]), return_predecessors=False)) - len(core)
        for arcs in (there, there.T.tocsr())
    )
    return BowTie(behind, len(core), ahead, matrix.shape[0] - len(core) - ahead - behind)
