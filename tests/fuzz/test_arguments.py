"""Every parameter of everything public, with every hostile value: a result, or an error that names the argument."""

from __future__ import annotations

import random
import time
from collections import Counter

import numpy as np
import pytest

import finsler
from finsler import InputError
from finsler.errors import LONGEST_MESSAGE, shortened, shown
from fuzz.conftest import EXAMPLES
from fuzz.counts import counted
from fuzz.public import ANYTHING, ENTRIES, SIX, Entry, fitted, hostile, outcome

SLOWEST = 60.0  # seconds of processor time that the values of one parameter may take before the test is thought to hang


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_good_arguments_give_a_result(entry):
    assert outcome(entry, {}).kind == "result", outcome(entry, {}).text


CASES = [(entry, name) for entry in ENTRIES for name in entry.parameters if name not in ANYTHING]


@pytest.mark.parametrize(("entry", "name"), CASES, ids=lambda value: getattr(value, "name", value))
def test_hostile_arguments(entry: Entry, name: str):
    began, ends, wrong = time.process_time(), Counter(), {}
    values = hostile()
    if not EXAMPLES:  # a third of the table, another one for each parameter; all of it with FINSLER_FUZZ
        kept = random.Random(f"{entry.name} {name}").sample(sorted(values), len(values) // 3)
        values = {what: values[what] for what in kept}
    for what, value in values.items():
        found = outcome(entry, {name: value})
        ends[found.kind] += 1
        if found.kind not in ("result", "refused"):
            wrong[what] = f"{found.kind}: {found.text}"
        assert time.process_time() - began < SLOWEST, f"{what} takes too long"
    counted("arguments", ends)
    assert not wrong, "\n".join(f"{entry.name}({name}={what}): {text}" for what, text in wrong.items())


def test_what_is_new_is_covered():
    """Names of all packages are looked at, and options that are declared as dictionary types, too."""
    names = {entry.name for entry in ENTRIES}
    offered = {name for name in finsler.__all__ if callable(getattr(finsler, name))}
    assert offered - names == {"InputError", "Embedding"}
    assert {"Embedding.place", "FinslerMDS.transform", "make_sea", "plot_map", "shortest_paths"} <= names
    parameters = {entry.name: entry.parameters for entry in ENTRIES}
    assert {"n_init", "memory_budget"} <= set(parameters["embed_matrix"])
    assert {"weights", "callback"} <= set(parameters["FinslerMDS"])


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: finsler.embed_matrix(np.zeros((2, 2)) + 1 - np.eye(2), labels=5), "labels"),
        (lambda: finsler.embed_graph([(0, 1, 1.0), (1, 0, 1.0)], nodes=0), "nodes"),
        (lambda: finsler.embed_graph([(0, 1, 1.0), (1, 0, 1.0)], unreachable="hinge", far="x"), "far"),
        (lambda: finsler.FinslerMDS(random_state=-1).fit([[0, 1], [2, 0]]), "random_state"),
        (lambda: finsler.LinkPredictor(validation_fraction=float("nan")).fit([(0, 1), (1, 2)]), "validation_fraction"),
        (lambda: finsler.FinslerMDS(alpha=0.2, n_jobs=0).fit([[0, 1], [2, 0]]), "n_jobs"),
        (lambda: finsler.FinslerMDS(tol=10**400).fit([[0, 1], [2, 0]]), "tol"),
    ],
)  # fmt: skip
def test_errors_carry_the_argument(call, argument):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: finsler.datasets.make_flight_hours([40.0, 50.0], [0.0, 1.0], legs=2**27), "legs"),
        (lambda: finsler.geometry.drift_vector(0.1, 2**27), "n_components"),
        (lambda: finsler.learn.split_links(np.array([(0, 1), (1, 2)]), n_nodes=2**27), "n_nodes"),
        (lambda: finsler.inference.random_stress(2**14), "n_points"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_allocated(call, argument, monkeypatch):
    monkeypatch.setattr("finsler._memory.available_memory", lambda: 10**9)
    with pytest.raises(MemoryError, match=argument):
        call()


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda i: i.bootstrap([np.ones((3, 3)), 5]), "replicates"),
        (lambda i: i.bootstrap_counts(np.full((3, 3), 1e25)), "counts"),
        (lambda i: i.cross_validate(SIX, scalings=[]), "scalings"),
        (lambda i: i.scree(SIX, n_permutations=2**31), "n_permutations"),
        (lambda i: i.asymmetry_test(SIX + SIX.T), "D"),
        (lambda _: finsler.embed_series(["a", "b"]), "tables"),
        (lambda _: finsler.plotting.plot_null(5), "test"),
        (lambda _: fitted().both_ways([0], [99]), "j"),
        (lambda _: fitted().drift_at([1.0, 2.0, 3.0]), "places"),
    ],
)
def test_inference_names_the_argument(call, argument):
    with pytest.raises(InputError) as caught:
        call(finsler.inference)
    assert caught.value.argument == argument


def test_messages_shorten_labels():
    label = "x" * 10_000
    with pytest.raises(InputError) as caught:
        finsler.embed_matrix([[0, 1, 2], [np.nan, 0, 1], [1, 1, 0]], labels=[label, "y" * 10_000, "z"])
    assert len(str(caught.value)) <= LONGEST_MESSAGE
    with pytest.raises(InputError) as caught:
        finsler.embed_matrix([[0, 1], [2, 0]], alpha=0.2, labels=["a", "b"]).index("many words " * 1000)
    assert len(str(caught.value)) <= LONGEST_MESSAGE
    assert shortened("short words stay") == "short words stay"
    assert len(shown([label] * 50)) < 200
