"""Inputs of encoders, and folds of the cross-fitting."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from finsler.learn import inputs  # noqa: E402
from finsler.learn.inputs import Problem, align, cross_fit, node_inputs  # noqa: E402
from finsler.learn.options import LinkOptions  # noqa: E402


def random_arcs(seed=0, n=40, degree=4):
    rng = np.random.default_rng(seed)
    arcs = {(i, int(j)) for i in range(1, n) for j in rng.choice(i, min(i, degree), replace=False)}
    return np.array(sorted(arcs)), n


def test_folds_keep_reciprocal_arcs_together_and_are_even():
    arcs, n = random_arcs()
    both = np.unique(np.concatenate([arcs, arcs[::3, ::-1]]), axis=0)
    options = LinkOptions(folds=5, ppr_rank=4)
    found = cross_fit(Problem(both, both, n), options, np.random.default_rng(0))
    folds = [{frozenset(arc) for arc in lesson.arcs.tolist()} for lesson in found.lessons]
    assert sum(len(lesson.arcs) for lesson in found.lessons) == len(both)
    assert sum(map(len, folds)) == len(set().union(*folds)) == len(arcs)  # no pair is in two folds
    assert np.ptp([len(fold) for fold in folds]) <= 1


def test_align_undoes_a_rotation_and_is_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert np.allclose(align(X @ turn, X), X)
    other = rng.normal(size=(20, 4))
    assert np.allclose(align(other, X) @ align(other, X).T, other @ other.T)  # lengths and angles stay


def test_cross_fitting_computes_inputs_without_the_fold():
    arcs, n = random_arcs()
    features = np.random.default_rng(0).normal(size=(n, 5))
    options = LinkOptions(folds=3, ppr_rank=4, hops=1)
    found = cross_fit(Problem(arcs, arcs, n, features), options, np.random.default_rng(0))
    assert sorted(p for lesson in found.lessons for p in lesson.arcs.tolist()) == arcs.tolist()
    assert found.inputs.shape == (n, 3 + 4 + 2 * 5)
    columns, *_ = node_inputs(arcs, n, features, Problem(arcs, arcs, n).sketch, rank=4, hops=1)
    for lesson in found.lessons:
        rest = np.array([p for p in arcs.tolist() if p not in lesson.arcs.tolist()])
        degrees = np.log1p(np.bincount(rest[:, 0], minlength=n))  # column 1 counts the other arcs only
        column = columns[:, 1]
        assert np.allclose(lesson.inputs[:, 1], (degrees - column.mean()) / column.std(), atol=1e-5)
    assert found.without_features(7).inputs.shape == (n, 7)


def test_inputs_of_a_fold_do_not_depend_on_its_arcs(monkeypatch):
    """Leak proof: turn the arcs of one fold round, and what they are learned from stays, until it is scaled."""
    arcs, n = random_arcs()
    features = np.random.default_rng(0).normal(size=(n, 5))

    def folds(some):
        """Arcs of the folds, and inputs: of all arcs, then of each fold."""
        computed = []

        def node_inputs_kept(*given, **how):
            computed.append(node_inputs(*given, **how))
            return computed[-1]

        monkeypatch.setattr(inputs, "node_inputs", node_inputs_kept)
        problem = Problem(some, some, n, features)
        vars(problem)["ridge"] = 1.0  # which is chosen by all arcs
        found = cross_fit(problem, LinkOptions(folds=3, ppr_rank=4, hops=1), np.random.default_rng(0))
        return [lesson.arcs for lesson in found.lessons], computed

    lessons, once = folds(arcs)
    turned = np.unique(np.concatenate([lessons[0][:, ::-1], *lessons[1:]]), axis=0)
    others, again = folds(turned)
    assert {tuple(a) for a in others[0].tolist()} == {tuple(a) for a in lessons[0][:, ::-1].tolist()}
    assert [len(blocks) for blocks in once] == [4] * 4  # columns, factors, features and their average
    same = [all(map(np.array_equal, one, other)) for one, other in zip(once, again, strict=True)]
    assert same == [False, True, False, False]


def test_tiny_graphs_get_fewer_folds():
    arcs = np.array([[0, 1], [1, 2]])
    found = cross_fit(Problem(arcs, arcs, 3), LinkOptions(ppr_rank=8), np.random.default_rng(0))
    assert len(found.lessons) == 1
    assert found.inputs.shape == (3, 11)


def test_inputs_for_validation_do_not_know_its_pairs():
    """With arcs held out by `fit` itself, the validation scores must be those of inputs without them."""
    arcs, n = random_arcs()
    hidden, rest = arcs[:12], arcs[12:]
    options = LinkOptions(folds=2, ppr_rank=4)
    alone = cross_fit(Problem(rest, rest, n), options, np.random.default_rng(0))
    found = cross_fit(Problem(rest, arcs, n), options, np.random.default_rng(0))
    assert torch.equal(alone.inputs, found.inputs)
    assert not torch.allclose(found.final, found.inputs)
    degrees = np.log1p(np.bincount(arcs[:, 0], minlength=n)) - np.log1p(np.bincount(rest[:, 0], minlength=n))
    assert set(hidden[:, 0]) == set(np.flatnonzero((found.final - found.inputs)[:, 1].abs() > 1e-6).tolist())
    assert np.flatnonzero(degrees).size == len(set(hidden[:, 0]))
