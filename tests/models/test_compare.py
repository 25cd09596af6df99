"""The comparison: each model wins on its own data, and every number in the table is what it says."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from finsler._runtime import blas_libraries
from finsler.data.matrix import as_dissimilarities
from finsler.errors import InputError
from finsler.geometry.randers import randers_distances
from finsler.models import Comparison, compare_models
from finsler.models import compare as module
from finsler.models.compare import MODELS, sign_accuracy
from finsler.models.joint import slide_distances
from finsler.models.symmetric import Observations, Settings, differences, directions, symmetric_mds
from finsler.report import asymmetry_report
from finsler.solvers.problem import UniformProblem

from helpers import random_problem, slow_stress

RNG = np.random.default_rng(5)
X = 3 * RNG.normal(size=(14, 2))
SYMMETRIC = {"symmetric", "isomap"}


def observe(D, W=None):
    return Observations.of(as_dissimilarities(D, W, missing="mask"))


def made_by(name):
    E = differences(X)[1]
    B = directions(X)[0]
    rng = np.random.default_rng(0)
    r, p, q = rng.normal(size=(3, 14))
    V = np.column_stack([-X[:, 1], X[:, 0]]) * 0.01
    D = {
        "symmetric": E,
        "randers": randers_distances(X, drift=0.3),
        "swirl": randers_distances(X, drift=[0.05, 0.1], swirl=0.05),
        "geodesic": randers_distances(X, drift=[0.05, 0.1], swirl=0.05, geodesic=True),
        "slide": slide_distances(X, np.array([0.2, 0.1])),
        "hill": E + 0.15 * B[0] + 0.1 * B[1],
        "radius": E + 0.1 * (r[None, :] - r[:, None]),
        "gower": E + 0.05 * (np.outer(p, q) - np.outer(q, p)),
        "drift-fitted": E + (np.einsum("ik,kij->ij", V, B) - np.einsum("ik,kij->ij", V, B).T) / 2,
    }[name]
    np.fill_diagonal(D, 0)
    assert D.min() >= 0
    return D


@pytest.mark.parametrize(
    "name", ["randers", "swirl", "geodesic", "slide", "hill", "radius", "gower", "drift-fitted"]
)
def test_each_model_fits_its_own_data_and_no_symmetric_one_does(name):
    table = compare_models(made_by(name), verbose=False)
    assert table[name].normalized_stress < 1e-4
    assert table[name].sign_accuracy > 0.95  # of pairs that differ by next to nothing some may be missed
    assert table[name].asymmetry_shown > 0.9999
    assert table["symmetric"].normalized_stress > 100 * table[name].normalized_stress
    # What contains what: a radius-distance model contains Randers maps, fitted arrows contain mean ones.
    stress = {record.name: record.normalized_stress for record in table}
    assert stress["radius"] <= stress["randers"] * (1 + 1e-6) + 1e-6
    assert stress["drift-fitted"] <= stress["drift"] * (1 + 1e-9)
    assert max(stress["swirl"], stress["geodesic"]) <= stress["randers"] * (1 + 1e-6) + 1e-6


def test_models_go_with_dimensions():
    D = made_by("swirl")
    for m, left_out in ((1, {"swirl", "geodesic"}), (3, {"geodesic"})):
        table = compare_models(D, m, n_init=1, max_iter=20, verbose=False)
        assert {record.name for record in table} == set(MODELS) - left_out
        with pytest.raises(InputError, match="models"):
            compare_models(D, m, models=["geodesic"])


@pytest.mark.parametrize("kind", ["uniform", "asymmetric", "missing"])
def test_records(kind):
    _, D, W = random_problem(0, n=9, kind=kind)
    table = compare_models(D, weights=W, missing="mask", n_init=2, verbose=False)
    assert {record.name for record in table} == set(MODELS)
    assert len(table) == len(MODELS)
    stresses = [record.normalized_stress for record in table]
    assert stresses == sorted(stresses)
    observed = observe(D, W)
    for record in table:
        assert record.normalized_stress == pytest.approx(observed.normalized_stress(record.fit.distances))
        assert record.status in ("converged", "closed_form")
        assert (record.sign_accuracy is None) == (record.name in SYMMETRIC)
        if record.name != "isomap":
            assert record.seconds >= table["symmetric"].seconds
    assert np.diag(table["slide"].fit.distances).tolist() == [0.0] * 9
    randers = table["randers"].fit
    value = slow_stress(randers.parameters["coordinates"], D, W, randers.parameters["drift"])
    unit = 1.0 if W is None else W[~np.eye(9, dtype=bool)].max()  # weights are in units of the largest
    assert unit * observed.stress(randers.distances) == pytest.approx(value)
    assert table.n_pairs == (72 if W is None else np.count_nonzero(W))
    assert table.verdict == asymmetry_report(D, W).verdict


def test_parameters_of_a_table_of_eight_points_in_the_plane():
    _, D, _ = random_problem(0, n=8)
    table = compare_models(D, n_init=1, verbose=False)
    assert {record.name: record.n_parameters for record in table} == {
        "symmetric": 13, "isomap": 13, "randers": 15, "swirl": 16, "geodesic": 16, "slide": 15, "hill": 15,
        "radius": 20, "gower": 26, "drift": 29, "drift-fitted": 29,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["randers", "slide", "hill", "radius"])
def test_counted_parameters_are_the_dimension_of_the_model(name):
    """The rank of the derivatives of all distances by all parameters, at a generic point."""
    rng = np.random.default_rng(1)
    n, m = 7, 3
    theta = rng.normal(size=n * m + (n if name == "radius" else m))

    def distances(theta):
        Y, extra = theta[: n * m].reshape(n, m), theta[n * m :]
        if name == "slide":
            d = slide_distances(Y, extra)
            np.fill_diagonal(d, 0)
            return d.ravel()
        U, E = differences(Y)
        if name == "radius":
            return (E + extra[None, :] - extra[:, None]).ravel()
        along = np.einsum("k,kij->ij", 0.2 * extra, U)
        return (E + (along if name == "randers" else along / np.where(E > 0, E, 1))).ravel()

    J = np.array([(distances(theta + h) - distances(theta - h)) / 2e-6 for h in 1e-6 * np.eye(len(theta))]).T
    _, D, _ = random_problem(0, n=n)
    record = compare_models(D, m, models=[name], n_init=1, verbose=False)[name]
    assert np.linalg.matrix_rank(J, tol=1e-6) == record.n_parameters


def slow_signs(D, W, d):
    right = count = weight_right = weight = 0.0
    for i in range(len(D)):
        for j in range(i):
            if W[i, j] > 0 and W[j, i] > 0 and D[i, j] != D[j, i]:
                ok = (D[i, j] - D[j, i]) * (d[i, j] - d[j, i]) > 0
                size = 2 * W[i, j] * W[j, i] / (W[i, j] + W[j, i]) * abs(D[i, j] - D[j, i])
                right, count, weight_right, weight = (
                    right + ok, count + 1, weight_right + ok * size, weight + size,
                )  # fmt: skip
    return right / count, weight_right / weight


@pytest.mark.parametrize("kind", ["uniform", "asymmetric", "missing"])
def test_sign_accuracy(kind):
    _, D, W = random_problem(2, n=9, kind=kind)
    D[3, 4] = D[4, 3] = 1.0  # a pair without a sign
    W = np.ones((9, 9)) if W is None else W
    W[3, 4] = W[4, 3] = 1.0
    d = np.random.default_rng(0).uniform(1, 2, size=(9, 9))
    d[0, 1] = d[1, 0]  # and one for which the model has none
    assert sign_accuracy(observe(D, W), d) == pytest.approx(slow_signs(D, W, d))


def test_rounding_tells_no_sign():
    _, D, _ = random_problem(2, n=5)
    d = np.ones((5, 5)) + 1e-15 * (D - D.T)
    assert sign_accuracy(observe(D), d) == (0.0, 0.0)


def test_asymmetry_shown_is_bounded_by_the_heights_for_models_that_follow_them():
    _, D, _ = random_problem(4, n=10)
    table = compare_models(D, models=["randers", "radius"], verbose=False)
    share = asymmetry_report(D).gradient_share
    assert table["radius"].asymmetry_shown == pytest.approx(share, abs=1e-4)
    assert table["randers"].asymmetry_shown <= share + 1e-9


def test_symmetric_data_have_no_signs():
    table = compare_models(made_by("symmetric"), verbose=False)
    assert "symmetric" in table.verdict
    assert table.n_asymmetric == 0
    for record in table:
        assert record.sign_accuracy is record.weighted_sign_accuracy is record.asymmetry_shown is None
        assert record.name == "isomap" or record.normalized_stress < 1e-4
    assert " - " in str(table)


def test_same_seed_same_table_and_scale_does_not_matter():
    _, D, _ = random_problem(3, n=12)
    first, again, threads = (
        compare_models(D, random_state=seed, n_jobs=jobs, verbose=False)
        for seed, jobs in ((7, 1), (7, 1), (7, 2))
    )
    for other in (again, threads):
        for a, b in zip(first, other, strict=True):
            assert (a.name, a.normalized_stress) == (b.name, b.normalized_stress)
    for record in compare_models(1e-12 * D, random_state=7, verbose=False):
        assert record.normalized_stress == pytest.approx(first[record.name].normalized_stress, rel=1e-3)


def test_random_state_may_be_a_generator_or_none():
    _, D, _ = random_problem(3, n=6)
    one, two = (
        compare_models(D, models=["slide"], random_state=np.random.RandomState(3), verbose=False)
        for _ in range(2)
    )
    assert one["slide"].normalized_stress == two["slide"].normalized_stress
    assert compare_models(D, models=["slide"], random_state=None, verbose=False)["slide"].n_parameters == 11


def test_more_starts_never_hurt():
    _, D, _ = random_problem(8, n=12)
    few, many = (
        compare_models(D, models=["slide", "hill", "radius"], n_init=n, verbose=False) for n in (1, 5)
    )
    for record in few:
        assert many[record.name].normalized_stress <= record.normalized_stress * (1 + 1e-6)


def test_it_prints_and_turns_into_json_and_markdown():
    _, D, _ = random_problem(3, n=6)
    table = compare_models(D, models=["symmetric", "randers"], n_init=1, verbose=False)
    assert isinstance(table, Comparison)
    lines = str(table).splitlines()
    assert lines[0].startswith("6 points in 2 dimensions, 30 ordered pairs, 15 pairs asymmetric")
    assert lines[1].split() == ["model", "stress", "sign", "by", "size", "shown", "parameters", "seconds"]
    assert lines[3].startswith("Randers map (ours)")
    assert len({len(line) for line in lines[1:5]}) == 1
    assert [row["stress"] for row in table.rows()] == [f"{r.normalized_stress:.4f}" for r in table]
    assert list(table.rows()[0].values()) == re.split("  +", lines[3])
    plain = json.loads(json.dumps(table.to_dict()))
    assert plain["verdict"] == table.verdict
    assert [model["name"] for model in plain["models"]] == ["randers", "symmetric"]
    assert plain["models"][0]["normalized_stress"] == table["randers"].normalized_stress
    assert "fit" not in plain["models"][0]
    rows = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert {row.count("|") for row in rows} == {8}
    assert f"**{table['randers'].normalized_stress:.4f}**" in rows[2]


def test_what_did_not_converge_is_marked():
    _, D, _ = random_problem(3, n=12)
    table = compare_models(D, models=["slide", "hill"], n_init=1, max_iter=2, verbose=False)
    assert {record.status for record in table} == {"max_iter"}
    assert "slide vector*" in str(table)
    assert "* not converged" in str(table)
    assert "* not converged" in table.to_markdown()


def interrupted(*args, **options):
    raise KeyboardInterrupt


def replaced(monkeypatch, name, fit):
    monkeypatch.setitem(MODELS, name, MODELS[name]._replace(fit=fit))


@pytest.mark.parametrize("where", ["gower", "slide", "callback"])
def test_ctrl_c_gives_the_table_so_far(monkeypatch, where):
    _, D, _ = random_problem(3, n=6)
    whole = compare_models(D, n_init=2, verbose=False)
    assert whole.status == whole.to_dict()["status"] == "finished"
    seen = []

    def callback(record):
        seen.append(record)
        if where == "callback" and record.name == "swirl":
            raise KeyboardInterrupt

    if where == "gower":
        replaced(monkeypatch, "gower", interrupted)
    elif where == "slide":  # the loop of our solver catches it, and says so in its status
        monkeypatch.setattr("finsler.models.joint.SlideVectorProblem.evaluate", interrupted)
    with pytest.warns(ConvergenceWarning, match="it was interrupted. Not run: .*drift vectors, fitted"):
        table = compare_models(D, n_init=2, n_jobs=1, callback=callback, verbose=False)
    done = list(MODELS)[: list(MODELS).index("geodesic" if where == "callback" else where)]
    assert [record.name for record in seen] == done
    assert {record.name for record in table} == set(done)
    assert table.not_run == list(MODELS)[len(done) :]
    assert table.status == table.to_dict()["status"] == "interrupted"
    for record in table:
        assert record.normalized_stress == whole[record.name].normalized_stress
    assert table.verdict == whole.verdict
    for text in (" ".join(str(table).split()), table.to_markdown(), table._repr_html_()):
        assert "stopped by Ctrl-C, not run: " in text
        for name in table.not_run:
            assert whole[name].model in text


def test_ctrl_c_after_the_last_model_leaves_nothing_out():
    _, D, _ = random_problem(3, n=6)
    with pytest.warns(ConvergenceWarning, match=r"it was interrupted\.$"):
        table = compare_models(D, models=["symmetric"], n_init=1, callback=interrupted, verbose=False)
    assert (table.status, table.not_run, len(table)) == ("interrupted", [], 1)
    assert "stopped by Ctrl-C\n" in str(table)


@pytest.mark.parametrize("when", ["verdict", "warm-up", "symmetric map", "first model"])
def test_ctrl_c_before_a_model_is_there_goes_on(monkeypatch, when):
    _, D, _ = random_problem(3, n=6)
    evaluate, calls = UniformProblem.evaluate, []

    def once(*args):
        calls.append(args)
        return interrupted() if len(calls) == 1 else evaluate(*args)

    if when == "verdict":
        monkeypatch.setattr(module, "asymmetry_report", interrupted)
    elif when == "first model":
        replaced(monkeypatch, "gower", interrupted)
    else:  # our solver catches it, and says so in its status
        wrong = once if when == "warm-up" else interrupted
        monkeypatch.setattr(UniformProblem, "evaluate", wrong)
    with pytest.raises(KeyboardInterrupt):
        compare_models(D, models=["gower", "drift"], verbose=False)


def test_blas_has_one_thread_meanwhile_and_then_as_many_as_before(monkeypatch):
    def threads():
        return [
            library["num_threads"] for library in blas_libraries().info() if library["user_api"] == "blas"
        ]

    _, D, _ = random_problem(3, n=6)
    found = []
    gower = MODELS["gower"].fit
    replaced(monkeypatch, "gower", lambda *args: found.append(threads()) or gower(*args))
    with blas_libraries().limit(limits=2, user_api="blas"):
        before = threads()
        compare_models(
            D, models=["gower"], n_init=2, callback=lambda _: found.append(threads()), verbose=False
        )
        assert threads() == before
        with pytest.raises(ZeroDivisionError):
            compare_models(D, models=["gower"], callback=lambda _: found.append(threads()) or 1 / 0)
        assert threads() == before
    assert before
    assert found == [[1] * len(before)] * 4


def test_mistakes():
    _, D, _ = random_problem(3, n=6)
    with pytest.raises(ValueError, match="there is no 'umap'; there are symmetric, isomap"):
        compare_models(D, models=["umap"])
    with pytest.raises(TypeError, match="models must be a list"):
        compare_models(D, models="slide")
    with pytest.raises(ValueError, match="D has 2 points"):
        compare_models([[0, 1], [2, 0]])
    with pytest.raises(ValueError, match="n_components must be at least 1"):
        compare_models(D, 0)
    with pytest.raises(ValueError, match="NaN or infinity"):
        compare_models(np.where(D > 2, np.nan, D))
    far = D.copy()
    far[1, 2] = np.inf
    with pytest.raises(ValueError, match=r"From 1 to 2 there is only a bound.*missing='mask'"):
        compare_models(far, missing="hinge")
    with pytest.raises(ValueError, match="unconnected groups"):
        compare_models(D, weights=np.kron(np.eye(2), np.ones((3, 3))))
    with pytest.raises(KeyError, match="no model 'slide' here"):
        compare_models(D, models=["drift"], n_init=1, verbose=False)["slide"]


def test_a_time_limit_gives_the_table_so_far():
    D = random_problem(0, n=12, m=2, kind="uniform")[1]
    seen = []
    with pytest.warns(ConvergenceWarning, match="the time limit was reached. Not run: symmetrized Isomap; R"):
        table = compare_models(D, time_limit=1e-9, n_init=2, callback=seen.append, verbose=False)
    assert [record.name for record in table] == [record.name for record in seen] == ["symmetric"]
    assert table.not_run == list(MODELS)[1:]
    assert table.to_dict()["not_run"] == table.not_run
    assert table.status == "time_limit"
    with pytest.raises(InputError) as error:
        compare_models(D, time_limit=0)
    assert error.value.argument == "time_limit"


def test_the_last_model_ends_in_time():
    _, D, W = random_problem(1, n=40, m=2, kind="asymmetric")
    observed = observe(D, W)
    settings = Settings(2, 3, 2000, 1e-12, deadline=0.0)  # long past
    base = symmetric_mds(observed, Settings(2))
    for name in ("slide", "hill", "radius", "randers", "gower"):
        assert MODELS[name].fit(observed, settings, base).status == "time_limit"


def test_a_limit_that_comes_in_the_last_model_is_told(monkeypatch):
    _, D, _ = random_problem(1, n=6)
    cut = MODELS["gower"].fit
    replaced(monkeypatch, "gower", lambda *args: replace(cut(*args), status="time_limit"))
    with pytest.warns(ConvergenceWarning, match=r"the time limit was reached\.$"):
        table = compare_models(D, models=["symmetric", "gower"], n_init=1, time_limit=1e9, verbose=False)
    assert (table.status, table.not_run) == ("time_limit", [])
    assert "Gower bimension*" in str(table)


@pytest.mark.parametrize("m", [2, 4])
def test_models_that_were_not_run_have_the_names_of_the_table(m):
    D = random_problem(0, n=9, m=2)[1]
    whole = compare_models(D, m, n_init=1, max_iter=5, verbose=False)
    with pytest.warns(ConvergenceWarning) as said:
        cut = compare_models(D, m, n_init=1, time_limit=1e-9, verbose=False)
    names = "; ".join(whole[name].model for name in cut.not_run)
    assert ("Gower, 2 bimensions" in names) == (m == 4)
    assert f"not run, for time: {names}" in " ".join(str(cut).split())
    assert f"not run, for time: {names}" in cut.to_markdown().splitlines()
    assert str(said[0].message).endswith(f"Not run: {names}.")
    assert said[0].filename == __file__


def test_any_number_of_threads_gives_the_same_table():
    _, D, W = random_problem(2, n=15, m=2, kind="asymmetric")
    names = ["slide", "hill", "radius"]
    one, three = (
        compare_models(D, weights=W, models=names, n_init=4, n_jobs=n_jobs, verbose=False)
        for n_jobs in (1, 3)
    )
    for name in names:
        np.testing.assert_array_equal(one[name].fit.distances, three[name].fit.distances)
