"""Published methods and controls: what they see, their formulas against loops, and what they cannot know."""

from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp

from finsler.learn.tasks import LinkTasks, split_links

torch = pytest.importorskip("torch")

from threadpoolctl import threadpool_limits  # noqa: E402

from helpers import real_file  # noqa: E402
from published import METHODS, distances, duplex, nerd, odin, spectral  # noqa: E402
from published.autoencoders import propagation  # noqa: E402
from published.distances import interval_distance, union_length  # noqa: E402
from published.sight import Logits, Sight, Watch, training_pairs  # noqa: E402

# Settings with which each is quick on a small graph.
QUICK = {
    "bilinear": {"epochs": 60},
    "digae": {"epochs": 60},
    "digae_features": {"epochs": 60},
    "digae_identity": {"epochs": 60},
    "digae_mixed": {"epochs": 60, "inputs": "identity"},
    "sdgae": {"epochs": 60},
    "sdgae_features": {"epochs": 60},
    "gravity": {"epochs": 60},
    "gravity_features": {"epochs": 60},
    "nerd": {"dim": 16, "walks_per_arc": 60},
    "nerd_readout": {"dim": 16, "walks_per_arc": 60},
    "odin": {"epochs": 60, "learning_rate": 5e-2, "batch": 128},
    "odin_readout": {"epochs": 10},
    "duplex": {"epochs": 40, "learning_rate": 1e-2, "width": 16},
    "duplex_features": {"epochs": 40, "learning_rate": 1e-2, "width": 16},
    "magnet": {"epochs": 60, "learning_rate": 1e-2},
    "magnet_features": {"epochs": 60, "learning_rate": 1e-2},
    "digcn": {"epochs": 60},
    "digcn_features": {"epochs": 60},
    "digcn_ib": {"epochs": 30},
    "digcn_ib_features": {"epochs": 30},
    "iqe": {"epochs": 8},
    "randers": {"epochs": 8},
    "euclidean": {"epochs": 8},
    "hope": {"dim": 16},
    "strap": {"dim": 16},
}
CLEAN = [name for name, method in METHODS.items() if not method.leaks]


@pytest.fixture(autouse=True)
def one_thread():
    """As in paper/rivals.py; on these small graphs the threads of two test processes would only wait for each other."""
    with threadpool_limits(1):
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)


def ordered(n=120, seed=0):
    """A strict order: arcs from i to j > i, close by."""
    rng = np.random.default_rng(seed)
    return np.array([(i, j) for i in range(n) for j in range(i + 1, min(i + 9, n)) if rng.random() < 0.6])


def quick(name):
    if name.startswith(("magnet", "digcn")):
        pytest.importorskip("torch_geometric_signed_directed")
    return {**QUICK.get(name, {})}


def features_for(name, n):
    if not METHODS[name].needs_features:
        return None
    return np.eye(n)[np.arange(n) // 4]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLEAN)
def test_test_pairs_are_not_seen(name):
    arcs = ordered(60)
    split = split_links(arcs)
    n = split.n_nodes
    rng = np.random.default_rng(5)
    other = rng.permutation(n)

    def shuffled(tasks):
        asked = {task.name: getattr(tasks, task.name) for task in fields(tasks)}
        return LinkTasks(**{name: replace(task, pairs=other[task.pairs]) for name, task in asked.items()})

    changed = replace(split, test=shuffled(split.test), test_pairs=other[split.test_pairs])
    pairs = rng.integers(0, n, size=(40, 2))
    settings = quick(name)
    settings = {key: (5 if key == "epochs" else value) for key, value in settings.items()}
    found = []
    for some in (split, changed):
        sight = Sight.of(some, features_for(name, n))
        assert sight.hidden_arcs is None
        logits = METHODS[name](sight, seed=3, **settings)
        found.append([logits.direction(pairs), logits.existence(pairs)])
    np.testing.assert_array_equal(found[0], found[1])


def with_both_ways():
    """An order in which a third of the arcs run both ways."""
    arcs = ordered(60)
    return np.concatenate([arcs, arcs[::3, ::-1]])


def test_the_row_that_leaks_sees_all_arcs_that_are_held_out():
    arcs = with_both_ways()
    split = split_links(arcs)
    sight, clean = Sight.of(split, leak=True), Sight.of(split)
    seen = np.concatenate([sight.arcs, sight.hidden_arcs])
    assert sorted(map(tuple, seen.tolist())) == sorted(map(tuple, arcs.tolist()))
    held = {tuple(pair) for pair in sight.hidden_arcs.tolist()}
    assert any(pair[::-1] in held for pair in held)
    np.testing.assert_array_equal(sight.arcs, clean.arcs)
    messages = []

    class Spy(duplex.Messages):
        def __init__(self, *given):
            super().__init__(*given)
            messages.append(len(self.sender))

    pairs = np.random.default_rng(0).integers(0, 60, size=(30, 2))
    scores = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplex, "Messages", Spy)
        for name, shown in (("duplex", clean), ("duplex_leak", sight)):
            scores.append(METHODS[name](shown, seed=0, epochs=5, width=8).existence(pairs))
    assert messages == [2 * len(split.observed) + 60, 2 * len(arcs) + 60]
    assert (scores[0] != scores[1]).any()


