"""Everything that the library offers, found by introspection, with good arguments and hostile ones.

A new public function, class, method or option is covered by itself as long as its required parameters have names that
`GOOD` knows; otherwise the tests say so.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import inspect
import pkgutil
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

import finsler
from finsler.errors import InputError, MissingExtraError, UnknownLabelError
from finsler.graphs.network import Network

LONG_LABEL = "L" * 10_000
LONGEST_MESSAGE = 2_000  # characters


def _numbers() -> dict[str, Any]:
    return {
        "None": None, "text": "x", "no text": "", "bytes": b"x", "minus one": -1, "zero": 0, "one": 1, "half": 0.5,
        "nan": float("nan"), "inf": float("inf"), "minus inf": float("-inf"), "huge": 1e300, "subnormal": 5e-324,
        "huge integer": 10**400, "2**70": 2**70, "2**31": 2**31, "complex": 1j, "True": True, "numpy bool": np.False_,
        "numpy nan": np.float32("nan"), "object": object(), "type": int, "function": len,
    }  # fmt: skip


def _containers() -> dict[str, Any]:
    return {
        "empty list": [], "empty dict": {}, "empty tuple": (), "set": {1}, "generator": (k for k in range(3)),
        "numbers": [1, 2, 3], "texts": ["a", "b"], "long label": [LONG_LABEL] * 4, "long text": LONG_LABEL,
        "unhashable": [[1], [2], [3], [4]], "ragged": [[1, 2], [3]], "dict": {"a": 1}, "objects": [object()] * 4,
        "no rows": np.zeros((0, 3)), "no columns": np.zeros((3, 0)), "empty": np.zeros(0), "scalar array": np.array(1.0),
        "wide": np.ones((2, 3)), "cube": np.ones((2, 2, 2)), "zeros": np.zeros((4, 4)), "one point": np.zeros((1, 1)),
        "negative": -np.ones((4, 4)), "not numbers": np.full((4, 4), "x"), "nans": np.full((4, 4), np.nan),
        "infs": np.full((4, 4), np.inf), "dates": np.zeros((4, 4), dtype="M8[s]"), "booleans": np.ones((4, 4), dtype=bool),
        "huge entries": np.where(np.eye(4), 0, 1e300), "subnormal entries": np.where(np.eye(4), 0, 5e-324),
        "float32 above 1e19": np.where(np.eye(4), 0, 1e25).astype(np.float32), "complex entries": np.ones((4, 4)) * 1j,
        "masked": np.ma.masked_all((4, 4)), "records": np.zeros(4, dtype=[("a", float), ("b", int)]),
    }  # fmt: skip


def hostile() -> dict[str, Any]:
    """Fresh values, a name for each, none of which any parameter need understand."""
    return {**_numbers(), **_containers()}


MATRIX = np.array([[0.0, 3, 4, 5], [2, 0, 2, 4], [4, 3, 0, 2], [5, 4, 3, 0]])
POINTS = np.array([[0.0, 0], [1, 0.2], [2.1, 0], [0.3, 1.5], [1.4, 1.1], [2.2, 1.9]])
SIX = finsler.randers_distances(POINTS, drift=0.2) * np.random.default_rng(0).uniform(0.9, 1.1, (6, 6))
COUNTS = np.random.default_rng(0).poisson(20, (6, 6))
ARCS = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (2, 0), (1, 3), (3, 4), (4, 5), (5, 0), (2, 5), (4, 1)]


@functools.cache
def fitted() -> finsler.Embedding:
    """A small map with places on the globe and a graph behind it."""
    names = ["A", "B", "C", "D"]
    found = finsler.embed_matrix(MATRIX, alpha=0.2, labels=names, max_iter=5, tol=1.0)
    ring = finsler.graphs.as_digraph([(names[i], names[(i + 1) % 4], 1.0 + i) for i in range(4)])
    found = dataclasses.replace(found, network=Network.whole(ring))
    return found.with_attributes({"lon": [1.0, 2.0, 3.0, 4.0], "lat": [50.0, 51.0, 50.0, 49.0]})


@functools.cache
def fitted_to_six() -> finsler.Embedding:
    """A map of so many points that some can be left out."""
    return finsler.embed_matrix(SIX, max_iter=20)


def sparse_arcs() -> csr_array:
    rows, columns = np.array(ARCS).T
    return csr_array((np.ones(len(ARCS)), (rows, columns)), shape=(6, 6))


def link_graph() -> Any:
    return np.argwhere(np.random.default_rng(0).random((30, 30)) < 0.2)


@functools.cache
def link_split() -> Any:
    from finsler.learn import split_links

    return split_links(link_graph())


@functools.cache
def inference(name: str, **options: Any) -> Any:
    """Result of a function of `finsler.inference`, from good arguments."""
    import finsler.inference

    data = {"confidence": [fitted_to_six()], "procrustes": [POINTS, POINTS]}.get(name, [SIX])
    return getattr(finsler.inference, name)(*data, **options)


def scratch(name: str) -> str:
    """Path in a folder that goes with the process."""
    return str(Path(_folder().name) / name)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="finsler-fuzz-")


@functools.cache
def graph_file() -> str:
    path = scratch("arcs.csv")
    Path(path).write_text("source,target,length\n" + "".join(f"{a},{b},1\n" for a, b in ARCS))
    return path


def cells() -> Any:
    """What is asked of an AnnData object."""
    obsm = {"X_pca": POINTS, "velocity_pca": np.ones_like(POINTS)}
    made = SimpleNamespace(
        obs={}, obs_names=[f"c{i}" for i in range(len(POINTS))], obsm=obsm, obsp={}, uns={}
    )
    made.copy = cells
    return made


# Good values of required parameters, by name; `Name.parameter` where the name alone does not tell.
def gridded() -> Any:
    import xarray

    east = xarray.DataArray(
        np.full((3, 4), 0.5), {"y": [0.0, 1.0, 2.0], "x": [0.0, 1.0, 2.0, 3.0]}, ("y", "x")
    )
    return xarray.Dataset({"u": east, "v": 0 * east})


GOOD: dict[str, Callable[[], Any]] = {
    "D": lambda: MATRIX,
    "data": lambda: MATRIX,
    "X": lambda: POINTS,
    "u": lambda: POINTS,
    "v": lambda: 0.1 * POINTS,
    "M": lambda: np.eye(2),
    "omega": lambda: np.array([0.1, 0.2]),
    "points": lambda: POINTS,
    "drift": lambda: 0.2,
    "n_components": lambda: 2,
    "graph": lambda: ARCS,
    "G": lambda: ARCS,
    "columns": lambda: {"people": [1, 2, 3, 4]},
    "adata": cells,
    "velocities": lambda: 0.1 * POINTS,
    "places": lambda: POINTS,
    "clusters": lambda: ["x", "y"] * (len(POINTS) // 2) + ["x"] * (len(POINTS) % 2),
    "transitions": lambda: [("x", "y")],
    "velocities_on_map.transitions": lambda: csr_array(np.ones((len(POINTS), len(POINTS))) / len(POINTS)),
    "neighbors": lambda: csr_array(np.ones((len(POINTS), len(POINTS)))),
    "local_extrema.graph": sparse_arcs,
    "shortest_paths.graph": sparse_arcs,
    "dask_shortest_paths.graph": sparse_arcs,
    "split_links.graph": link_graph,
    "LinkPredictor.X": link_graph,
    "arcs": lambda: np.array(ARCS),
    "n_nodes": lambda: 6,
    "table": lambda: [("a", "b", 5.0), ("b", "a", 7.0), ("b", "c", 4.0), ("c", "a", 6.0)],
    "height": lambda: POINTS[:, 1],
    "embedding": fitted,
    "path": lambda: scratch("out.html"),
    "history": lambda: [3.0, 2.0, 1.0],
    "latitude": lambda: [40.0, 50.0],
    "longitude": lambda: [-70.0, 10.0],
    "alpha": lambda: 0.3,
    "file": graph_file,
    "split": link_split,
    "tasks": lambda: link_split().test,
    "logit": lambda: lambda pairs: np.zeros(len(pairs)),
    "factor": lambda: 2.0,
    "dataset": gridded,
    "speed": lambda: 2.0,
    "indices": lambda: [0, 1, 2],
    "point": lambda: "A",
    "a": lambda: "A",
    "b": lambda: "C",
    "source": lambda: 0,
    "weights": lambda: None,
    "read_graph.path": graph_file,
    "raw_stress.X": lambda: POINTS[:4],
    "normalized_stress.X": lambda: POINTS[:4],
    "stress1.X": lambda: POINTS[:4],
    "values": lambda: MATRIX[:1],
    "A": lambda: POINTS,
    "B": lambda: POINTS[:, ::-1],
    "compare_maps.a": fitted_to_six,
    "compare_maps.b": fitted_to_six,
    "tables": lambda: [MATRIX, MATRIX.T],
    "n_points": lambda: 4,
    "replicates": lambda: [SIX * (1 + 0.1 * k) for k in range(5)],
    "counts": lambda: COUNTS,
    "fit_test.D": lambda: SIX,
    "cross_validate.D": lambda: SIX,
    "scree.D": lambda: SIX,
    "jackknife.embedding": fitted_to_six,
    "confidence.embedding": fitted_to_six,
    "plot_null.test": lambda: inference("asymmetry_test").heights,
    "plot_confidence.confidence": lambda: inference("confidence"),
    "plot_alignment.alignment": lambda: inference("procrustes"),
    "plot_dimensions.scree": lambda: inference("scree", dims=(1, 2), n_permutations=2),
    "plot_cross_validation.found": lambda: inference("cross_validate", dims=(1,), n_folds=2),
    "plot_series.series": lambda: finsler.embed_series([MATRIX, MATRIX.T], max_iter=3),
    "comparison": lambda: finsler.compare_models(SIX, models=["gower", "drift"], n_init=1, max_iter=5, verbose=False),
    "model": lambda: "gower",
    "like": fitted,
    "route": lambda: finsler.graphs.as_digraph(ARCS).route(0, 3),
    "what": lambda: "this",
    "i": lambda: [0, 1],
    "j": lambda: [2, 3],
    "asymmetry_shown.shown": lambda: MATRIX - MATRIX.T,
    "largest_component.graph": lambda: finsler.graphs.as_digraph(ARCS),
    "check_randers.M": lambda: np.eye(2),
    "FinslerMDS.X": lambda: MATRIX,
    "DigraphEmbedding.X": lambda: ARCS,
    "LinkPredictor.source": lambda: 3,
    "LinkPredictor.decision_function.X": lambda: np.array(ARCS),
    "LinkPredictor.predict.X": lambda: np.array(ARCS),
    "LinkPredictor.predict_proba.X": lambda: np.array(ARCS),
    "LinkPredictor.predict_direction.X": lambda: np.array(ARCS),
    "LinkPredictor.score.X": lambda: np.array(ARCS),
    "Embedding.load.path": lambda: str(fitted().save(scratch("map.npz"))),
    "Embedding.save.path": lambda: scratch("map.npz"),
    "LinkPredictor.save.path": lambda: scratch("links.npz"),
}  # fmt: skip
# Optional arguments that every good call is given: without them it takes long, or leaves half of its ways unused.
QUICK = {
    "max_iter": 3, "n_init": 1, "epochs": 1, "n_samples": 30, "n": 60, "depth": 3, "legs": 4, "n_pivots": 3,
    "n_neighbors": 3, "verbose": False, "n_jobs": 1, "max_triangles": 20, "dimensions": (1, 2), "to_fitted": MATRIX[:1],
    "consistency_weights.points": POINTS[:4],
    "LinkPredictor.n_components": 4, "DigraphEmbedding.n_components": 2, "plot_scree.alpha": 0.2, "time_limit": 5.0,
    "LinkPredictor.encoder": "direct", "consistency_weights.boundary": [0, 3],
    "plot_field.drift": (0.1, 0.1), "plot_route.points": POINTS,
    "n_permutations": 2, "n_draws": 3, "n_folds": 2, "n_flips": 20, "dims": (1, 2), "cross_validate.dims": (1,),
    "cross_validate.n_folds": 5,  # fewer may part six points, whatever is wrong with other arguments
    "asymmetry_test.D": SIX,
    "LinkPredictor.score.y": np.arange(len(ARCS)) % 2 == 0,
}  # fmt: skip
# What takes its values from the network, makes records of results, or takes anything at all (scikit-learn's `y`).
NOT_CALLED = re.compile(
    r"fetch_|LinkPredictor\.fit|set_\w+_request$|set_output$|get_|InputError$|LinkPredictor\.load$"
)
ANYTHING = {"y"}


class Entry(NamedTuple):
    """A public callable: how to call it with some arguments replaced, and the parameters that it has."""

    name: str
    call: Callable[..., Any]
    parameters: list[str]


def packages() -> list[Any]:
    """Packages and modules of the library that say in ``__all__`` what they offer."""
    found = [finsler]
    for info in pkgutil.walk_packages(finsler.__path__, "finsler."):
        if info.ispkg and not info.name.startswith("finsler.cli"):
            module = importlib.import_module(info.name)
            if hasattr(module, "__all__"):
                found.append(module)
    return found


def entries() -> Iterator[Entry]:
    """Every public function; constructors of estimators, with ``fit``; methods of estimators and of results."""
    seen = set()
    for module in packages():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or id(thing) in seen or NOT_CALLED.match(name):
                continue
            seen.add(id(thing))
            if not inspect.isclass(thing):
                yield _function_entry(name, thing)
            elif hasattr(thing, "fit"):
                yield from _estimator_entries(name, thing)
            elif name == "Embedding":
                yield from _method_entries(name, fitted)
            elif not dataclasses.is_dataclass(thing) and not issubclass(thing, tuple):
                raise AssertionError(f"say in tests/fuzz/public.py how {name} is made")


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Parameters, and the names that ``**options`` declares as a TypedDict."""
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            found[name] = parameter
            continue
        declared = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        keys = getattr(function.__globals__[declared[1]], "__optional_keys__", ()) if declared else ()
        for option in sorted(keys):
            found[option] = inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None)
    found.pop("self", None)
    return found


