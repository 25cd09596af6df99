"""Options are named as in Python and have the same defaults; examples of the help run."""

import inspect
import re
from pathlib import Path

import pytest

pytest.importorskip("typer")
import typer

from finsler.cli.app import app
from finsler.data.matrix import as_dissimilarities
from finsler.data.similarities import dissimilarities_from
from finsler.estimators.isomap import FinslerIsomap
from finsler.estimators.mds import FinslerMDS
from finsler.graphs.pivots import N_PIVOTS
from finsler.models import compare_models
from finsler.recipes import embed_graph, embed_matrix, embed_points
from finsler.solvers.options import PIVOT_DEFAULTS

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = typer.main.get_command(app).commands

# What the library calls each option's function; where several have the parameter, all defaults must be told.
FUNCTIONS = {
    "embed": [embed_matrix, embed_graph, embed_points, FinslerMDS, FinslerIsomap, as_dissimilarities],
    "compare": [compare_models, as_dissimilarities],
}
EXCEPTIONS = {
    "random_state": "0 on the command line: the same command gives the same map",
    "n_jobs": "None is all threads, as the help says",
    "time_limit": "None is no limit",
    "weights": "None is no file",
    "weight": "None is to find out, as the help says",
}


def default(function, name):
    parameter = inspect.signature(function).parameters.get(name)
    return inspect.Parameter.empty if parameter is None else parameter.default


def told(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("command", FUNCTIONS)
def test_defaults_are_those_of_python(command):
    checked = set()
    for param in COMMANDS[command].params:
        defaults = [default(f, param.name) for f in FUNCTIONS[command]]
        defaults = {told(d) for d in defaults if d is not inspect.Parameter.empty}
        if not defaults or param.name in EXCEPTIONS:
            continue
        checked.add(param.name)
        assert param.default is None or param.default is False, param.name  # the library decides
        shown = str(param.show_default).replace("1e-7", "1e-07")
        for value in defaults - {"None", "False"}:
            assert value in shown.replace(";", " ").split(), (param.name, shown, defaults)
    assert len(checked) >= {"embed": 12, "compare": 3}[command], checked


def test_sparse_defaults_are_told():
    shown = {param.name: str(param.show_default) for param in COMMANDS["embed"].params}
    for name in ("max_iter", "tol"):
        assert float(shown[name].partition("sparse: ")[2]) == PIVOT_DEFAULTS[name]


def test_the_number_of_pivots_is_told():
    shown = {param.name: str(param.show_default) for param in COMMANDS["embed"].params}
    assert int(shown["n_pivots"]) == N_PIVOTS


def test_transforms_are_those_of_python():
    params = {param.name: param for param in COMMANDS["embed"].params}
    assert default(dissimilarities_from, "zeros") == params["zeros"].show_default


def test_option_names_are_arguments():
    """Each option is the argument with hyphens, so that an error that names an argument names the option."""
    aliases = {"back": "--from", "source": "--from"}  # of place and predict
    groups = [*COMMANDS.values(), *COMMANDS["datasets"].commands.values()]
    for command in groups:
        for param in command.params:
            if param.param_type_name == "option":
                expected = f"--{param.name.replace('_', '-')}"
                assert param.opts[0] == expected or aliases.get(param.name) == param.opts[0], param.name


PAGES = [
    *ROOT.glob("*.md"),
    *(
        page
        for folder in ("docs", "experiments", "examples", "tutorials")
        for page in (ROOT / folder).rglob("*.*")
    ),
]


def test_documentation_uses_options_that_there_are():
    found = 0
    for page in PAGES:
        if page.suffix not in (".md", ".py", ".sh", ".rst", ".json") or "_build" in page.parts:
            continue
        names = "embed|report|compare|test|dims|align|learn|predict|place|plot|demo|distance"
        for name, rest in re.findall(rf"finsler ({names}) ([^`\n]*)", page.read_text(encoding="utf-8")):
            known = {option for param in COMMANDS[name].params for option in param.opts}
            for option in re.findall(r"(?<=\s)--[a-z-]+", f" {rest}"):
                assert option in known, (page, name, option)
                found += 1
    assert found > 10
