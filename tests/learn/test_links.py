"""LinkPredictor: what it learns, what it returns, what it refuses, and that nothing leaks."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score

from finsler.graphs import arc_set
from finsler.graphs.digraph import as_digraph
from finsler.solvers.drift import upright

torch = pytest.importorskip("torch")

from finsler.learn import (  # noqa: E402
    LinkOptions,
    LinkTasks,
    PairTask,
    fitting,
    inputs,
    links,
    split_links,
    tasks,
    training,
)
from finsler.learn import features as features_of_nodes  # noqa: E402
from finsler.learn.links import LinkPredictor  # noqa: E402

FAST = {"n_components": 8, "epochs": 8, "random_state": 0, "n_jobs": 1, "verbose": False}
ENCODED = {**FAST, "options": LinkOptions(folds=2, ppr_rank=8, feature_rank=8, width=16)}


def papers(n=120, groups=4, seed=0):
    """Papers that cite older ones, mostly of their own field; words that tell the field."""
    rng = np.random.default_rng(seed)
    field = rng.integers(groups, size=n)
    arcs = set()
    for i in range(groups, n):
        older = np.arange(i)
        chance = np.where(field[older] == field[i], 1.0, 0.02)
        arcs |= {(i, int(j)) for j in rng.choice(older, min(i, 5), replace=False, p=chance / chance.sum())}
    words = (rng.random((n, 20)) < 0.1 + 0.5 * (np.arange(20) % groups == field[:, None])).astype(float)
    return np.array(sorted(arcs)), words


def as_matrix(arcs, n):
    return csr_array((np.ones(len(arcs)), (arcs[:, 0], arcs[:, 1])), shape=(n, n))


def quick(seed=0, **options):
    arcs, _ = papers(seed=seed)
    return LinkPredictor(**{**FAST, "encoder": "direct", **options}).fit(as_matrix(arcs, 120)), arcs


def test_learns_fields_and_direction():
    arcs, words = papers(300)
    split = split_links(arcs, n_nodes=300)
    model = LinkPredictor(**{**FAST, "epochs": 30}, options=LinkOptions(folds=3, ppr_rank=16))
    model.fit(as_matrix(split.observed, 300), features=words, validation=split.validation)
    scores = model.scores(split.test)
    assert scores["direction"] > 85
    assert scores["existence_mixed"] > 80
    assert set(model.validation_scores_) >= {"features", "direct", "closed_form"}


def test_useless_features_do_not_hurt_because_they_are_compared():
    arcs, _ = papers()
    noise = np.random.default_rng(0).normal(size=(120, 30))
    model = LinkPredictor(**ENCODED).fit(as_matrix(arcs, 120), features=noise)
    kinds = {k: v for k, v in model.validation_scores_.items() if k in ("features", "structure", "direct")}
    assert len(kinds) == 3
    assert model.encoder_ in (max(kinds, key=kinds.get), "closed_form")


def test_labels_are_kept_everywhere():
    nx = pytest.importorskip("networkx")
    arcs, _ = papers()
    graph = nx.DiGraph([(f"p{i}", f"p{j}") for i, j in arcs.tolist()])
    model = LinkPredictor(**FAST, encoder="direct").fit(graph)
    assert model.labels_ == list(graph.nodes)
    pairs = [("p100", "p3"), ("p3", "p100")]
    probability = model.predict_proba(pairs)
    assert probability.shape == (2, 2)
    assert ((probability > 0) & (probability < 1)).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    logits = model.decision_function(pairs)
    assert (logits[0] > logits[1]) == (probability[0, 1] > probability[1, 1])
    assert model.classes_.tolist() == [False, True]
    assert model.predict(pairs).tolist() == (probability[:, 1] > 0.5).tolist()
    forward = model.predict_direction([("p100", "p3"), ("p3", "p100")])
    assert forward.sum() == pytest.approx(1)
    assert forward[0] > 0.5
    ranked = model.rank("p100", k=5)
    assert all(isinstance(label, str) for label, _ in ranked)
    assert model.result_.labels == model.labels_


def test_rank_is_sorted_and_leaves_out_known_arcs():
    model, arcs = quick()
    known = set(arcs[arcs[:, 0] == 100, 1].tolist())
    new = model.rank(100, k=200)
    assert len(new) == 119 - len(known)
    assert [p for _, p in new] == sorted((p for _, p in new), reverse=True)
    assert not known & {label for label, _ in new}
    assert 100 not in {label for label, _ in new}
    every = model.rank(100, k=200, exclude_known=False)
    assert known <= {label for label, _ in every}
    pairs = [(100, label) for label, _ in every]
    assert np.allclose(model.predict_proba(pairs)[:, 1], [p for _, p in every])
    with pytest.raises(ValueError, match="k must be at least 1"):
        model.rank(100, k=0)


def test_scores_follow_from_the_map():
    """With the paper's decoder and one member, the Embedding's distances give the raw scores."""
    model, _ = quick(alpha=0.4, options=LinkOptions(node_radii=False, radius=3.0, temperature=2.0))
    assert model.alpha_ == pytest.approx(0.4, abs=1e-6)
    assert model.omega_.tolist() == [*[0] * 7, model.alpha_]
    score, d = model.decision_function([(7, 3)])[0], model.result_.distance(7, 3)
    assert score == pytest.approx((3.0 - d**2) / 2.0, rel=1e-5)
    assert model.members_ == ["direct"]


def test_saved_model_is_the_same(tmp_path):
    arcs, words = papers()
    graph = [(f"p{i}", f"p{j}") for i, j in arcs.tolist()]
    model = LinkPredictor(**ENCODED, encoder="features").fit(graph, features=words)
    again = LinkPredictor.load(model.save(tmp_path / "model.npz"))
    pairs = [("p100", "p3"), ("p7", "p50")]
    assert np.array_equal(model.predict_proba(pairs), again.predict_proba(pairs))
    assert model.rank("p100", 4) == again.rank("p100", 4)
    assert again.labels_ == model.labels_
    assert again.get_params() == model.get_params()
    assert again.score(pairs, [True, False]) == model.score(pairs, [True, False])
    assert again.history_ == model.history_
    assert again.scores_ == model.scores_
    assert again.members_ == model.members_
    assert np.array_equal(model.decision_function(pairs), again.decision_function(pairs))
    assert np.array_equal(again.result_.coordinates, model.result_.coordinates)
    assert np.array_equal(model.predict_proba(pairs), pickle.loads(pickle.dumps(model)).predict_proba(pairs))
    (tmp_path / "bad.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match="not a file that finsler saved"):
        LinkPredictor.load(tmp_path / "bad.npz")
    model.result_.save(tmp_path / "map.npz")
    with pytest.raises(ValueError, match="holds a saved embedding, not a saved link predictor"):
        LinkPredictor.load(tmp_path / "map.npz")


def test_a_saved_mixture_is_the_same(tmp_path):
    """With enough held-out arcs the score tells arcs from random pairs and from reversed arcs."""
    arcs, _ = papers()
    model = LinkPredictor(**{**ENCODED, "epochs": 1}, validation_fraction=0.3).fit(as_matrix(arcs, 120))
    assert model._outcome.score.reversed_share == LinkOptions().reversed_share
    again = LinkPredictor.load(model.save(tmp_path / "model.npz"))
    pairs = [(100, 3), (7, 50)]
    assert np.array_equal(model.decision_function(pairs), again.decision_function(pairs))
    assert np.array_equal(model.predict_direction(pairs), again.predict_direction(pairs))
    assert np.allclose(model.predict_direction(pairs) + model.predict_direction(np.flip(pairs, 1)), 1)
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "wrong.npz", **{**arrays, "reversed_share": np.array([1.5])})
    with pytest.raises(ValueError, match="reversed_share"):
        LinkPredictor.load(tmp_path / "wrong.npz")


def test_four_fifths_of_a_direction_are_learned_for_it_alone(tmp_path):
    arcs, words = papers()
    options = {**ENCODED, "epochs": 1}
    graph = as_matrix(arcs, 120)
    model = LinkPredictor(**options, validation_fraction=0.3).fit(graph, features=words)
    score, learned = model._outcome.score, model.learned_direction_
    assert learned is score.learned
    pairs = np.array([(100, 3), (7, 50)])
    maps = replace(score, learned=None, neighbors=None).direction(pairs)
    assert np.abs(learned(pairs)).min() > 0
    assert score.direction(pairs) == pytest.approx(0.2 * maps + 0.8 * learned(pairs))
    again = LinkPredictor.load(model.save(tmp_path / "model.npz"))
    assert np.array_equal(again.learned_direction_.heights, learned.heights)
    assert np.array_equal(again.predict_direction(pairs), model.predict_direction(pairs))
    assert np.array_equal(again.decision_function(pairs), model.decision_function(pairs))
    with np.load(tmp_path / "model.npz") as file:
        arrays = dict(file)
    for name, wrong in (("heights", arrays["heights"][:5]), ("path_weights", np.zeros(3))):
        np.savez(tmp_path / "wrong.npz", **{**arrays, name: wrong})
        with pytest.raises(ValueError, match=name):
            LinkPredictor.load(tmp_path / "wrong.npz")
    for other in ({"encoder": "features"}, {"encoder": "closed_form"}):
        assert LinkPredictor(**options, **other).fit(graph, features=words).learned_direction_ is None


def test_without_held_out_pairs_no_direction_is_learned_alone():
    arcs, words = papers()
    model = LinkPredictor(**{**ENCODED, "epochs": 1}, validation_fraction=0).fit(
        as_matrix(arcs, 120), features=words
    )
    assert model.learned_direction_ is None


def test_interrupted_while_the_direction_is_learned(monkeypatch):
    arcs, words = papers()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "learned_direction", interrupt)
    with pytest.warns(ConvergenceWarning, match="early"):
        model = LinkPredictor(**{**ENCODED, "epochs": 1}).fit(as_matrix(arcs, 120), features=words)
    assert model.status_ == "interrupted"
    assert model.encoder_ == "closed_form"
    assert np.isfinite(model.predict_proba([(100, 3)])).all()


def test_on_many_nodes_no_direction_is_learned_alone(monkeypatch):
    arcs, words = papers()
    monkeypatch.setattr(fitting, "MANY_NODES", 100)
    model = LinkPredictor(**{**ENCODED, "epochs": 1}).fit(as_matrix(arcs, 120), features=words)
    assert model.learned_direction_ is None


def test_the_map_stands_in_the_frame_of_all_maps_and_says_what_was_read(tmp_path):
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(i, j, 2.5) for i, j in papers()[0].tolist()], weight="minutes")
    graph.add_edge(5, 5, minutes=1.0)
    with pytest.warns(UserWarning, match="self-loop"):
        model = LinkPredictor(**FAST, encoder="direct").fit(graph)
    np.testing.assert_allclose(upright(model.embedding_, model.omega_)[0], model.embedding_, atol=1e-9)
    for result in (model.result_, LinkPredictor.load(model.save(tmp_path / "model.npz")).result_):
        assert result.provenance.n_self_loops == 1
        assert not any("minutes" in said for said in result.sentences())  # lengths are not used
        assert result.alpha_source == "fitted"


def test_map_can_be_plotted_explored_and_printed(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    model, _ = quick(n_components=2)
    model.result_.plot()
    assert model.result_.explore(tmp_path / "map.html").stat().st_size > 1000
    assert "direct" in model.result_.summary()


def test_same_seed_same_numbers_for_any_threads():
    arcs, words = papers()
    fits = [
        LinkPredictor(**{**ENCODED, "n_jobs": jobs}).fit(as_matrix(arcs, 120), features=words)
        for jobs in (1, 1, 2)
    ]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert np.allclose(
        fits[0].embedding_, fits[2].embedding_, atol=1e-3
    )  # matrix products may round otherwise


def test_scikit_learn_manners():
    model = LinkPredictor(n_components=5, alpha=0.5)
    assert clone(model).get_params() == model.get_params()
    for method in (model.predict, model.predict_proba, model.predict_direction, model.score):
        with pytest.raises(NotFittedError):
            method([(0, 1)])


def test_score_is_the_area_under_the_roc_curve_of_existence():
    arcs, _ = papers()
    split = split_links(arcs, n_nodes=120)
    model = LinkPredictor(**FAST, encoder="direct").fit(as_matrix(split.observed, 120))
    task = split.test.existence_mixed
    found = model.score(task.pairs, task.labels)
    assert found == pytest.approx(roc_auc_score(task.labels, model.decision_function(task.pairs)))
    assert (
        found == model.score(split.test) == pytest.approx(model.scores(split.test)["existence_mixed"] / 100)
    )
    assert np.isnan(model.score(task.pairs[:3], [True] * 3))
    with pytest.raises(ValueError, match=r"^y must say"):
        model.score(task.pairs, [True])


def test_features_in_the_place_of_y_are_not_overlooked():
    arcs, words = papers()
    for given in (words, csr_array(words)):
        with pytest.raises(ValueError, match="features="):
            LinkPredictor(**FAST).fit(as_matrix(arcs, 120), given)


def test_the_callback_is_told_of_evaluations_and_can_stop():
    arcs, _ = papers()
    seen = []
    model = LinkPredictor(**FAST, callback=lambda found: seen.append(found) or len(seen) == 3)
    with pytest.warns(ConvergenceWarning, match="callback"):
        model.fit(as_matrix(arcs, 120))
    assert model.status_ == "stopped"
    assert [(found["model"], found["epoch"]) for found in seen] == [("structure 0", k) for k in (1, 2, 3)]
    assert {"loss", "direction"} <= set(seen[0])


def test_nothing_is_checked_or_converted_twice(monkeypatch):
    """From the graph to the probabilities: one conversion, one list of arcs, one look at the features."""
    arcs, words = papers()
    calls = Counter()

    def count(module, name):
        function = getattr(module, name)

        def counted(*args, **options):
            calls[name] += 1
            return function(*args, **options)

        monkeypatch.setattr(module, name, counted)

    for name in ("as_digraph", "simple_arcs", "node_features", "feature_factors", "split_arcs"):
        count(links, name)
    for module in (arc_set, features_of_nodes, tasks):
        for name in ("check_arcs", "simple_arcs"):
            if hasattr(module, name):
                count(module, name)
    count(inputs, "choose_ridge")
    model = LinkPredictor(**ENCODED).fit(as_matrix(arcs, 120), features=words)
    model.predict_proba(arcs[:5])
    assert set(model.validation_scores_) >= {"features", "direct", "closed_form"}
    assert calls == dict.fromkeys(calls, 1)
    assert set(calls) == {
        "as_digraph",
        "simple_arcs",
        "node_features",
        "feature_factors",
        "split_arcs",
        "choose_ridge",
    }
    graph = as_digraph(as_matrix(arcs, 120))
    again = LinkPredictor(**ENCODED).fit(graph, features=words)
    assert calls["as_digraph"] == 1  # a Digraph is taken as it is
    assert np.array_equal(again.embedding_, model.embedding_)


def test_features_as_table_follow_its_index():
    pd = pytest.importorskip("pandas")
    arcs, words = papers()
    graph = [(f"p{i}", f"p{j}") for i, j in arcs.tolist()]
    nodes = LinkPredictor(**{**FAST, "epochs": 1}, encoder="direct").fit(graph).labels_
    order = [int(name[1:]) for name in nodes]
    table = pd.DataFrame(words[order], index=nodes)
    options = {**ENCODED, "encoder": "features"}
    straight = LinkPredictor(**options).fit(graph, features=table)
    shuffled = LinkPredictor(**options).fit(graph, features=table.sample(frac=1, random_state=0))
    sparse = LinkPredictor(**options).fit(graph, features=csr_array(words[order]))
    assert np.array_equal(straight.embedding_, shuffled.embedding_)
    assert np.allclose(straight.embedding_, sparse.embedding_, atol=1e-3)
    with pytest.raises(ValueError, match=r"features, index: .*'x'"):
        LinkPredictor(**options).fit(graph, features=table.rename(index={nodes[0]: "x"}))


@pytest.mark.parametrize("question", ["direction", "existence_mixed", "existence_random"])
@pytest.mark.parametrize(
    ("pairs", "labels", "word"),
    [
        ([[0, 120]], [True], "nodes 0..119"),
        ([[-1, 3]], [True], "nodes 0..119"),
        ([[0.0, 3.0]], [True], "integers"),
        ([0, 3], [True, False], "shape"),
        ([[0, 3]], [1], "True or False"),
        ([[0, 3]], [True, False], "each of the 1 pairs"),
    ],
)
def test_tasks_about_no_nodes_of_the_graph_are_refused(question, pairs, labels, word):
    arcs, _ = papers()
    split = split_links(arcs, n_nodes=120)
    wrong = replace(split.validation, **{question: PairTask(np.array(pairs), np.array(labels))})
    model = LinkPredictor(**FAST, encoder="closed_form")
    with pytest.raises(ValueError, match=f"{question}.*{word}"):
        model.fit(as_matrix(split.observed, 120), validation=wrong)
    model.fit(as_matrix(split.observed, 120), validation=split.validation)
    with pytest.raises(ValueError, match=f"tasks.{question}.*{word}"):
        model.scores(wrong)


def test_each_candidate_is_scored_under_its_own_name():
    arcs, words = papers()
    split = split_links(arcs, n_nodes=120)
    graph = as_matrix(split.observed, 120)
    alone = LinkPredictor(**FAST, encoder="closed_form").fit(
        graph, features=words, validation=split.validation
    )
    found = alone.validation_scores_
    assert set(found) == {"closed_form", "closed_form_features"}
    assert found["closed_form"] != found["closed_form_features"]
    assert max(found.values()) == pytest.approx(tasks.mean_score(alone.scores(split.validation)))
    whole = LinkPredictor(**ENCODED).fit(graph, features=words, validation=split.validation)
    kinds = {"closed_form", "closed_form_features", "features", "structure", "direct"}
    assert kinds <= set(whole.validation_scores_)
    assert not any("closed_form + closed" in name for name in whole.validation_scores_)


def test_a_training_is_continued_only_with_the_same_tasks():
    """The answers count, too, and which of the arcs are learned."""
    arcs, _ = papers()
    split = split_links(arcs, n_nodes=120)
    given = split.validation
    turned = PairTask(given.direction.pairs, ~given.direction.labels)
    other = PairTask(given.existence_mixed.pairs[::-1], given.existence_mixed.labels)
    digests = {
        training.fingerprint(learned, arcs, 120, None, asked, {}, 0)
        for learned in (arcs, arcs[:-1])
        for asked in (given, replace(given, direction=turned), replace(given, existence_mixed=other), None)
    }
    assert len(digests) == 8


def test_parameters_from_arrays_of_numbers_are_saved(tmp_path):
    model, _ = quick(n_components=np.int64(5), random_state=np.int64(3), missing_share=np.float64(0.25))
    loaded = LinkPredictor.load(model.save(tmp_path / "model.npz"))
    assert (loaded.n_components, loaded.random_state, loaded.missing_share) == (5, 3, 0.25)


def test_undirected_graph_is_learned_without_a_direction():
    nx = pytest.importorskip("networkx")
    graph = nx.karate_club_graph()
    model = LinkPredictor(**ENCODED).fit(graph)
    assert model.predict_proba([(0, 1)]).shape == (1, 2)


def test_checkpoint_resumes_and_refuses_another_graph(tmp_path, monkeypatch):
    arcs, words = papers()
    graph = as_matrix(arcs, 120)
    options = {**ENCODED, "encoder": "features"}
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    whole = LinkPredictor(**options).fit(graph, features=words)
    epochs = []
    run = training.Trainer.run_epoch

    def break_down(self, *args):
        epochs.append(1)
        if len(epochs) == 12:  # in the second member
            raise MemoryError
        return run(self, *args)

    monkeypatch.setattr(training.Trainer, "run_epoch", break_down)
    with pytest.raises(MemoryError):
        LinkPredictor(**options, checkpoint=tmp_path).fit(graph, features=words)
    resumed = LinkPredictor(**options, checkpoint=tmp_path).fit(graph, features=words)
    assert len(epochs) == 12 + 5
    assert np.array_equal(whole.embedding_, resumed.embedding_)
    pairs = arcs[:9]
    assert np.array_equal(whole.predict_proba(pairs), resumed.predict_proba(pairs))
    with pytest.raises(ValueError, match="checkpoint of another graph, other features or other options"):
        LinkPredictor(**options, checkpoint=tmp_path).fit(as_matrix(arcs[1:], 120), features=words)
    with pytest.raises(ValueError, match="checkpoint needs a random_state"):
        LinkPredictor(**{**options, "random_state": None}, checkpoint=tmp_path).fit(graph, features=words)


def test_time_limit_and_interrupt_keep_what_there_is(monkeypatch):
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model, _ = quick(epochs=100_000, time_limit=0.01)
    assert model.status_ == "time_limit"
    assert np.isfinite(model.embedding_).all()
    step = training.Trainer.step
    count = []

    def interrupted(self, *args):
        count.append(1)
        if len(count) == 5:
            raise KeyboardInterrupt
        return step(self, *args)

    monkeypatch.setattr(training.Trainer, "step", interrupted)
    with pytest.warns(ConvergenceWarning, match="it was interrupted"):
        model, _ = quick()
    assert model.status_ == "interrupted"


# Nothing leaks


def test_held_out_pairs_reach_neither_training_nor_inputs(monkeypatch):
    """Everything that training and inputs are made of is recorded; no held-out pair is in it, in either direction."""
    arcs, words = papers()
    split = split_links(arcs, n_nodes=120)
    held_out = {tuple(p) for pairs in (split.test_pairs, split.validation_pairs) for p in pairs.tolist()}
    positives, sources = [], []
    draw, compute, sketch = training.draw_batches, inputs.node_inputs, inputs.Problem.sketch_of

    def spy_draw(lessons, *args):
        sources.extend(lesson.arcs for lesson in lessons)
        for lesson, batch in draw(lessons, *args):
            positives.append(batch.pairs()[: len(batch.arcs) + batch.one_way.sum()])
            yield lesson, batch

    def spy_inputs(arcs, *args, **options):
        sources.append(arcs)
        return compute(arcs, *args, **options)

    def spy_sketch(problem, arcs):
        sources.append(arcs)
        return sketch(problem, arcs)

    monkeypatch.setattr(training, "draw_batches", spy_draw)
    monkeypatch.setattr(inputs, "node_inputs", spy_inputs)
    monkeypatch.setattr(inputs.Problem, "sketch_of", spy_sketch)
    model = LinkPredictor(**ENCODED)
    model.fit(as_matrix(split.observed, 120), features=words, validation=split.validation)
    assert len(model.validation_scores_) >= 3  # all kinds of model took part
    for seen in (positives, sources):
        pairs = {tuple(sorted(p)) for part in seen for p in part.tolist()}
        assert len(pairs) > 100
        assert not pairs & held_out


def test_maps_are_the_same_bit_for_bit_whatever_is_asked_in_the_test_and_after_training():
    """Vectors depend on the observed arcs and, by the choice of an epoch, on validation; a single epoch leaves no choice."""
    arcs, words = papers()
    split = split_links(arcs, n_nodes=120)
    other = split_links(arcs, n_nodes=120, random_state=1)
    fits = []
    for tasks_asked in (split.validation, other.validation):
        model = LinkPredictor(**{**ENCODED, "epochs": 1}, encoder="features")
        fits.append(model.fit(as_matrix(split.observed, 120), features=words, validation=tasks_asked))
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert np.array_equal(fits[0].decision_function(arcs), fits[1].decision_function(arcs))


def test_it_is_not_below_the_closed_form_that_it_starts_from():
    arcs, words = papers(200)
    split = split_links(arcs, n_nodes=200, validation_fraction=0.15)
    graph = as_matrix(split.observed, 200)
    model = LinkPredictor(**{**ENCODED, "epochs": 2}).fit(graph, features=words, validation=split.validation)
    found = model.scores_
    mean = np.mean([found[task] for task in ("direction", "existence_mixed", "existence_random")])
    closed = [name for name in model.validation_scores_ if name.startswith("closed_form")]
    assert len(closed) == 2
    # A correction by neighbors is judged by cross-validation, so that here it can only be better.
    assert mean >= max(model.validation_scores_[name] for name in closed) - 1e-9
    assert {"direct", "features"} < set(model.validation_scores_)
    # Features that improve the closed form leave nothing to an encoder of the structure alone.
    useful = found["baselines"]["closed_form_features"], found["baselines"]["closed_form"]
    helped = np.mean(list(useful[0].values())) > np.mean(list(useful[1].values()))
    assert helped != ("structure" in model.validation_scores_)
    assert set(found["baselines"]) >= {"springrank", "degree_product", "adamic_adar", *closed}
    alone = LinkPredictor(**ENCODED, encoder="closed_form").fit(graph, validation=split.validation)
    assert alone.encoder_ == "closed_form"
    assert alone.members_ == ["closed_form"]
    assert not alone.history_


def test_dense_graphs_compare_structure_and_direct_coordinates():
    rng = np.random.default_rng(0)
    dense = np.argwhere(np.triu(rng.random((60, 60)) < 0.6, 1))
    model = LinkPredictor(**{**ENCODED, "epochs": 2}).fit(as_matrix(dense, 60))
    assert {"structure", "direct", "closed_form"} <= set(model.validation_scores_)


def test_the_reverse_arc_is_told_from_a_random_pair_where_it_says_something():
    rng = np.random.default_rng(0)
    n = 200
    pairs = np.argwhere(np.triu(rng.random((n, n)) < 0.05, 1))
    both = rng.random(len(pairs)) < 0.9
    arcs = np.concatenate([pairs, pairs[both][:, ::-1]])
    aside = rng.random(len(arcs)) < 0.1
    model = LinkPredictor(**{**ENCODED, "epochs": 2}).fit(as_matrix(arcs[~aside], n))
    seen = arc_set.ArcSet(arcs[~aside], n)
    alone = arcs[aside][seen.contains(arcs[aside][:, ::-1])]
    assert model.scores_["correction"]["weights"]["reverse_arc"] > 0
    free = rng.integers(0, n, size=(2000, 2))
    free = free[(free[:, 0] != free[:, 1]) & ~arc_set.ArcSet(arcs, n).contains(free)]
    free = free[~seen.contains(free[:, ::-1])]
    asked = np.concatenate([alone, free])
    assert model.score(asked, np.arange(len(asked)) < len(alone)) > 0.9
    assert model.predict_proba(alone)[:, 1].mean() > 5 * model.predict_proba(free)[:, 1].mean()


def test_internal_validation_pairs_are_not_trained_on(monkeypatch):
    arcs, _ = papers()
    seen = []
    draw = training.draw_batches

    def spy(lessons, *args):
        seen.extend(lesson.arcs for lesson in lessons)
        yield from draw(lessons, *args)

    monkeypatch.setattr(training, "draw_batches", spy)
    LinkPredictor(**{**FAST, "epochs": 1}, encoder="direct").fit(as_matrix(arcs, 120))
    inner = split_links(arcs, n_nodes=120, test_fraction=0.0)
    trained = {tuple(p) for p in seen[0].tolist()}
    assert len(trained) < len(arcs)
    assert not trained & {tuple(p) for p in inner.validation_pairs.tolist()}


def test_random_orientation_cannot_be_predicted():
    rng = np.random.default_rng(0)
    n = 400
    field = rng.integers(8, size=n)
    pairs = {
        tuple(sorted((int(i), int(j))))
        for i in range(n)
        for j in rng.choice(np.flatnonzero(field == field[i]), 8)
    }
    pairs = np.array([p for p in pairs if p[0] != p[1]])
    arcs = np.where(rng.random(len(pairs))[:, None] < 0.5, pairs, pairs[:, ::-1])
    split = split_links(arcs, n_nodes=n)
    options = LinkOptions(learning_rate=0.05)
    model = LinkPredictor(**{**FAST, "epochs": 30}, encoder="direct", options=options)
    scores = model.fit(as_matrix(split.observed, n), validation=split.validation).scores(split.test)
    assert abs(scores["direction"] - 50) < 10  # 400 pairs: a standard deviation of about 3
    assert scores["existence_random"] > 80


def test_order_of_the_nodes_changes_scores_only_by_noise():
    n = 300
    arcs, _ = papers(n)
    split = split_links(arcs, n_nodes=n)
    new = np.random.default_rng(1).permutation(n)

    def renamed(task):
        return PairTask(new[task.pairs], task.labels)

    def moved(tasks):
        return LinkTasks(
            *(renamed(getattr(tasks, k)) for k in ("direction", "existence_mixed", "existence_random"))
        )

    def fit(observed, validation):
        return LinkPredictor(**{**FAST, "epochs": 30}, encoder="direct").fit(
            as_matrix(observed, n), validation=validation
        )

    plain = fit(split.observed, split.validation).scores(split.test)
    shuffled = fit(new[split.observed], moved(split.validation)).scores(moved(split.test))
    for task in plain:
        assert abs(plain[task] - shuffled[task]) < 4, task


# Bad input


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("p3", "p999")], "pairs, row 0: No node is labeled 'p999'"),
        ([("p3", "p4"), ("p3",)], "pairs, row 1: expected two nodes, from and to"),
        (np.array(["p3", "p4"]), r"pairs must have shape \(P, 2\)"),
        ([(3, 4)], "pairs, row 0: No node is labeled 3"),
        (["p3"], "pairs, row 0: expected two nodes"),
    ],
)
def test_bad_pairs(pairs, message):
    graph = [(f"p{i}", f"p{j}") for i, j in papers(40)[0].tolist()]
    model = LinkPredictor(**{**FAST, "epochs": 1}, encoder="direct", validation_fraction=0).fit(graph)
    with pytest.raises(ValueError, match=message):
        model.predict_proba(pairs)


def test_bad_numbers_of_nodes():
    model, _ = quick(epochs=1)
    for pairs in ([(3, 120)], np.array([[3, 4], [3, 120]]), [(-1, 3)], [(True, 3)]):
        with pytest.raises(ValueError, match=r"row [01]"):
            model.predict_direction(pairs)
    with pytest.raises(ValueError, match="source: There is no node 500"):
        model.rank(500)
    assert model.predict_proba([]).shape == (0, 2)


def broken_features(kind):
    words = papers()[1]
    if kind == "rows":
        return words[:-1]
    if kind == "text":
        return words.astype(str)
    if kind == "flat":
        return words[:, 0]
    words[3, 4] = np.nan
    return csr_array(words) if kind == "sparse" else words


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (
            "rows",
            ValueError,
            r"features must have shape \(120, features\), a row for each node; found \(119, 20\)",
        ),
        ("nan", ValueError, "features must be finite; those of node 3 are not"),
        ("sparse", ValueError, "features must be finite; those of node 3 are not"),
        ("text", TypeError, "features must be numbers"),
        ("flat", ValueError, "features must have shape"),
    ],
)
def test_bad_features(kind, error, message):
    with pytest.raises(error, match=message):
        LinkPredictor(**FAST).fit(as_matrix(papers()[0], 120), features=broken_features(kind))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (csr_array((5, 5)), "no arcs"),
        (csr_array((0, 0)), "no nodes"),
        ([(0, 1), (1, 2)], "too small or too sparse to split.*validation_fraction=0"),
        (np.zeros((1, 1)), "no arcs"),
    ],
)
def test_bad_graphs(graph, message):
    with pytest.raises(ValueError, match=message):
        LinkPredictor(**FAST).fit(graph)


def test_a_path_can_be_learned_without_validation():
    model = LinkPredictor(**ENCODED, validation_fraction=0).fit([(0, 1), (1, 2), (2, 3)])
    assert np.isfinite(model.predict_proba([(0, 3)])).all()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n_components": 0}, "n_components"),
        ({"epochs": 2.5}, "epochs"),
        ({"encoder": "gnn"}, "encoder"),
        ({"alpha": 1.0}, "alpha"),
        ({"alpha": "strong"}, "alpha"),
        ({"validation_fraction": 1.5}, "validation_fraction"),
        ({"missing_share": 0.0}, "missing_share"),
        ({"missing_share": 1.0}, "missing_share"),
        ({"missing_share": float("nan")}, "missing_share"),
        ({"options": {"dropout": 0.1}}, "options"),
    ],
)
def test_bad_options_are_named(options, name):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        LinkPredictor(**{**FAST, "encoder": "direct", **options}).fit(as_matrix(papers()[0], 120))
