from __future__ import annotations

import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from finsler.embedding import Embedding
from finsler.graphs.digraph import as_digraph
from finsler.graphs.scores import digraph_scores
from finsler.solvers.drift import upright

torch = pytest.importorskip("torch")

from finsler.learn.digraph import DigraphEmbedding  # noqa: E402
from finsler.learn.digraph_objective import RankedStress, hop_counts  # noqa: E402

PATH = [(k, k + 1) for k in range(9)]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def one_way_graph(n=60, seed=0, density=0.05):
    """Arcs from lower to higher numbers only."""
    rng = np.random.default_rng(seed)
    arcs = np.triu(rng.random((n, n)) < density, 1)
    arcs[0, 1] = True
    return csr_array(arcs.astype(float))


def embedding(**options):
    return DigraphEmbedding(**{"n_components": 3, "random_state": 0, "n_jobs": 1, "max_iter": 120, **options})


@quiet
def test_a_path_is_drawn_without_error():
    """Steps up of length 1/(1 + alpha): every distance along the path is exact, and the ranking pulls only a little."""
    fitted = embedding(n_components=2, ranking_weight=1e-3, max_iter=400, tol=1e-9).fit(PATH)
    scores = fitted.scores()
    assert scores.B < 1e-3
    assert scores.MAP == 1.0
    assert fitted.alpha_ == fitted.omega_[-1] > 0
    assert fitted.n_iter_ == len(fitted.history_)


@quiet
def test_a_drift_helps_a_one_way_graph():
    graph = one_way_graph()
    finsler, euclidean = (embedding(n_components=5, alpha=a).fit(graph) for a in ("auto", 0.0))
    assert euclidean.alpha_ == 0
    ours, theirs = finsler.scores(), euclidean.scores()
    assert ours.B < 0.8 * theirs.B
    assert ours.MAP > theirs.MAP
    assert finsler.objective_ < euclidean.objective_


@quiet
def test_what_is_reported_is_that_of_the_embedding():
    graph = as_digraph(one_way_graph())
    fitted = embedding(ranking_weight=0.2, temperature=0.3).fit(graph)
    scores = digraph_scores(fitted.embedding_, fitted.alpha_, graph)
    assert fitted.scores() == scores
    assert fitted.score() == -scores.B
    sources = np.flatnonzero(np.diff(graph.matrix.indptr))
    F = RankedStress(hop_counts(graph, sources), sources, 0.2, 0.3, dtype=torch.float64)
    found = F(torch.from_numpy(fitted.embedding_), fitted.alpha_)
    assert fitted.objective_ == pytest.approx(found.value, rel=1e-5)
    assert fitted.result_.stress == pytest.approx(scores.B * scores.n_pairs, rel=1e-9)
    assert fitted.result_.stress_per_point.sum() == pytest.approx(1)
    assert 0 < fitted.result_.normalized_stress < 1
    assert fitted.result_.provenance.counts_arcs
    np.testing.assert_allclose(upright(fitted.embedding_, fitted.omega_)[0], fitted.embedding_, atol=1e-9)
    np.testing.assert_allclose(fitted.embedding_.mean(0), 0, atol=1e-12)


@quiet
def test_labels_are_kept(tmp_path):
    graph = nx.DiGraph([("source", "weir"), ("weir", "mill"), ("mill", "sea"), ("weir", "sea")])
    fitted = embedding(n_components=2).fit(graph)
    assert fitted.labels_ == ["source", "weir", "mill", "sea"]
    loaded = Embedding.load(fitted.result_.save(tmp_path / "river.npz"))
    assert loaded.distance("weir", "mill") == fitted.result_.distance("weir", "mill")


@quiet
@pytest.mark.parametrize("n_pairs", ["all", 16])
def test_same_seed_same_numbers(n_pairs):
    graph = one_way_graph()
    options = {"n_pairs": n_pairs, "max_iter": 40, "random_state": 5}
    first, again = embedding(**options).fit(graph), embedding(**options).set_params(n_jobs=2).fit(graph)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)
    assert first.alpha_ == again.alpha_
    other = embedding(**{**options, "random_state": 6}).fit(graph)
    assert not np.array_equal(first.embedding_, other.embedding_)


@quiet
def test_scikit_learn_manners():
    unfitted = embedding(alpha=0.3, ranking_weight=0.1)
    copy = clone(unfitted)
    assert copy.get_params() == unfitted.get_params()
    with pytest.raises(NotFittedError):
        unfitted.scores()
    coordinates = copy.fit_transform(PATH)
    np.testing.assert_array_equal(coordinates, copy.embedding_)
    assert copy.alpha_ == 0.3
    assert not hasattr(unfitted, "embedding_")


def test_running_out_of_iterations_is_said():
    with pytest.warns(ConvergenceWarning, match="iterations were used up"):
        fitted = embedding(max_iter=10).fit(one_way_graph())
    assert fitted.status_ == "max_iter"
    assert fitted.n_iter_ <= 10