def test_the_row_that_leaks_differs_by_the_leak_only():
    leak, clean = METHODS["duplex_leak"], METHODS["duplex"]
    assert (leak.function, leak.settings, leak.grid) == (clean.function, clean.settings, {})
    assert (leak.like, leak.leaks, clean.leaks) == ("duplex", True, False)


WITHOUT_FEATURES = [name for name in CLEAN if "features" not in name]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
# Not "nerd_raw": it ranks pairs with an untrained vector first, and here many nodes have no arc in. Its row shows just this.
@pytest.mark.parametrize("name", [name for name in WITHOUT_FEATURES if name != "nerd_raw"])
def test_a_strict_order_is_learned(name):
    """Early nodes are cited more often: an order that degrees tell, too, beyond which additive methods know nothing.

    HOPE and STRAP count ways, of which there are few either way for a node at the end; the mass of gravity is learned late.
    """
    rng = np.random.default_rng(0)
    arcs = np.array([(i, j) for i in range(160) for j in range(i // 3) if rng.random() < 0.3])
    split = split_links(arcs)
    found = METHODS[name](Sight.of(split), seed=0, **quick(name)).scores(split.test)
    assert found["direction"] > {"hope": 70, "strap": 75, "gravity": 75}.get(name, 95), found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "least"), [("strap", 90), ("digae_identity", 90), ("bilinear", 85), ("iqe", 70), ("randers", 70)]
)
def test_an_order_that_degrees_do_not_tell_is_learned(name, least):
    split = split_links(ordered(160))
    found = METHODS[name](Sight.of(split), seed=0, **quick(name)).scores(split.test)
    assert found["direction"] > least, found
    degrees = METHODS["degree_regression"](Sight.of(split), seed=0).scores(split.test)
    assert degrees["direction"] < 60, degrees


def turned_at_random(arcs, seed):
    """The same pairs of nodes, each with a direction that a coin decides."""
    pairs = np.unique(np.sort(arcs, axis=1), axis=0)
    return np.where(np.random.default_rng(seed).random(len(pairs))[:, None] < 0.5, pairs, pairs[:, ::-1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["degree_regression", "hope", "strap", "digae"])
def test_directions_of_grqc_that_a_coin_decided_cannot_be_told(name):
    """Collaborations have no direction. The mean of four orientations has a standard error of .6 (8,700 pairs in all)."""
    with np.load(real_file("graphs/grqc.npz")) as file:
        arcs = np.column_stack([file["src"], file["dst"]])
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    found = []
    for seed in range(4):
        split = split_links(turned_at_random(arcs, seed), random_state=seed)
        found.append(METHODS[name](Sight.of(split), seed=seed, **quick(name)).scores(split.test)["direction"])
    assert np.mean(found) == pytest.approx(50, abs=2), found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WITHOUT_FEATURES)
def test_directions_that_a_coin_decided_cannot_be_told(name):
    """4,000 pairs of a generated graph, of which 600 are asked in each of four orientations: a standard error of 1.2."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(80), 15)
    arcs = np.array(
        [(i, j) for i in range(1200) for j in rng.choice(np.flatnonzero(group == group[i]), 5) if i != j]
    )
    found = []
    for seed in range(4):
        split = split_links(turned_at_random(arcs, seed), random_state=seed)
        found.append(METHODS[name](Sight.of(split), seed=seed, **quick(name)).scores(split.test)["direction"])
    assert np.mean(found) == pytest.approx(50, abs=3), found


SEEDED = [
    "degree_mlp", "bilinear", "nerd", "nerd_raw", "nerd_readout", "digae", "digae_identity", "sdgae", "gravity", "odin",
    "odin_readout", "duplex", "duplex_leak", "magnet", "digcn", "digcn_ib", "iqe", "randers", "euclidean",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SEEDED)
def test_the_same_seed_gives_the_same_scores(name):
    split = split_links(ordered(60))
    pairs = np.random.default_rng(0).integers(0, split.n_nodes, size=(30, 2))
    settings = quick(name)
    settings = {**settings, **({} if name.startswith("nerd") or "epochs" not in settings else {"epochs": 5})}
    found = [
        METHODS[name](Sight.of(split, leak=METHODS[name].leaks), seed=seed, **settings) for seed in (1, 1, 2)
    ]
    for task in ("direction", "existence"):
        first, again, other = (getattr(logits, task)(pairs) for logits in found)
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()


@pytest.mark.parametrize("task", ["direction", "existence"])
def test_training_pairs_come_from_observed_arcs(task):
    arcs = np.concatenate([ordered(), [[5, 0], [119, 0]]])
    sight = Sight.of(split_links(np.unique(arcs, axis=0)))
    examples = training_pairs(sight, task, np.random.default_rng(0))
    seen = {tuple(a) for a in sight.arcs.tolist()}
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
        assert sum(p[::-1] in seen for p in negatives) == len(seen) // 3


def test_non_arcs_are_none():
    sight = Sight.of(split_links(ordered(40)))
    drawn = sight.non_arcs(500, np.random.default_rng(0), either_way=True)
    assert len(drawn) == 500
    assert not sight.observed.contains(drawn).any()
    assert not sight.observed.contains(drawn[:, ::-1]).any()
    assert (drawn[:, 0] != drawn[:, 1]).all()


def test_the_watch_keeps_the_best_epoch_of_each_task():
    split = split_links(ordered(40))
    task = split.validation.direction
    way = {tuple(p): s for p, s in zip(task.pairs.tolist(), task.labels, strict=True)}
    good = lambda pairs: np.array([1.0 if way.get(tuple(p)) else 0.0 for p in pairs.tolist()])  # noqa: E731
    watch = Watch(split.validation, patience=10)
    watch.see(5, lambda pairs: np.zeros(len(pairs)))
    watch.see(10, good)
    watch.see(15, lambda pairs: -good(pairs))
    assert watch.logits().direction is good
    assert not watch.done
    watch.see(20, lambda pairs: np.zeros(len(pairs)))
    assert watch.done


SMALL = np.array([(0, 1), (0, 2), (1, 2), (2, 0), (3, 1), (4, 3), (4, 5), (5, 0)])


def test_digae_propagation_against_a_loop():
    A = np.zeros((6, 6))
    A[tuple(SMALL.T)] = 1
    loops = A + np.eye(6)
    out, into = loops.sum(1), loops.sum(0)
    to_source, to_target = propagation(sp.csr_array(A), 0.4, 0.2)
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    expected = np.zeros((2, 6, 3))
    for i in range(6):
        for j in range(6):
            expected[0, i] += out[i] ** -0.4 * loops[i, j] * into[j] ** -0.2 * x[j]
            expected[1, i] += into[i] ** -0.4 * loops[j, i] * out[j] ** -0.2 * x[j]
    given = torch.tensor(x, requires_grad=True)
    np.testing.assert_allclose(to_source(given).detach(), expected[0], rtol=1e-5)
    np.testing.assert_allclose(to_target(given).detach(), expected[1], rtol=1e-5)
    to_source(given).square().sum().backward()
    dense = np.diag(out**-0.4) @ loops @ np.diag(into**-0.2)
    np.testing.assert_allclose(given.grad, 2 * dense.T @ (dense @ x), rtol=1e-4)


def test_nerd_walks_alternate_along_arcs():
    out = sp.csr_array((np.ones(len(SMALL)), tuple(SMALL.T)), shape=(6, 6))
    back = sp.csr_array(out.T)
    arcs = {tuple(a) for a in SMALL.tolist()}
    walk, rng = np.zeros(8, dtype=np.int64), np.random.default_rng(0)
    for role in (0, 1):
        for _ in range(50):
            start = SMALL[rng.integers(len(SMALL)), role]
            nerd.draw_walk(start, role, 4, out.indptr, out.indices, back.indptr, back.indices, walk)
            for k in range(7):
                step = (int(walk[k]), int(walk[k + 1]))
                step = step if (k % 2 == 0) == (role == 0) else step[::-1]
                assert step in arcs


def test_negatives_of_nerd_follow_degrees_to_the_three_quarters(monkeypatch):
    """With targets as contexts by in-degrees, with sources by out-degrees; Python runs what numba compiles."""
    arcs = np.concatenate([SMALL, [(k, 1) for k in (2, 4, 5)]])
    sight = Sight(6, np.unique(arcs, axis=0), None)
    drawn = {True: np.zeros(6), False: np.zeros(6)}
    at = {}
    plain = {name: getattr(nerd, name).py_func for name in ("_learn", "draw_node", "_train")}

    def learn(u, context, *rest):
        at["targets"] = np.shares_memory(context, at["target"])
        plain["_learn"](u, context, *rest)

    def draw_node(cumulative):
        node = plain["draw_node"](cumulative)
        drawn[at["targets"]][node] += 1
        return node

    def train(source, target, *rest):
        at["target"] = target
        plain["_train"](source, target, *rest)

    for name, function in (("_learn", learn), ("draw_node", draw_node), ("_train", train)):
        monkeypatch.setattr(nerd, name, function)
    nerd.vectors(sight, dim=2, n_walks=2500, walk_size=2, negatives=3, joint=True, learning_rate=0.01, seed=0)
    for targets, degree in ((True, sight.in_degree), (False, sight.out_degree)):
        assert drawn[targets].sum() > 5000
        expected = np.array([int(d) ** 0.75 for d in degree])
        np.testing.assert_allclose(
            drawn[targets] / drawn[targets].sum(), expected / expected.sum(), atol=0.02
        )


def test_odin_masks_for_greater_and_smaller_negatives():
    degree = np.array([5, 1, 3, 0, 8, 1])
    sampler = odin.DegreeSampler(degree)
    rng = np.random.default_rng(0)
    nodes = np.repeat(np.arange(6), 100)
    for greater in (True, False):
        drawn = sampler.draw(nodes, np.full(len(nodes), greater), rng)
        possible = np.array([(degree > d).any() if greater else (degree < d).any() for d in degree[nodes]])
        right = degree[drawn] > degree[nodes] if greater else degree[drawn] < degree[nodes]
        assert right[possible].all()
        assert (degree[drawn] != degree[nodes]).all()


def test_the_loss_of_odin_against_loops():
    """Interest, authority and hub are 0, 1 and 2; targets are compared by their authority, sources by their hub."""
    sight = Sight(6, SMALL, None)
    samplers = [odin.DegreeSampler(degree) for degree in (sight.in_degree, sight.out_degree)]
    tables = [torch.tensor(x) for x in np.random.default_rng(0).normal(size=(2, 6, 3, 4))]
    k, weight = 4, 0.5
    found = odin.loss(tables, sight, SMALL, samplers, k, weight, np.random.default_rng(7))
    rng = np.random.default_rng(7)  # the same negatives once more: targets first, then sources
    targets = odin.negatives(sight, SMALL, 1, samplers[0], k, rng).reshape(-1, k)
    sources = odin.negatives(sight, SMALL, 0, samplers[1], k, rng).reshape(-1, k)
    s, t = (table.numpy() for table in tables)
    y = lambda i, j, f: float(s[i, f] @ t[j, f])  # noqa: E731
    whole = lambda i, j: y(i, j, 0) + y(i, j, 1) + y(i, j, 2)  # noqa: E731
    cost = lambda x: np.log1p(np.exp(-x))  # noqa: E731
    into, out = ([int((SMALL[:, end] == node).sum()) for node in range(6)] for end in (1, 0))
    expected, sides = 0.0, {"greater": 0, "smaller": 0}
    for a, (i, j) in enumerate(SMALL.tolist()):
        for n in targets[a].tolist():
            part = cost(whole(i, j) - whole(i, n))
            if into[n] < into[j]:
                part += weight * cost(y(i, j, 1) - y(i, n, 1))
            elif into[n] > into[j]:
                part += weight * cost(y(i, n, 1) - y(i, j, 1))
                part += weight * (cost(y(i, j, 0) - y(i, n, 0)) + cost(y(i, j, 2) - y(i, n, 2)))
            expected += part / targets.size
            sides["greater" if into[n] > into[j] else "smaller"] += 1
        for n in sources[a].tolist():
            part = cost(whole(i, j) - whole(n, j))
            if out[n] < out[i]:
                part += weight * cost(y(i, j, 2) - y(n, j, 2))
            elif out[n] > out[i]:
                part += weight * cost(y(n, j, 2) - y(i, j, 2))
                part += weight * (cost(y(i, j, 0) - y(n, j, 0)) + cost(y(i, j, 1) - y(n, j, 1)))
            expected += part / sources.size
            sides["greater" if out[n] > out[i] else "smaller"] += 1
    assert min(sides.values()) > 10
    assert float(found) == pytest.approx(expected, rel=1e-6)


def test_duplex_attention_signs_and_products_against_loops():
    arcs = np.array([(0, 1), (1, 0), (2, 1), (3, 2)])
    messages = duplex.Messages(arcs, 4)
    torch.manual_seed(0)
    layer = duplex.Attention(3, 5)
    x = torch.randn(4, 3)
    found = layer(x, messages, messages.phase).detach().numpy()
    h = (x @ layer.map.weight.T).detach().numpy()
    left, right, bias = (p.detach().numpy() for p in (layer.left, layer.right, layer.bias))
    edges = [(i, j, 1.0) for i, j in arcs] + [(j, i, -1.0) for i, j in arcs] + [(i, i, 1.0) for i in range(4)]
    for j in range(4):
        into = [(i, w) for i, to, w in edges if to == j]
        e = np.array([left @ h[i] + right @ h[j] for i, _ in into])
        e = np.exp(np.where(e > 0, e, 0.2 * e))
        expected = sum(s / e.sum() * w * h[i] for s, (i, w) in zip(e, into, strict=True)) + bias
        np.testing.assert_allclose(found[j], expected, rtol=1e-4, atol=1e-5)
    # A reciprocal pair cancels in the phase: 1 receives 0 with +1 and with -1, at the same share.
    a, theta = np.abs(np.random.default_rng(0).normal(size=(2, 4, 6)))
    pairs = np.array([(0, 1), (2, 3), (1, 3)])
    R, imaginary, C = duplex.products(torch.tensor(a), torch.tensor(theta), torch.tensor(pairs))
    for k, (i, j) in enumerate(pairs):
        z = (a[i] * np.exp(1j * theta[i]) * np.conj(a[j] * np.exp(1j * theta[j]))).sum()
        assert R[k] == pytest.approx(z.real)
        assert imaginary[k] == pytest.approx(z.imag)
        assert C[k] == pytest.approx(a[i] @ a[j])
    places = [torch.tensor(x, requires_grad=True) for x in (a, theta, a)]
    assert torch.autograd.gradcheck(duplex.PairProducts.apply, (*places, torch.tensor(pairs)))
    forward, backward = duplex.logit_of(a, theta, pairs), duplex.logit_of(a, theta, pairs[:, ::-1])
    assert (np.sign(forward - backward) == np.sign(imaginary.numpy())).all()


def test_duplex_attention_has_the_gradients_of_finite_differences():
    rng = np.random.default_rng(0)
    messages = duplex.Messages(np.array([(0, 1), (1, 0), (2, 1), (3, 2), (0, 3)]), 4)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in ((4, 5), (4,), (4,))]
    given = rng.normal(size=(4, 5)).astype(np.float32)

    def total(values):
        tensors = [torch.tensor(v, requires_grad=True) for v in values]
        out = (duplex.Attend.apply(*tensors, messages, messages.phase) * torch.tensor(given)).sum()
        return out, tensors

    out, tensors = total(arrays)
    out.backward()
    for k, tensor in enumerate(tensors):
        for at in np.ndindex(arrays[k].shape):
            ends = []
            for step in (1e-2, -1e-2):
                moved = [v.copy() for v in arrays]
                moved[k][at] += step
                ends.append(total(moved)[0].item())
            assert tensor.grad[at] == pytest.approx((ends[0] - ends[1]) / 2e-2, abs=5e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["magnet", "digcn"])
def test_sparse_products_are_the_messages_of_the_package(name):
    package = pytest.importorskip("torch_geometric_signed_directed.nn.directed")
    sight = Sight.of(split_links(ordered(40)))
    X, arcs = torch.as_tensor(sight.log_degrees), torch.as_tensor(np.ascontiguousarray(sight.arcs.T))
    pairs = torch.randint(0, 40, (50, 2), generator=torch.Generator().manual_seed(1))
    strength = torch.rand(arcs.shape[1], generator=torch.Generator().manual_seed(2))
    found = []
    for change in (lambda model: model, spectral.by_products):
        torch.manual_seed(0)
        if name == "magnet":
            model = change(
                package.MagNet_link_prediction(num_features=2, hidden=4, q=0.2, label_dim=2, cached=True)
            )
            out = model.eval()(X, -X, arcs, pairs)
        else:
            model = change(package.DiGCN_link_prediction(num_features=2, hidden=4, label_dim=2))
            out = model.eval()(X, arcs, pairs, strength)
        out[:, 0].sum().backward()
        found.append(
            [out.detach().numpy(), *(p.grad.numpy() for p in model.parameters() if p.grad is not None)]
        )
    assert len(found[0]) == len(found[1]) > 2
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_interval_distance_against_a_loop():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 12))

    def length(a, b):
        ends = sorted((s, e) for s, e in zip(a, np.maximum(a, b), strict=True) if e > s)
        total, reached = 0.0, -np.inf
        for s, e in ends:
            total += max(0.0, e - max(s, reached))
            reached = max(reached, e)
        return total

    expected = np.array(
        [[length(a[k : k + 4], b[k : k + 4]) for k in (0, 4, 8)] for a, b in zip(x, y, strict=True)]
    )
    shaped = [torch.tensor(v).reshape(30, 3, 4) for v in (x, np.maximum(x, y))]
    np.testing.assert_allclose(union_length(*shaped), expected, atol=1e-12)
    z = rng.normal(size=(30, 12))
    d = lambda a, b: interval_distance(torch.tensor(a), torch.tensor(b), 3, torch.zeros(()))  # noqa: E731
    assert (d(x, z) <= d(x, y) + d(y, z) + 1e-12).all()
    assert float(d(x, x).abs().max()) == 0
    assert not np.allclose(d(x, y), d(y, x))


def test_the_partner_of_the_interval_distance_has_the_distance_of_our_model(monkeypatch):
    """Everything else is the same: encoders, as they start, too. Without a drift the distance is Euclidean."""
    sight, asked = Sight.of(split_links(ordered(40))), {}

    class Spy(distances.LinkModel):
        def __init__(self, encoder, decoder):
            super().__init__(encoder, decoder)
            weights = [p.detach().clone() for p in encoder.parameters()]
            asked.setdefault(name, []).append((weights, decoder))

    monkeypatch.setattr(distances, "LinkModel", Spy)
    for name in ("iqe", "randers", "euclidean"):
        METHODS[name](sight, seed=0, epochs=2)
    for one, two, three in zip(*asked.values(), strict=True):
        for weights in zip(one[0], two[0], three[0], strict=True):
            assert all(torch.equal(weights[0], other) for other in weights[1:])
        assert type(one[1]) is distances.IntervalDecoder
        assert type(two[1]) is type(three[1]) is distances.FermiDirac
        assert two[1].raw_alpha.requires_grad
        assert float(two[1].alpha().detach()) != 0
        assert float(three[1].alpha().detach()) == 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["magnet", "digcn"])
def test_additive_networks_are_additive(name):
    package = pytest.importorskip("torch_geometric_signed_directed.nn.directed")
    sight = Sight.of(split_links(ordered(40)))
    X, arcs = torch.as_tensor(sight.log_degrees), torch.as_tensor(np.ascontiguousarray(sight.arcs.T))
    torch.manual_seed(0)
    if name == "magnet":
        model = package.MagNet_link_prediction(
            num_features=2, hidden=4, q=0.25, label_dim=2, dropout=0.5, cached=True
        )
        forward = lambda pairs: model(X, X, arcs, pairs)  # noqa: E731
    else:
        model = package.DiGCN_link_prediction(num_features=2, hidden=4, label_dim=2)
        forward = lambda pairs: model(X, arcs, pairs, torch.ones(arcs.shape[1]))  # noqa: E731
    model.eval()
    pairs = np.random.default_rng(0).integers(0, 40, size=(50, 2))
    with torch.no_grad():
        chance = forward(torch.as_tensor(pairs))
        found = spectral.additive_logit(forward, 40)(pairs)
    np.testing.assert_allclose(found, (chance[:, 1] - chance[:, 0]).numpy(), atol=1e-4)


def test_a_missing_package_is_named(monkeypatch):
    def without(name, *arguments):
        raise ImportError(name)

    monkeypatch.setattr(spectral, "import_module", without)
    with pytest.raises(ImportError, match="pip install 'torch-geometric-signed-directed"):
        spectral.magnet(Sight.of(split_links(ordered(40))))


def test_logits_take_direction_and_existence_from_their_own_epochs():
    split = split_links(ordered(40))
    down = lambda pairs: (pairs[:, 1] - pairs[:, 0]).astype(float)  # noqa: E731
    found = Logits(down, lambda pairs: np.zeros(len(pairs))).scores(split.test)
    assert found["direction"] == 100
    assert found["existence_random"] == 50
