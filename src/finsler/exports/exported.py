"""What people take out of a map: frames, graphs, places on the globe, routes, and the pairs that it shows worst."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from finsler._arguments import check_arguments
from finsler._runtime import cached_property
from finsler.data.frames import made_frame
from finsler.data.labels import LabelIndex
from finsler.errors import InputError, check_count
from finsler.exports.columns import point_columns
from finsler.exports.geography import to_geopandas
from finsler.exports.grids import to_dataset
from finsler.exports.network import to_networkx
from finsler.geometry.residuals import worst_pairs
from finsler.solvers.scaled_map import ScaledMap

if TYPE_CHECKING:
    from finsler.graphs.network import Network
    from finsler.graphs.routes import Route


class PairFit(NamedTuple):
    """An ordered pair beside what the map says of it."""

    source: Any  #: Where it begins.
    target: Any  #: Where it ends.
    in_data: float  #: Its dissimilarity; its disparity, in the units of the map, if the map is a scaled one.
    on_map: float  #: Its distance on the map.
    residual: float  #: ``on_map - in_data``: above 0 the map is too far, below 0 too near.
    share: float  #: Its share in the stress of the map.
    bound: bool  #: Whether the data say only "at least so far".


class ExportedMap(ScaledMap):
    """A map that is asked for its points; base of :class:`finsler.Embedding`."""

    labels: list[Any] | None
    attributes: dict[str, NDArray[Any]]
    network: Network | None

    def index(self, point: Any) -> int:
        """Row of a point given by its label, or by its number if no label is a number."""
        return self._points.position(point)

    @cached_property
    def _points(self) -> LabelIndex:
        return LabelIndex(self.labels, self.n_points)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Coordinates as a data frame: columns ``x1``, ..., ``height``, ``stress_share``, and the attributes of the points.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Package of the frame. The labels are the index of a pandas frame, and the first column, ``label``, of all
            others.

        Examples
        --------
        >>> import finsler
        >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
        >>> towns.to_frame(backend="pyarrow").column_names
        ['label', 'x1', 'height', 'stress_share']
        """
        check_arguments(ExportedMap.to_frame, locals())
        return made_frame(point_columns(self), backend, self.labels)

    def to_networkx(self, G: Any = None, *, store_pos_as: str | None = None) -> Any:
        """The map as a graph of networkx, whose nodes have ``x1``, ..., ``height``, ``stress_share`` and their attributes.

        Parameters
        ----------
        G : networkx graph, optional
            A copy of it is given, with these attributes for the nodes that are on the map. By default the digraph behind
            the map, with the ``length`` of each arc; or the points alone, if there is none.
        store_pos_as : str, optional
            Name of an attribute for the whole position, an array, as layouts of networkx store it. Most files of graphs
            cannot hold it.

        Examples
        --------
        >>> import finsler
        >>> town = finsler.embed_graph([("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 2.0)]).to_networkx()
        >>> sorted(town.nodes["a"]), town.edges["a", "b"]
        (['height', 'stress_share', 'x1'], {'length': 1.0})
        """
        check_arguments(ExportedMap.to_networkx, locals())
        return to_networkx(self, G, store_pos_as)

    def to_geopandas(self) -> Any:
        """The map as a frame of geopandas: :meth:`to_frame` with a geometry, from the attributes ``lon`` and ``lat``.

        ``frame.explore("height")`` or ``frame.plot("height")`` then shows the heights on a real map.
        """
        return to_geopandas(self)

    def to_dataset(self) -> Any:
        """The map on the rows and columns of its points, as an xarray Dataset: coordinates, ``height``, ``stress_share``.

        For maps of gridded fields, and of other points whose attributes lon and lat, or x and y, lie on rows and columns.
        What else is known of the points as numbers goes with it; cells without a point are NaN.

        Examples
        --------
        >>> import numpy as np, finsler
        >>> points = np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
        >>> finsler.embed_points(points, current=[0.3, 0.0]).to_dataset()["height"].dims
        ('y', 'x')
        """
        return to_dataset(self)

    def route(self, a: Any, b: Any) -> Route:
        """Find the fastest way from point a to point b, and the way back, along the digraph behind the map.

        Maps of graphs, and of points in a drift or a current, have one: the ``network``. Nodes that are not on the map are
        passed, and may be asked for.

        Parameters
        ----------
        a, b : label or number
            Where the way begins and ends.

        Examples
        --------
        >>> import finsler
        >>> lanes = [("dam", "mill", 1.0), ("mill", "port", 1.0), ("port", "bank", 1.5), ("bank", "dam", 1.5)]
        >>> route = finsler.embed_graph(lanes).route("dam", "port")
        >>> route.labels, route.length, route.back.labels, route.back.length
        (['dam', 'mill', 'port'], 2.0, ['port', 'bank', 'dam'], 3.0)
        """
        from finsler.graphs.routes import route

        if self.network is None:
            raise InputError(
                "This map has no ways: no graph or field is behind it, or it was saved without. Maps of graphs and points "
                "have one, and save(path, with_data=True) keeps it."
            )
        graph = self.network.graph
        if self.provenance.counts_arcs and graph.weighted:  # the map counts arcs, and so do its ways
            graph = self.network.counted()
        graph = replace(graph, attributes=self.network.knowing(self.attributes))
        found = route(graph, self._node(a), self._node(b), named=(a, b))
        return replace(found, embedding=self)

    def _node(self, point: Any) -> int:
        """Node of a point of the map, or one that is not on the map, by its label."""
        network = self.network
        assert network is not None
        found = self._points.find(point)
        if found is None and (node := network.graph.index.find(point)) is not None:
            return node
        return int(network.nodes[self._points.position(point) if found is None else found])

    def worst_pairs(self, top: int = 30) -> list[PairFit]:
        """Ordered pairs that the map shows worst: those with the largest part in its stress, the largest first.

        Parameters
        ----------
        top : int
            How many; fewer are given if the map is exact on the others.

        Returns
        -------
        list of PairFit
            ``source, target, in_data, on_map, residual, share, bound``; ``pandas.DataFrame`` takes it as it is.

        Examples
        --------
        >>> import finsler
        >>> minutes = [[0, 3, 9, 4], [2, 0, 2, 5], [4, 3, 0, 1], [6, 2, 7, 0]]
        >>> towns = finsler.embed_matrix(minutes, labels=["A", "B", "C", "D"])
        >>> worst = towns.worst_pairs(2)
        >>> [(pair.source, pair.target, pair.in_data) for pair in worst]
        [('B', 'D', 5.0), ('B', 'C', 2.0)]
        """
        check_arguments(ExportedMap.worst_pairs, locals())
        check_count("top", top)
        data = self.data_for("worst_pairs")
        found = worst_pairs(self.coordinates, data.matrix, data.weights, top, **self.metric)
        columns = (found.start, found.end, found.value, found.distance, found.part)
        name = self._points.label
        return [
            PairFit(name(i), name(j), abs(value), far, far - abs(value), part / found.total, value < 0)
            for i, j, value, far, part in zip(*(column.tolist() for column in columns), strict=True)
        ]
