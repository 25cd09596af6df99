"""Probabilities of links: sums, slopes and reliability in populations whose truth is known."""

import numpy as np
import pytest
from scipy.special import expit

pytest.importorskip("torch")

from finsler.graphs.arc_set import ArcSet
from finsler.learn import LinkOptions, LinkPredictor
from finsler.learn import calibration as C

from helpers import real_file

FAST = {"n_components": 8, "epochs": 6, "random_state": 0, "n_jobs": 1, "verbose": False}


def drawn_graph(n=400, seed=0, reciprocity=0.0):
    """A graph whose arcs are drawn with known probabilities, and the log odds of each pair."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(n, 2))
    log_odds = (
        1.5
        - 4.0 * np.linalg.norm(place[:, None] - place[None], axis=-1)
        + place[:, None, 0]
        - place[None, :, 0]
    )
    chance = expit(log_odds)
    np.fill_diagonal(chance, 0)
    there = rng.random((n, n)) < chance
    answered = there & (rng.random((n, n)) < reciprocity)
    return np.argwhere(there | answered.T), log_odds


def hidden(arcs, share, seed=0):
    aside = np.random.default_rng(seed).random(len(arcs)) < share
    return arcs[~aside], arcs[aside]


def test_missing_arcs_are_counted_group_by_group():
    arcs = np.array([[0, 1], [1, 0], [0, 2], [3, 4]])
    sizes, missing = C.missing_arcs(arcs, 6, 0.2)
    assert sizes.tolist() == [30 - 4 - 2, 2]  # (2, 0) and (4, 3) have their reverse arc observed
    assert missing.sum() == pytest.approx(4 * 0.25)
    assert missing[1] == pytest.approx(2 * 0.25)  # two of the four arcs are answered
    _, missing = C.missing_arcs(arcs[1:], 6, 0.2)
    assert missing.tolist() == pytest.approx(
        [2.5 * 0.25, 0.5 * 0.25]
    )  # none of them is: as if half of one were


@pytest.mark.parametrize("reciprocity", [0.0, 0.5])
def test_arcs_hidden_at_random_are_expected_in_their_number_and_group(reciprocity):
    arcs, _ = drawn_graph(reciprocity=reciprocity)
    seen, gone = hidden(arcs, 0.1)
    _, missing = C.missing_arcs(seen, 400, 0.1)
    alone = ArcSet(seen, 400).contains(gone[:, ::-1])
    assert missing[0] == pytest.approx((~alone).sum(), rel=0.15)
    assert missing[1] == pytest.approx(alone.sum(), rel=0.25)


def test_pairs_two_steps_apart_are_drawn_as_often_as_is_said():
    """By walking all ways: from any node that has a neighbor, along two arcs, whichever way they run."""
    arcs = np.array([(0, 1), (1, 0), (1, 2), (3, 1), (3, 4), (5, 4)])
    n, count = 7, 200_000  # nobody knows the last node
    near = [sorted({int(b) for a, b in [*arcs, *arcs[:, ::-1]] if a == i}) for i in range(n)]
    walk = np.zeros((n, n))
    for i in range(6):
        for k in near[i]:
            for j in near[k]:
                walk[i, j] += 1 / 6 / len(near[i]) / len(near[k])
    expected = ((walk + walk.T) / 2 + 1 / n**2) / 2
    drawn, chances = C.near_and_random_pairs(arcs, n, count, np.random.default_rng(0))
    assert drawn.shape == (count, 2)
    np.testing.assert_allclose(chances, expected[drawn[:, 0], drawn[:, 1]])
    found = np.bincount(drawn @ [n, 1], minlength=n * n).reshape(n, n) / count
    np.testing.assert_allclose(found, expected, atol=5 * np.sqrt(expected.max() / count))


def test_samples_stand_for_all_pairs_that_are_no_arcs():
    """Of a graph with too many pairs for all of them, what samples say of the whole is what counting says."""
    rng = np.random.default_rng(0)
    n = 1500
    arcs = np.unique(
        rng.integers(0, 40, size=(6000, 2)) + 40 * rng.integers(0, n // 40, size=(6000, 1)), axis=0
    )
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    free, _ = C.groups(arcs, n, 0.1, rng)
    sizes, _ = C.missing_arcs(arcs, n, 0.1)
    assert free.weights.sum() == pytest.approx(sizes[0])
    assert not ArcSet(arcs, n).contains(free.pairs).any()
    assert not ArcSet(arcs, n).contains(free.pairs[:, ::-1]).any()
    either = len(np.unique(np.sort(arcs, axis=1), axis=0))
    alike = (n // 40) * 40 * 39 - 2 * either  # pairs of a block of 40, one way or another not observed
    same = free.pairs[:, 0] // 40 == free.pairs[:, 1] // 40
    assert same.mean() > 10 * alike / sizes[0]  # which random pairs alone would hardly see
    assert free.weights[same].sum() == pytest.approx(alike, rel=0.03)


def test_true_log_odds_get_a_slope_of_one_and_true_probabilities():
    """Hide a tenth of the arcs of a drawn graph: of a pair not observed, the odds of an arc are 0.1 of the drawn odds."""
    arcs, log_odds = drawn_graph()
    n = len(log_odds)
    known, _ = hidden(arcs, 0.1)
    seen, held_out = hidden(known, 0.1, seed=1)

    def score(pairs):
        return log_odds[pairs[:, 0], pairs[:, 1]]

    rng = np.random.default_rng(0)
    lines, report = C.fit_lines(score, seen, held_out, n, 0.1, rng)
    assert lines[0].slopes == pytest.approx(1, abs=0.5)
    calibration = C.fit_intercepts(score, lines, known, n, 0.1, rng)
    free = np.argwhere(~np.eye(n, dtype=bool))
    free = free[~ArcSet(known, n).contains(free)]
    reverse = ArcSet(known, n).contains(free[:, ::-1])
    found = calibration.probabilities(score(free), reverse)
    truth = expit(log_odds[free[:, 0], free[:, 1]] + np.log(0.1))
    assert found[~reverse].sum() == pytest.approx(truth[~reverse].sum(), rel=0.15)
    assert np.abs(found - truth)[~reverse].sum() < 0.25 * truth[~reverse].sum()
    assert report["brier"] < report["brier_of_chance"]
    assert report["log_loss"] < 0.95 * report["log_loss_of_chance"]
    curve = {name: np.array(values) for name, values in report["reliability"].items()}
    assert (np.diff(curve["predicted"]) > 0).all()
    assert np.allclose(curve["observed"], curve["predicted"], rtol=0.5)


def test_weighted_logistic_is_that_of_repeated_examples():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = rng.random(300) < expit(2 * x - 1)
    times = rng.integers(1, 6, size=300)
    none = np.empty(0)
    line, intercept = C.weighted_logistic(C.Examples(x, y, times.astype(float)), none)
    fit = LogisticRegression(C=np.inf, tol=1e-8).fit(np.repeat(x, times)[:, None], np.repeat(y, times))
    assert line.slopes[0] == pytest.approx(fit.coef_[0, 0], rel=1e-2)
    assert intercept == pytest.approx(fit.intercept_[0], abs=2e-2)
    # What separates arcs entirely, or runs the wrong way, still gives a number.
    ones = np.ones(300)
    assert 0 < C.weighted_logistic(C.Examples(np.where(y, 5.0, -5.0), y, ones), none)[0].slopes[0] < 100
    assert C.weighted_logistic(C.Examples(-x, x > 0, ones), none)[0].slopes[0] == 0


def test_a_line_with_bends_finds_log_odds_that_level_off():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=20_000)
    y = rng.random(len(x)) < expit(2 * np.minimum(x, 1) - 1)
    line, intercept = C.weighted_logistic(C.Examples(x, y, np.ones(len(x))), np.array([-1.0, 1.0]))
    assert line.slopes[1:] == pytest.approx([2, 0], abs=0.2)
    assert line.slopes[0] == pytest.approx(2, abs=0.5)  # few arcs there
    at = np.array([-1.0, 0.0, 1.0, 2.5])
    assert line(at) + intercept == pytest.approx(2 * np.minimum(at, 1) - 1, abs=0.3)
    plain = C.Line(np.array([3.0]), np.empty(0))
    assert plain(at).tolist() == (3 * at).tolist()
    steps = C.Line(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0]))
    assert steps(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist() == [-1.0, 0.0, 1.0, 2.0, 5.0]


@pytest.mark.parametrize("n_arcs", [1, 50])
@pytest.mark.parametrize("seed", range(4))
def test_a_single_example_of_a_kind_is_predicted_by_itself(n_arcs, seed):
    """One arc among other pairs, or one pair without an arc: whichever half it falls into."""
    scores = np.random.default_rng(seed).normal(size=51)
    examples = C.Examples(scores, np.arange(51) < n_arcs, np.ones(51))
    found, _ = C._predicted_by_halves(examples, np.random.default_rng(seed))
    again, _ = C._predicted_by_halves(examples, np.random.default_rng(seed))
    assert ((found > 0) & (found < 1)).all()
    assert np.array_equal(found, again)


@pytest.mark.parametrize("seed", range(3))
def test_reports_of_small_graphs_are_possible_and_repeatable(seed):
    """With a dozen reciprocal pairs one single arc of them is held out, with nine nodes none."""
    rng = np.random.default_rng(seed)
    n = (9, 40, 60)[seed]
    arcs = np.unique(rng.integers(n, size=(3 * n, 2)), axis=0)
    arcs = np.concatenate([arcs, arcs[:12, ::-1]])
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    found = [
        LinkPredictor(**FAST, validation_fraction=0.05 if seed else 0)
        .fit(known_graph(np.unique(arcs, axis=0), n))
        .scores_["calibration"]
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert 0 <= found[0]["brier"] <= 1
    assert 0 <= found[0]["log_loss"] < 5


def test_in_undirected_graphs_the_score_that_is_calibrated_does_not_know_the_arcs_held_out():
    """Links at random: nothing can be known of them, and probabilities that are fitted to hidden ones say so."""
    rng = np.random.default_rng(0)
    pairs = np.argwhere(np.triu(rng.random((150, 150)) < 0.06, 1))
    graph = known_graph(np.concatenate([pairs, pairs[:, ::-1]]), 150)
    model = LinkPredictor(**FAST, encoder="closed_form").fit(graph)
    found = model.scores_["calibration"]
    assert found["from"] == "held-out arcs"
    assert found["held_out_arcs"] > 20
    assert found["log_loss"] > 0.95 * found["log_loss_of_chance"]


def test_one_arc_is_enough_for_probabilities():
    model = LinkPredictor(**FAST, encoder="closed_form", validation_fraction=0).fit(
        known_graph(np.array([[0, 1]]), 1000)
    )
    assert np.isfinite(model.predict_proba([(1, 2), (0, 2)])).all()


def test_brier_and_log_loss_are_those_of_a_loop():
    p = np.array([0.1, 0.8, 0.3, 0.6])
    examples = C.Examples(np.zeros(4), np.array([False, True, False, True]), np.array([3.0, 1.0, 2.0, 1.0]))
    report = C._report([(p, examples)])
    pieces = list(zip(p, examples.arcs, examples.weights, strict=True))
    assert report["brier"] == pytest.approx(sum(w * (q - y) ** 2 for q, y, w in pieces) / 7)
    loss = sum(-w * np.log(q if y else 1 - q) for q, y, w in pieces) / 7
    assert report["log_loss"] == pytest.approx(loss)
    assert sum(report["reliability"]["pairs"]) == pytest.approx(7)


def total_of_unobserved(model, known, n):
    """Sum of the probabilities of all ordered pairs that are not known arcs."""
    total = 0.0
    for rows in np.array_split(np.arange(n), max(1, n * n // 400_000)):
        pairs = np.stack(np.meshgrid(rows, np.arange(n), indexing="ij"), axis=-1).reshape(-1, 2)
        pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & ~ArcSet(known, n).contains(pairs)]
        total += model.predict_proba(pairs)[:, 1].sum()
    return total


@pytest.mark.parametrize(("reciprocity", "encoder"), [(0.0, "auto"), (0.7, "auto"), (0.3, "closed_form")])
def test_probabilities_of_generated_graphs_add_up_to_the_arcs_that_were_hidden(reciprocity, encoder):
    arcs, _ = drawn_graph(reciprocity=reciprocity)
    known, gone = hidden(arcs, 0.1)
    model = LinkPredictor(**FAST, encoder=encoder, options=LinkOptions(folds=2, ppr_rank=8)).fit(
        known_graph(known, 400)
    )
    total = total_of_unobserved(model, known, 400)
    assert len(gone) / 1.5 < total < 1.5 * len(gone)
    assert model.scores_["calibration"]["missing_arcs"] == pytest.approx(len(known) / 9)
    # It is an assumption, and it is the one that was stated.
    twice = LinkPredictor(**FAST, encoder="closed_form", missing_share=0.2).fit(known_graph(known, 400))
    assert total_of_unobserved(twice, known, 400) == pytest.approx(len(known) / 4, rel=0.2)


def known_graph(arcs, n):
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(arcs)), tuple(arcs.T)), shape=(n, n))


@pytest.mark.parametrize(
    ("name", "encoder"), [("cora", "direct"), ("cora", "auto"), ("openflights", "direct")]
)
def test_probabilities_of_real_graphs_add_up_to_the_arcs_that_were_hidden(name, encoder):
    with np.load(real_file(f"graphs/{name}.npz")) as file:
        arcs, n = np.column_stack([file["src"], file["dst"]]).astype(np.int64), int(file["n_nodes"])
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    known, gone = hidden(arcs, 0.1)
    model = LinkPredictor(32, epochs=4, random_state=0, n_jobs=1, encoder=encoder).fit(known_graph(known, n))
    assert len(gone) / 1.5 < total_of_unobserved(model, known, n) < 1.5 * len(gone)


def test_without_validation_probabilities_are_said_to_come_from_the_arcs_themselves():
    arcs, _ = drawn_graph(100)
    model = LinkPredictor(**FAST, encoder="direct", validation_fraction=0).fit(known_graph(arcs, 100))
    assert model.scores_["calibration"]["from"] == "the arcs that were learned"
    assert np.isfinite(model.predict_proba(arcs[:9])).all()


def test_more_missing_arcs_than_a_nearly_symmetric_graph_allows_are_told():
    """With a tenth of its arcs missing one by one it should have many arcs without a reverse, and it has eight."""
    arcs, _ = drawn_graph(n=80, reciprocity=1.0)
    single = arcs[arcs[:, 0] < arcs[:, 1]][:8]
    graph = list(map(tuple, arcs[~ArcSet(single, 80).contains(arcs)].tolist()))
    reverse = single[:, ::-1].tolist()  # still there
    largest = 8 / len(graph)
    assert C.largest_share(np.array(graph), 80) == pytest.approx(largest)
    assert C.largest_share(arcs, 80) == 1.0
    with pytest.warns(UserWarning, match=r"missing_share=0\.1 .* at most"):
        model = LinkPredictor(**FAST).fit(graph)
    found = model.scores_["calibration"]
    assert found["largest_share"] == pytest.approx(largest)
    assert found["missing_arcs"] == pytest.approx(len(graph) / 9)
    np.testing.assert_allclose(model.predict_proba([(b, a) for a, b in reverse])[:, 1], 1.0)
    fewer = LinkPredictor(**FAST, missing_share=largest / 2).fit(graph)
    chances = fewer.predict_proba([(b, a) for a, b in reverse])[:, 1]
    assert np.isfinite(chances).all()
    assert (chances < 0.999).any()
