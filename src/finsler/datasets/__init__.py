"""Example data: made from formulas (``make_*``), part of the package (``load_*``), downloaded once (``fetch_*``).

What is not listed here is internal. A new name goes here, into ``__init__.pyi`` and into docs/api.rst; a matrix that
``finsler datasets`` should know, into ``MATRICES`` in `finsler.cli.datasets`.
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "synthetic": ["make_swiss_roll", "make_sea", "make_river", "make_binary_tree", "make_city", "make_exact_randers"],
        "circles": ["make_gyre", "make_ring_road"],
        "differentiation": ["make_differentiation"],
        "flights": ["load_flight_hours", "make_flight_hours"],
        "remote": ["fetch_graph", "fetch_file", "fetch_flight_hours", "fetch_winds"],
    },
)  # fmt: skip
