"""Options of the solver are declared once: signatures, recipes, the command line and the page on parameters agree."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from finsler import FinslerIsomap, FinslerMDS, embed_graph, embed_matrix, embed_pairs, embed_points
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, InputTypeError
from finsler.solvers import options
from finsler.solvers.options import DEFAULTS, EveryOption, MapOptions, MatrixOptions, SolverOptions
from finsler.solvers.smacof import smacof

ROOT = Path(__file__).resolve().parents[2]
ESTIMATORS = {
    FinslerMDS: ("estimators/mds.py", MatrixOptions),
    FinslerIsomap: ("estimators/isomap.py", MapOptions),
}
NOT_ON_THE_COMMAND_LINE = {
    "accelerate": "for experiments",
    "callback": "a function",
    "verbose": "--quiet is verbose=False",
}
D = np.array([[0.0, 2.0, 4.0], [1.0, 0.0, 2.0], [2.0, 1.0, 0.0]])
ARCS = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 1.0)]


def test_every_option_has_a_default():
    for defaults in (DEFAULTS, options.PIVOT_DEFAULTS, options.STREAM_DEFAULTS):
        assert set(defaults) == EveryOption.__optional_keys__, "DEFAULTS in solvers/options.py"


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_signatures_of_estimators(estimator):
    file, known = ESTIMATORS[estimator]
    found = inspect.signature(estimator).parameters
    for name in known.__annotations__:
        assert name in found, f"{name} is declared in solvers/options.py: add it to __init__ in {file}"
        by_method = estimator is FinslerIsomap and name in options.BY_METHOD  # None: that of the method
        usual = None if by_method else DEFAULTS[name]
        assert found[name].default == usual, f"{name} has another default in {file}"
        value = object()
        assert getattr(estimator(**{name: value}), name, None) is value, (
            f"__init__ in {file} must keep {name}"
        )
        assert name in estimator.__doc__, f"the docstring in {file} must tell of {name}"


@pytest.mark.parametrize(
    ("recipe", "data"),
    [(embed_matrix, D), (embed_pairs, ARCS), (embed_graph, ARCS), (embed_points, [[0.0], [1.0], [2.0]])],
)
def test_recipes_hand_every_option_to_the_solver(recipe, data, monkeypatch):
    class Reached(Exception):
        pass

    def solver(backend, n_components, alpha, **options):
        raise Reached(options)

    monkeypatch.setattr("finsler.estimators.mds.smacof", solver)
    given: SolverOptions = {
        "init": "random", "n_init": 3, "max_iter": 7, "tol": 0.25, "accelerate": False, "time_limit": 99.0,
        "callback": print, "swirl": False, "random_state": 5, "n_jobs": 1, "verbose": False,
    }  # fmt: skip
    assert set(given) == set(SolverOptions.__annotations__)
    assert all(given[name] != DEFAULTS[name] for name in given if name != "swirl")
    more = {"n_neighbors": 1} if recipe is embed_points else {}
    with pytest.raises(Reached) as reached:
        recipe(data, **given, **more)
    assert reached.value.args == (given,)


def test_the_command_line_has_every_option():
    typer = pytest.importorskip("typer")
    from finsler.cli.app import app
    from finsler.cli.inputs import SOLVING

    found = {param.name for param in typer.main.get_command(app).commands["embed"].params}
    for name in MapOptions.__annotations__:
        assert name in SOLVING
        assert (name in found) != (name in NOT_ON_THE_COMMAND_LINE), (
            f"{name} is declared in solvers/options.py: add it to cli/options.py and to the signature in cli/embed.py, "
            "or give the reason here"
        )


def test_the_page_on_parameters_tells_of_every_option():
    page = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    for name in DEFAULTS:
        assert f"`{name}`" in page, (
            f"{name} is declared in solvers/options.py: say in docs/parameters.md what it is for"
        )


def test_checked_fills_in_defaults_and_leaves_what_was_given():
    given = {"n_init": 3}
    found = options.checked("smacof", given, SolverOptions)
    assert found == {name: DEFAULTS[name] for name in SolverOptions.__annotations__} | given
    assert given == {"n_init": 3}
    sparse = options.checked("sparse_smacof", {}, options.SparseOptions, options.PIVOT_DEFAULTS)
    assert (sparse["max_iter"], sparse["checkpoint_seconds"]) == (200, 30.0)


class Recording(dict):
    """A dictionary that knows which of its keys were read."""

    def __init__(self, values):
        super().__init__(values)
        self.read = set()

    def __getitem__(self, name):
        self.read.add(name)
        return super().__getitem__(name)


@pytest.mark.parametrize(
    ("module", "solve", "known"),
    [
        ("smacof", lambda: smacof(Dissimilarities(D)), SolverOptions),
        ("sparse.solver", lambda: embed_graph(ARCS, method="sparse"), options.SparseOptions),
    ],
)
def test_the_solvers_read_every_option(module, solve, known, monkeypatch):
    made = []

    def recording(*given, **more):
        made.append(Recording(options.checked(*given, **more)))
        return made[-1]

    monkeypatch.setattr(f"finsler.solvers.{module}.checked", recording)
    solve()
    unread = set(known.__annotations__) - set().union(*(found.read for found in made))
    unread -= {"checkpoint_seconds"}  # without a checkpoint there is no time to save one
    assert unread == set(), f"declared in solvers/options.py, but solvers/{module} does not use it"


@pytest.mark.parametrize(
    "bad",
    [
        {"init": "warm"},
        {"n_init": 0},
        {"n_init": True},
        {"max_iter": -1},
        {"tol": -1.0},
        {"tol": None},
        {"time_limit": 0},
    ],
)
def test_values_without_a_meaning_are_refused_by_name(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        smacof(Dissimilarities(D), **bad)


def test_names_that_do_not_exist_are_refused_with_a_hint():
    with pytest.raises(InputTypeError, match=r"smacof has no option 'n_int'.*'n_init'"):
        smacof(Dissimilarities(D), n_int=3)
