import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("optuna")

from finsler.graphs.digraph import as_digraph

import tuning

ARCS = [(f"v{i}", f"v{(i + step) % 40}") for i in range(40) for step in (1, 2, 5)]
QUICK = {"epochs": 2, "n_components": 4, "encoder": "direct", "n_jobs": 1, "verbose": False}


def test_a_study_goes_on_where_it_stopped(tmp_path):
    space = {"learning_rate": (0.01, 0.1), "negatives": (1, 2, 4)}
    path = tmp_path / "study.db"
    first = [t.params for t in tuning.tune(ARCS, storage=path, n_trials=2, space=space, **QUICK).trials]
    again = tuning.tune(ARCS, storage=path, n_trials=3, space=space, **QUICK)
    assert [trial.params for trial in again.trials[:2]] == first
    assert len(again.trials) == 3
    done = tuning.tune(ARCS, storage=path, n_trials=3, space=space, **QUICK)
    assert len(done.trials) == 3
    assert set(again.best_params) == set(space)
    assert 0 <= again.best_value <= 100


def test_only_validation_pairs_are_looked_at(monkeypatch):
    asked = []

    class Spy:
        def __init__(self, **options):
            self.validation_scores_ = {"direct": 50.0}

        def get_params(self):
            return {"width": None}

        def fit(self, graph, *, features, validation):
            asked.append((graph, validation))
            return self

    monkeypatch.setattr(tuning, "LinkPredictor", Spy)
    tuning.tune(ARCS, n_trials=1, space={"width": (1, 2)}, split=3)
    split = tuning.split_links(ARCS, random_state=3)
    ((graph, validation),) = asked
    assert np.array_equal(validation.direction.pairs, split.validation.direction.pairs)
    arcs = {tuple(pair) for pair in np.column_stack(graph.matrix.nonzero()).tolist()}
    assert arcs == {tuple(pair) for pair in split.observed.tolist()}
    assert graph.labels == as_digraph(ARCS, weight=None).labels


def test_wrong_spaces_are_refused():
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        tuning.tune(ARCS, space={"depth": (1, 2)})
    with pytest.raises(ValueError, match="both in space and fixed"):
        tuning.tune(ARCS, space={"width": (1, 2)}, width=3)


def test_the_paper_s_candidates():
    assert set(tuning.PAPER_SPACE) == {"learning_rate", "layers", "width", "dropout"}
    assert all(set(tuning.PAPER_SPACE[name]) <= set(tuning.SPACE[name]) for name in tuning.PAPER_SPACE)
