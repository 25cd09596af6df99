"""A matrix in a file, read in panels within a budget: the maps of the in-memory solver, and no second matrix in memory."""

import tracemalloc

import numpy as np
import pytest

from finsler import FinslerMDS, embed_matrix, randers_distances
from finsler._memory import parse_bytes
from finsler.data.matrix import as_dissimilarities
from finsler.data.memmap import as_memmap_dissimilarities
from finsler.solvers.backends import panels as panels_module
from finsler.solvers.backends.memmap import BESIDE, MemmapPanels, memmap_backend
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.backends.panels import PanelGram
from finsler.solvers.krylov import krylov_eigenpairs
from finsler.solvers.problem import SOLVED
from finsler.solvers.smacof import smacof

from helpers import random_problem, slow_stress


def tight(n, rows=40, copies=4):
    """Budget for panels of about so many rows of float64."""
    return 8.0 * BESIDE * n + 8.0 * copies * n * rows


def noisy(n, m=3, drift=0.4, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    D = randers_distances(rng.normal(size=(n, m)), drift=drift) * rng.uniform(0.9, 1.1, size=(n, n))
    np.fill_diagonal(D, 0)
    return D.astype(dtype)


def saved(path, D):
    np.save(path, D)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("kind", ["uniform", "symmetric", "asymmetric", "missing"])
@pytest.mark.parametrize("m", [2, 5])
def test_a_pass_over_panels_is_a_pass_over_all_pairs(kind, m):
    n = 150
    X, D, W = random_problem(1, n=n, m=m, kind=kind)
    omega = np.zeros(m)
    omega[-1] = 0.4
    backend = memmap_backend(as_memmap_dissimilarities(D, W), tight(n, 20), 2)
    assert len(backend.panels.edges) > 3
    data = as_dissimilarities(D, W)
    for fixed in (omega, None):
        whole = MemoryBackend(data).problem(fixed)
        expected, found = whole.evaluate(X, omega), backend.problem(fixed).evaluate(X, omega)
        assert found.stress == pytest.approx(expected.stress, rel=1e-12)
        assert found.omega == pytest.approx(expected.omega, abs=1e-12)
        assert found.step == pytest.approx(expected.step, abs=SOLVED * np.abs(expected.step).max())
        assert found.decrease == pytest.approx(expected.decrease, rel=1e-6)
    known = np.where(np.isfinite(D), D, 0.0)
    assert backend.point_stress(X, omega).sum() == pytest.approx(slow_stress(X, known, W, omega), rel=1e-10)
    assert backend.total == pytest.approx(float(((1 if W is None else W) * known**2).sum()), rel=1e-12)


@pytest.mark.parametrize("policy", ["mask", "hinge"])
def test_gaps_are_told_from_the_matrix_itself(policy):
    n = 130
    D = noisy(n)
    rng = np.random.default_rng(4)
    D[rng.random((n, n)) < 0.2] = np.inf
    D[rng.random((n, n)) < 0.2] = np.nan
    np.fill_diagonal(D, 0)
    D[3, 3] = np.nan
    W = rng.uniform(0.5, 1, size=(n, n))
    np.fill_diagonal(W, 0)
    for weights in (None, W):
        here = smacof(as_dissimilarities(D, weights, missing=policy), 3, "auto")
        backend = memmap_backend(as_memmap_dissimilarities(D, weights, missing=policy), tight(n, 20))
        backend.panels.factorize = True  # as in memory, so that the iterations are the same
        there = smacof(backend, 3, "auto")
        assert there.coordinates == pytest.approx(here.coordinates, abs=1e-6)
        assert there.stress == pytest.approx(here.stress, rel=1e-9)
        facts, expected = backend.provenance, as_dissimilarities(D, weights, missing=policy).provenance
        assert (facts.n_missing, facts.n_unreachable, facts.policy) == (
            expected.n_missing, expected.n_unreachable, policy,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_the_estimator_reads_a_file_in_panels(tmp_path, dtype):
    n = 620
    D = noisy(n)
    D = np.ceil(100 * D).astype(dtype) if dtype == "int32" else D.astype(dtype)
    np.save(tmp_path / "d.npy", D)
    here = FinslerMDS(3).fit(D)
    there = FinslerMDS(3, memory_budget=tight(n, 20)).fit(str(tmp_path / "d.npy"))
    assert there.embedding_ == pytest.approx(here.embedding_, abs=1e-6 * np.abs(here.embedding_).max())
    assert there.stress_per_point_ == pytest.approx(here.stress_per_point_, abs=1e-7)
    assert "panels at each pass" in there.result_.summary()
    assert FinslerMDS(3).fit(tmp_path / "d.npy").result_.provenance.backend == ""  # it fits in memory
    other = FinslerMDS(3, memory_budget=tight(n, 20)).fit(np.asfortranarray(D))
    assert other.embedding_ == pytest.approx(there.embedding_, abs=1e-9 * np.abs(here.embedding_).max())


def test_a_budget_holds_for_arrays_given_to_the_recipe():
    D = noisy(300)
    limited = embed_matrix(D, labels=list(range(300)), n_components=3, memory_budget=tight(300, 20))
    assert limited.provenance.n_panels > 1
    assert limited.labels[7] == 7
    assert limited.coordinates == pytest.approx(embed_matrix(D, n_components=3).coordinates, abs=1e-5)


def test_weights_may_be_in_a_file_too(tmp_path):
    n = 120
    D, W = noisy(n), np.random.default_rng(0).uniform(0.1, 1, size=(n, n))
    mapped = saved(tmp_path / "d.npy", D), saved(tmp_path / "w.npy", W)
    here = FinslerMDS(3, alpha=0.4).fit(D, weights=W)
    there = FinslerMDS(3, alpha=0.4, memory_budget=tight(n, 20)).fit(mapped[0], weights=mapped[1])
    assert there.embedding_ == pytest.approx(here.embedding_, abs=1e-6)
    assert there.result_.provenance.n_panels > 1


@pytest.mark.parametrize("gaps", [False, True])
def test_no_array_of_the_size_of_the_matrix_is_made(tmp_path, gaps):
    n = 2600
    D = noisy(n)
    if gaps:
        D[np.random.default_rng(1).random((n, n)) < 0.1] = np.nan
        np.fill_diagonal(D, 0)
    mapped, size = saved(tmp_path / "d.npy", D), D.nbytes
    del D
    share = 0.85 if gaps else 0.25
    options = {"alpha": 0.4, "missing": "mask" if gaps else "raise", "tol": 1e-4}
    FinslerMDS(3, memory_budget="1MB", **options).fit(
        mapped[:150, :150]
    )  # what compiling takes is not counted
    tracemalloc.start()
    try:
        mds = FinslerMDS(3, memory_budget=share * size, **options).fit(mapped)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert mds.status_ == "converged"
    assert mds.result_.provenance.n_panels > 1
    assert peak < (share + 0.12) * size  # a few MB for a start do not depend on n
    assert np.isfinite(mapped[:5]).any()  # pages that were let go come back


def test_the_number_of_threads_changes_nothing():
    n = 800
    D = noisy(n, dtype=np.float32)
    maps = [FinslerMDS(3, alpha=0.4, memory_budget="2.5MB", n_jobs=k).fit(D) for k in (1, 2, 5)]
    assert maps[0].result_.provenance.n_panels > 1
    assert all(np.array_equal(maps[0].embedding_, other.embedding_) for other in maps[1:])


def test_the_closed_form_takes_few_passes():
    n = 700  # too many to be gathered
    D = randers_distances(np.random.default_rng(0).normal(size=(n, 3)) * [3, 2, 1], drift=0.5)
    backend = memmap_backend(as_memmap_dissimilarities(D), tight(n, 100, 2))
    assert isinstance(backend._gram, PanelGram)
    passes = []
    plain = backend.panels.sum
    backend.panels.sum = lambda *args, **options: passes.append(args[0]) or plain(*args, **options)
    X = backend.classical(3, 0.5)
    assert backend.point_stress(X, np.array([0, 0, 0.5])).sum() < 1e-12 * backend.total
    assert len(passes) - 1 <= 4
    assert backend.isomap(3).shape == (n, 3)


def test_krylov_finds_the_largest_not_the_widest():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    spectrum = np.concatenate([[-50, 9, 7, 3], rng.uniform(0, 0.1, 56)])
    G = Q * spectrum @ Q.T
    values, vectors, close = krylov_eigenpairs(lambda V: G @ V, 60, 3)
    assert close
    assert values == pytest.approx([9, 7, 3], rel=1e-8)
    assert np.abs((vectors * Q[:, 1:4]).sum(axis=0)) == pytest.approx(1, abs=1e-8)


def test_bad_input_is_refused(tmp_path):
    D = noisy(200)
    budget = tight(200, 10)
    bad = D.copy()
    bad[150, 4] = -1
    with pytest.raises(ValueError, match="from 150 to 4 it is -1"):
        FinslerMDS(memory_budget=budget).fit(bad)
    bad[150, 4] = np.nan
    with pytest.raises(ValueError, match="from 150 to 4 it is nan"):
        FinslerMDS(memory_budget=budget).fit(bad)
    with pytest.raises(ValueError, match="diagonal of X must be zero: from 0 to itself it is 1"):
        FinslerMDS(memory_budget=budget).fit(D + np.eye(200))
    with pytest.raises(ValueError, match="square matrix"):
        FinslerMDS(memory_budget=budget).fit(D[:, :150])
    with pytest.raises(ValueError, match="weights must have the shape"):
        FinslerMDS(memory_budget=budget).fit(D, weights=np.ones((200, 3)))
    with pytest.raises(ValueError, match="weights must be finite"):
        FinslerMDS(memory_budget=budget).fit(D, weights=-D)
    with pytest.raises(MemoryError, match="memory_budget=10 kB is too small for 200 points: it takes 323 kB"):
        FinslerMDS(memory_budget="10kB").fit(D)
    with pytest.raises(ValueError, match="positive number of bytes, or text such as '2GB'; got 'much'"):
        FinslerMDS(memory_budget="much").fit(D)
    with pytest.raises(ValueError, match=r"not the path of a \.npy file"):
        FinslerMDS().fit("d.csv")
    with pytest.raises(FileNotFoundError):
        FinslerMDS().fit(tmp_path / "nothing.npy")
    np.save(tmp_path / "d.npy", D)
    whole = (tmp_path / "d.npy").read_bytes()
    for part in (b"", whole[:50], whole[:5000]):
        (tmp_path / "d.npy").write_bytes(part)
        with pytest.raises(ValueError, match=r"^d\.npy"):
            FinslerMDS().fit(tmp_path / "d.npy")
    for kind in (D.dtype.newbyteorder(), np.longdouble):
        with pytest.raises(TypeError, match=r"D has dtype .* cannot read where it is"):
            as_memmap_dissimilarities(D.astype(kind))
        with pytest.raises(TypeError, match=r"weights has dtype .* cannot read where it is"):
            as_memmap_dissimilarities(D, np.ones(D.shape, kind))
    apart = np.ones((200, 200))
    apart[:50, 50:] = apart[50:, :50] = 0
    with pytest.raises(ValueError, match=r"2 unconnected groups.*sizes 150, 50"):
        FinslerMDS(memory_budget=budget).fit(D, weights=apart)
    with pytest.raises(ValueError, match="missing must be"):
        FinslerMDS(memory_budget=budget, missing="no").fit(D)
    D[~np.eye(200, dtype=bool)] = np.inf
    with pytest.raises(ValueError, match="No dissimilarity in X is finite"):
        FinslerMDS(memory_budget=budget, missing="hinge").fit(D)


def test_points_in_few_pairs_need_another_start(monkeypatch):
    monkeypatch.setattr(panels_module, "LANDMARKS", 10)
    n = 120
    D = np.full((n, n), np.nan)
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 2
    D[near] = noisy(n)[near]
    options = {"missing": "mask", "memory_budget": tight(n, 20), "alpha": 0.2, "tol": 1e-2, "random_state": 0}
    with pytest.raises(ValueError, match="Use init='random'"):
        FinslerMDS(**options).fit(D)
    assert FinslerMDS(**options, init="random").fit(D).status_ == "converged"


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("2GB", 2e9), ("1.5 MiB", 1.5 * 2**20), (1000, 1000), ("3e6", 3e6), ("64kb", 64e3), (2.5, 2.5)],
)
def test_sizes_in_bytes(text, n_bytes):
    assert parse_bytes(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "-2GB", "2XB", 0, "1.2.3", None, True, float("nan")])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match="size must be"):
        parse_bytes(text)