def good(owner: str, name: str, parameter: inspect.Parameter) -> dict[str, Any]:
    """A good value of a parameter, by its name; nothing if the default serves."""
    for key in (f"{owner}.{name}", name):
        if key in QUICK:
            return {name: QUICK[key]}
    if parameter.default is not inspect.Parameter.empty:
        return {}
    for key in (f"{owner}.{name}", f"{owner.split('.')[0]}.{name}", name):
        if key in GOOD:
            return {name: GOOD[key]()}
    raise AssertionError(f"{owner} needs {name!r}: say in tests/fuzz/public.py what a good one is")


def _function_entry(name: str, function: Any) -> Entry:
    parameters = _parameters(function)

    def call(**given: Any) -> Any:
        usual = {key: value for p in parameters for key, value in good(name, p, parameters[p]).items()}
        return function(**{**usual, **given})

    return Entry(name, call, list(parameters))


def _estimator_entries(name: str, cls: Any) -> Iterator[Entry]:
    options, inputs = _parameters(cls), _parameters(cls.fit)

    def fit(**given: Any) -> Any:
        usual = {key: value for p in options for key, value in good(name, p, options[p]).items()}
        data = {key: value for p in inputs for key, value in good(name, p, inputs[p]).items()}
        model = cls(**{**usual, **{key: given.pop(key) for key in list(given) if key in options}})
        return model.fit(**{**data, **given})

    yield Entry(name, fit, [*options, *(p for p in inputs if p not in options)])
    yield from _method_entries(name, functools.cache(fit))


