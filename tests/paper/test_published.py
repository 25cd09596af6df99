"""MagNet and DiGCN: what they are trained on; the networks themselves where their package is installed."""

import numpy as np
import pytest

pytest.importorskip("torch")

from finsler.learn.tasks import split_links

import published
from published import digcn, magnet, training_pairs


def citations(seed, n=150, reach=30, degree=5):
    """A graph in time: each node cites earlier ones that are near."""
    rng = np.random.default_rng(seed)
    arcs = {(i, int(max(0, i - rng.integers(1, reach)))) for i in range(1, n) for _ in range(degree)}
    return np.array(sorted(arcs))


@pytest.mark.parametrize("task", ["direction", "existence"])
def test_training_pairs_come_from_observed_arcs(task):
    arcs = np.concatenate([citations(5), [[0, 149], [149, 0]]])
    split = split_links(arcs)
    examples = training_pairs(split, task, np.random.default_rng(0))
    seen = {tuple(a) for a in split.observed.tolist()}
    positives = {tuple(p) for p in examples.pairs[examples.labels].tolist()}
    negatives = {tuple(p) for p in examples.pairs[~examples.labels].tolist()}
    one_way = {p for p in seen if p[::-1] not in seen}
    assert not negatives & seen
    assert all(i != j for i, j in negatives)
    assert len(positives) == len(negatives)
    if task == "direction":
        assert positives == one_way
        assert negatives == {p[::-1] for p in one_way}
    else:
        assert positives == seen
        backward = sum(p[::-1] in seen for p in negatives)
        assert backward == len(seen) // 3


@pytest.mark.parametrize("train", [magnet, digcn])
def test_a_missing_package_is_named(train, monkeypatch):
    original = published.import_module

    def without(name, *arguments):
        if name.startswith("torch_geometric_signed_directed"):
            raise ImportError(name)
        return original(name, *arguments)

    monkeypatch.setattr(published, "import_module", without)
    with pytest.raises(ImportError, match="pip install torch-geometric-signed-directed"):
        train(split_links(citations(0)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("train", [magnet, digcn])
def test_published_networks_learn_direction(train):
    pytest.importorskip("torch_geometric_signed_directed")
    rng = np.random.default_rng(0)  # they start from degrees, so some nodes are cited more than others
    arcs = np.array([(i, j) for i in range(300) for j in np.flatnonzero(rng.random(300) < 0.1) if j < i // 4])
    split = split_links(arcs)
    first = train(split, epochs=40, verbose=False)
    assert set(first) == {"direction", "existence_mixed", "existence_random"}
    assert first["direction"] > 60
    assert first == train(split, epochs=40, verbose=False)