def test_panels_are_as_few_as_fit():
    raw = as_memmap_dissimilarities(noisy(400))
    for rows in (15, 40, 150, 400):
        budget = tight(400, rows, 2)
        edges = MemmapPanels(raw, budget).edges
        sizes = np.diff(edges) * (400 - edges[:-1])
        assert 16 * sizes.max() <= budget - 8 * BESIDE * 400
        assert edges[0] == 0
        assert edges[-1] == 400
    assert len(edges) == 2


def test_the_recipe_for_matrices_leaves_a_large_file_where_it_is(tmp_path, monkeypatch):
    D = randers_distances(np.random.default_rng(0).normal(size=(400, 2)), drift=0.3)
    np.save(tmp_path / "D.npy", D)
    names = [f"p{i}" for i in range(400)]
    passes, usual = [], MemmapPanels.each
    monkeypatch.setattr(MemmapPanels, "each", lambda *args, **more: passes.append(1) or usual(*args, **more))
    found = embed_matrix(tmp_path / "D.npy", labels=names, memory_budget=tight(400, rows=20))
    assert passes
    assert found.distance("p3", "p7") == pytest.approx(D[3, 7], rel=1e-6)
    with pytest.raises(ValueError, match="labels must"):
        embed_matrix(tmp_path / "D.npy", labels=names[:2], memory_budget=tight(400, rows=20))