def _method_entries(name: str, make: Callable[[], Any]) -> Iterator[Entry]:
    cls = {"Embedding": finsler.Embedding}.get(name) or getattr(finsler, name)
    for method in sorted(set(dir(cls))):
        if method.startswith("_") or method.startswith("fit") or not callable(getattr(cls, method)):
            continue
        full = f"{name}.{method}"
        if NOT_CALLED.match(full) or NOT_CALLED.match(method) or method in ("set_params", "from_solution"):
            continue
        parameters = _parameters(getattr(cls, method))

        def call(
            _method: str = method, _parameters: Any = parameters, _full: str = full, **given: Any
        ) -> Any:
            usual = {key: v for p in _parameters for key, v in good(_full, p, _parameters[p]).items()}
            return getattr(make(), _method)(**{**usual, **given})

        yield Entry(full, call, list(parameters))


ENTRIES = list(entries())


class Outcome(NamedTuple):
    """How a call ended: "result", "refused", or what is wrong with it."""

    kind: str
    text: str = ""


# What inner functions call the data that an argument brings; a message about a file may name the file.
ALIASES = {
    "X": r"points|distances|to_fitted|graph|arcs?|pairs|n_components",
    "points": r"X|distances|n_neighbors|drift|bound",
    "data": "D",
    "D": "X|points|boundary",
    "file": "suffix",
    "graph": r"arcs?|nodes|points|n_components|[Ll]engths?",
    "G": r"graph|arcs?|nodes|points|n_components|[Ll]engths?",
    "arcs": r"graph|nodes|labeled",
    "weights": r"weight|D",
    "table": "columns?|pairs|list",
    "nodes": "n_components|points?",
    "to_fitted": "new points",
    "from_fitted": "new points",
    "v": "current",
    "labels": "labeled",
    "n_nodes": "nodes",
    "path": "html|file|saved",
    "omega": "M",
    "embedding": "map",
    "height": "points",
    "value": "columns?",
    "source": "columns?",
    "target": "columns?",
    "alpha": "drift",
    "features": "rows?",
    "tasks": "pairs?",
}


