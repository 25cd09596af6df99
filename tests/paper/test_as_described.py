"""The paper's procedure: gradient of the decoder, the step in the Randers norm, seeds, and studies that can be stopped."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize

torch = pytest.importorskip("torch")
pytest.importorskip("optuna")

from finsler.graphs.digraph import as_digraph  # noqa: E402
from finsler.learn.tasks import score_links, split_links  # noqa: E402

import as_described as described  # noqa: E402
import table1  # noqa: E402
import table2  # noqa: E402

SETTINGS = {"inputs": "identity", "learning_rate": 0.5, "layers": 2, "width": 64, "dropout": 0.1}


def norm(u, alpha):
    return np.sqrt(sum(x * x for x in u)) + alpha * u[-1]


@pytest.fixture
def small(monkeypatch):
    rng = np.random.default_rng(0)
    arcs = np.array([(i, j) for i in range(60) for j in range(i // 2) if rng.random() < 0.25])
    graph, features = as_digraph((arcs[:, 0], arcs[:, 1])), np.eye(len(np.unique(arcs)))
    monkeypatch.setattr(described, "link_data", lambda name: (graph, features))
    monkeypatch.setattr(described, "EPOCHS", 6)
    monkeypatch.setattr(
        described, "SPACE", {"inputs": ("features", "identity"), "learning_rate": (0.5, 0.1), "layers": (1, 2),
                             "width": (8,), "dropout": (0.0, 0.2)}
    )  # fmt: skip
    return graph


def test_logits_have_the_gradient_that_finite_differences_give():
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.normal(size=(5, 3)), requires_grad=True)
    pairs = torch.tensor([[0, 1], [1, 0], [2, 4], [3, 1]])
    described.arc_logits(X, pairs).sum().backward()
    step = 1e-6

    def value(at):
        total = 0.0
        for i, j in pairs.tolist():
            distance = norm(at[j] - at[i], described.ALPHA)
            total += (described.RADIUS - distance**2) / described.TEMPERATURE
        return total

    for i in range(5):
        for k in range(3):
            there = np.zeros((5, 3))
            there[i, k] = step
            base = X.detach().numpy()
            slope = (value(base + there) - value(base - there)) / (2 * step)
            assert float(X.grad[i, k]) == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9])
def test_no_other_step_of_its_length_descends_more(alpha):
    """Steps on the sphere of the Randers norm, of which a search from each start finds the best."""
    rng = np.random.default_rng(3)
    gradients = rng.normal(size=(4, 3))
    steps = described.steepest_ascent(-torch.tensor(gradients), alpha).numpy()
    for gradient, step in zip(gradients, steps, strict=True):
        decrease = -(gradient @ step)
        assert norm(step, alpha) ** 2 == pytest.approx(decrease, rel=1e-10)  # F(step) is the dual norm

        def along(u, gradient=gradient, step=step):
            return gradient @ u * norm(step, alpha) / norm(u, alpha)

        best = min(
            (minimize(along, start, tol=1e-12) for start in rng.normal(size=(6, 3))),
            key=lambda found: found.fun,
        )
        assert -best.fun == pytest.approx(decrease, rel=1e-6)
        np.testing.assert_allclose(best.x / norm(best.x, alpha), step / norm(step, alpha), atol=1e-4)


def test_going_up_is_dearer_so_that_steps_up_are_shorter():
    up, down = described.steepest_ascent(-torch.tensor([[0.0, -1.0], [0.0, 1.0]]), 0.5).tolist()
    assert up == pytest.approx([0, 1 / 1.5**2])
    assert down == pytest.approx([0, -1 / 0.5**2])


def test_training_depends_on_the_seed_alone(small):
    split = split_links(small, random_state=0)

    def trained(seed):
        return described.train(
            split.observed, split.n_nodes, None, 4, SETTINGS, seed=seed, validation=split.validation, epochs=6
        )[0]

    np.testing.assert_array_equal(trained(0), trained(0))
    assert not np.allclose(trained(0), trained(1))


def test_training_finds_what_is_above_and_what_below():
    arcs = np.argwhere(np.random.default_rng(0).random((60, 60)) < 0.12) + [0, 60]
    split = split_links(as_digraph((arcs[:, 0], arcs[:, 1])), random_state=0)
    settings = SETTINGS | {"layers": 1, "dropout": 0.0}
    X, *_ = described.train(split.observed, split.n_nodes, None, 4, settings, epochs=10)
    scores = score_links(split.test, described.logit(X))
    assert scores["direction"] > 90


def test_a_learning_rate_that_is_too_large_leaves_a_map(small):
    split = split_links(small, random_state=0)
    settings = SETTINGS | {"learning_rate": 1e6}
    X, epochs, score = described.train(
        split.observed, split.n_nodes, None, 4, settings, validation=split.validation
    )
    assert np.isfinite(X).all()
    assert epochs == 0
    assert score == -np.inf


def test_a_study_that_was_stopped_goes_on_as_if_it_had_not_been(small, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    chosen = described.study("cora", 3, whole, 4)
    described.study("cora", 3, parts, 2)
    assert len(json.loads((parts / "cora-m3.json").read_text())["trials"]) == 2
    assert described.study("cora", 3, parts, 4) == chosen
    assert (parts / "cora-m3.json").read_text() == (whole / "cora-m3.json").read_text()
    assert chosen["score"] == max(
        t["score"] for t in json.loads((whole / "cora-m3.json").read_text())["trials"]
    )
    monkeypatch.setattr(described, "train", None)  # all trials are there
    assert described.study("cora", 3, whole, 4) == chosen


def test_cells_are_run_once_and_give_rows_in_both_tables(small, tmp_path, monkeypatch):
    table = described.run(["cora"], [2], [0, 1], tmp_path, n_trials=2, verbose=False)
    text = table.read_text(encoding="utf-8")
    assert "| Cora | 2 |" in text
    assert "leaves open" in text
    cells = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "results").iterdir()}
    assert sorted(cells) == ["cora-m2-split0", "cora-m2-split1", "cora-m2-whole"]
    whole = cells["cora-m2-whole"]
    assert whole["scores"]["B"] < whole["unscaled"]["B"]
    assert whole["scores"]["MAP"] == pytest.approx(whole["unscaled"]["MAP"])
    monkeypatch.setattr(described, "train", None)
    assert described.run(["cora"], [2], [0, 1], tmp_path, n_trials=2, verbose=False) == table
    first = table1.table_markdown([], described=cells.values())
    assert f"| Cora | 2 | as described in the paper | 1 |  |  | {described.whole_text(whole)}" in first
    second = table2.described_lines("cora", cells.values())
    assert len(second) == 1
    assert "as described in the paper, m = 2, 2 splits" in second[0]


def test_the_best_factor_is_the_best(small):
    X = np.random.default_rng(1).normal(size=(small.n_nodes, 3))
    s = described.best_factor(X, small.matrix)
    drift = described.drift_vector(described.ALPHA, 3)
    B = [described.digraph_scores(f * s * X, drift, small, verbose=False).B for f in (0.99, 1.0, 1.01)]
    assert B[1] == min(B)