def test_a_time_limit_ends_it():
    fitted = embedding(time_limit=1e-3, max_iter=10_000, tol=0.0).fit(one_way_graph())
    assert fitted.status_ == "time_limit"
    assert fitted.embedding_.shape == (60, 3)
    assert fitted.n_iter_ < 20
    sampled = embedding(time_limit=1e-3, max_iter=10_000, tol=0.0, n_pairs=8).fit(one_way_graph())
    assert sampled.status_ == "time_limit"


@pytest.mark.parametrize("when", [5, 70, 115])
def test_ctrl_c_keeps_the_map_so_far(monkeypatch, when):
    """In each of the stages; the first two have additional axes, of which none may be left."""
    calls = 0
    evaluate = RankedStress.__call__

    def interrupted(self, *arguments):
        nonlocal calls
        calls += 1
        if calls == when:
            raise KeyboardInterrupt
        return evaluate(self, *arguments)

    monkeypatch.setattr(RankedStress, "__call__", interrupted)
    fitted = embedding(tol=0.0).fit(one_way_graph())
    assert fitted.status_ == "interrupted"
    assert fitted.embedding_.shape == (60, 3)
    assert np.isfinite(fitted.embedding_).all()


@quiet
def test_progress_shows_the_objective(capsys):
    embedding(verbose=True, max_iter=30, n_pairs=8).fit(PATH)
    assert "objective" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"n_components": 11}, "n_components"),  # the graph has 10 nodes
        ({"alpha": 1.0}, "alpha"),
        ({"alpha": -0.1}, "alpha"),
        ({"alpha": "strong"}, "alpha"),
        ({"ranking_weight": -1.0}, "ranking_weight"),
        ({"ranking_weight": float("nan")}, "ranking_weight"),
        ({"temperature": 0.0}, "temperature"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_pairs": 0}, "n_pairs"),
        ({"n_pairs": "some"}, "n_pairs"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_bad_parameters_are_named(options, name):
    with pytest.raises(ValueError, match=f"^{name}"):
        embedding(**options).fit(PATH)


@pytest.mark.parametrize(
    "graph", [csr_array((3, 3)), csr_array((1, 1)), csr_array((0, 0))], ids=["no arcs", "one node", "empty"]
)
def test_nothing_to_draw(graph):
    with pytest.raises(ValueError, match=r"two nodes and one arc|no arcs|empty|no nodes"):
        embedding(n_components=1).fit(graph)


def test_no_gpu_is_said():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=r"device=.cuda. cannot be used here"):
        embedding(device="cuda").fit(PATH)


@quiet
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_gives_the_same_map():
    graph = one_way_graph()
    here, there = (embedding(device=device, max_iter=20).fit(graph) for device in ("cpu", "cuda"))
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-2)


@quiet
def test_in_two_dimensions_the_drift_does_no_harm():
    graph = one_way_graph()
    finsler, euclidean = (embedding(n_components=2, alpha=a).fit(graph) for a in ("auto", 0.0))
    assert finsler.alpha_ > 0
    assert finsler.objective_ < 1.02 * euclidean.objective_


@quiet
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("arcs", [[(0, 1), (1, 2)], [(0, 1), (1, 0)], [(0, 1)]])
def test_a_graph_that_a_line_fits_exactly(arcs, seed):
    """The objective falls to 0 and its gradient below what floats can square."""
    fitted = embedding(n_components=1, ranking_weight=0.0, random_state=seed, max_iter=3000).fit(arcs)
    assert fitted.objective_ < 1e-10
    assert np.isfinite(fitted.embedding_).all()


@quiet
def test_a_sample_of_pairs_where_all_are_neighbors():
    """Nothing is two arcs away, so that the sample of farther pairs is empty."""
    fitted = embedding(n_components=1, n_pairs=3).fit([(0, 1), (1, 0)])
    assert np.isfinite(fitted.embedding_).all()


@quiet
def test_the_example_of_the_guide():
    page = Path(__file__).resolve().parents[2] / "docs" / "entries.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    (block,) = (block for block in blocks if "DigraphEmbedding" in block)
    rng = np.random.default_rng(0)
    arcs = [(0, 39), *((k, j) for k in range(1, 40) for j in {k - 1, int(rng.integers(k))})]
    names: dict[str, object] = {"graph": arcs}
    exec(compile(block, page.name, "exec"), names)  # our own file
    assert names["picture"].coordinates.shape == (40, 2)
    assert names["features"].shape == (40, 10)
    ranked = names["model"].scores()
    plain = DigraphEmbedding(10, ranking_weight=0, random_state=0, verbose=False).fit(names["graph"]).scores()
    assert max(0.7, plain.MAP) < ranked.MAP  # what the page says of ranking_weight=0
    assert plain.B < ranked.B