@pytest.mark.parametrize("kind", ["uniform", "asymmetric", "missing", "hinge"])
def test_how_much_asymmetry_is_shown_is_found_in_the_file(monkeypatch, kind):
    n = 130
    _, D, W = random_problem(1, n=n, m=2, kind=kind)
    policy = "hinge" if kind == "hinge" else "mask"
    D = np.where(D < 0, np.inf, D)
    here = FinslerMDS(2, alpha=0.4, missing=policy).fit(D, weights=W).result_
    backend = memmap_backend(as_memmap_dissimilarities(D, W, missing=policy), tight(n, 20))
    assert len(backend.panels.edges) > 3
    heights, expected = here.coordinates @ here.drift, here.asymmetry_shown()
    few = backend.asymmetry_shown(heights)
    assert few.n_rows == panels_module.ROWS
    assert few.share == pytest.approx(expected.share, abs=5 * few.error)
    monkeypatch.setattr(panels_module, "ROWS", n)
    found = backend.asymmetry_shown(heights)  # but for what noise alone would give
    assert found[:4] == pytest.approx(expected[:4])


def test_the_estimator_says_how_much_asymmetry_is_shown_without_keeping_the_data(tmp_path):
    np.save(tmp_path / "d.npy", noisy(620))
    found = FinslerMDS(2, alpha=0.4, memory_budget=tight(620, 20)).fit(tmp_path / "d.npy").result_
    assert found.data is None
    assert found.asymmetry_shown().n_rows == panels_module.ROWS
    assert f"from {panels_module.ROWS} rows" in found.summary()