def outcome(entry: Entry, changed: dict[str, Any], *, strict: bool = True) -> Outcome:
    """Call it with hostile arguments. Anything but a result or an error that names an argument is wrong."""
    with (
        warnings.catch_warnings(),
        contextlib.chdir(_folder().name),
    ):  # a text may be taken for the name of a file
        warnings.simplefilter("ignore")
        try:
            entry.call(**changed)
        except (OSError, MemoryError, MissingExtraError) as error:
            return Outcome("refused", str(error))
        except InputError as error:
            return _judged(error, changed, named=not strict or _names(error, changed))
        except Exception as error:  # this is what is looked for
            if any(map(callable, changed.values())):
                return Outcome("refused", "what a function that was given raises is for its owner to see")
            return Outcome("traceback", f"{type(error).__name__}: {str(error)[:150]}{_where(error)}")
    return Outcome("result")


def _judged(error: Exception, changed: dict[str, Any], named: bool) -> Outcome:
    text = str(error)
    if len(text) > LONGEST_MESSAGE:
        return Outcome("long message", f"{len(text)} characters: {text[:80]} ...{_where(error)}")
    return Outcome("refused", text) if named else Outcome("no argument named", text[:200] + _where(error))


def _names(error: InputError, changed: dict[str, Any]) -> bool:
    if isinstance(error, UnknownLabelError):  # names the label
        return True
    for name, value in changed.items():
        words = rf"\b({name}|{ALIASES.get(name, name)})\b"
        if (
            error.argument == name
            or re.search(words, str(error))
            or (isinstance(value, str) and value in str(error))
        ):
            return True
    return False


def _where(error: Exception) -> str:
    frame = error.__traceback__
    place = ""
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if "finsler" in file and "/tests/" not in file:
            place = f"  [{Path(file).name}:{frame.tb_lineno}]"
        frame = frame.tb_next
    return place
