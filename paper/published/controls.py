"""Controls: what degrees alone give, and the two classical factorizations of proximity, HOPE and STRAP."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from published.sight import Array, Logit, Logits, Sight, Watch, linear_readout, product_logit, training_pairs


def degree_regression(sight: Sight, *, seed: int = 0) -> Logits:
    """Logistic regression on the logarithms of the degrees of both ends."""
    return linear_readout(sight.log_degrees, sight.log_degrees, sight, seed)


def degree_mlp(sight: Sight, *, seed: int = 0, width: int = 64) -> Logits:
    """Two hidden layers on the degrees of both ends: the control that unmasks methods which only know degrees."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    D = sight.log_degrees
    found: dict[str, Logit] = {}
    for task in ("direction", "existence"):
        examples = training_pairs(sight, task, np.random.default_rng(seed))  # type: ignore[arg-type]
        scale = StandardScaler()
        X = scale.fit_transform(np.hstack([D[examples.pairs[:, 0]], D[examples.pairs[:, 1]]]))
        model = MLPClassifier((width, width), early_stopping=True, random_state=seed, max_iter=100)
        model.fit(X, examples.labels)

        def logit(pairs: Array, model: Any = model, scale: Any = scale) -> Array:
            chance = model.predict_log_proba(scale.transform(np.hstack([D[pairs[:, 0]], D[pairs[:, 1]]])))
            return chance[:, 1] - chance[:, 0]

        found[task] = logit
    return Logits(**found)


def hope(sight: Sight, *, seed: int = 0, decay: float = 0.5, dim: int = 64, terms: int = 12) -> Logits:
    """HOPE (Ou et al., 2016): singular vectors of the Katz matrix, sum over k of (beta A)^k, score s_i . t_j.

    beta is `decay` over the largest singular value of A, so that the sum converges.
    """
    A = sparse.csr_array(sight.adjacency, dtype=float)
    n, rng = sight.n_nodes, np.random.default_rng(seed)
    top = svds(A, k=1, return_singular_vectors=False, v0=rng.normal(size=n))[0]
    beta = decay / max(float(top), 1e-12)

    def applied(M: Any) -> Any:
        def multiply(x: Array) -> Array:
            total, power = np.zeros(n), x.ravel()
            for _ in range(terms):
                power = beta * (M @ power)
                total = total + power
            return total

        return multiply

    katz = LinearOperator((n, n), matvec=applied(A), rmatvec=applied(sparse.csr_array(A.T)), dtype=float)
    source, target = _factors(katz, dim, n, rng)
    return _product(source, target, sight)


def strap(
    sight: Sight,
    *,
    seed: int = 0,
    dim: int = 64,
    decay: float = 0.5,
    threshold: float = 1e-5,
    steps: int = 12,
) -> Logits:
    """STRAP (Yin and Wei, 2019): singular vectors of log(PPR(A) + PPR(A')' over the threshold), score s_i . t_j.

    Personalized PageRank is summed over the steps of walks; entries below the threshold are dropped on the way.
    """
    A = sparse.csr_array(sight.adjacency, dtype=float)
    reached = _pagerank(A, decay, threshold, steps) + sparse.csr_array(
        _pagerank(sparse.csr_array(A.T), decay, threshold, steps).T
    )
    reached.data = np.log(np.maximum(reached.data / (threshold / 2), 1.0))
    source, target = _factors(reached, dim, sight.n_nodes, np.random.default_rng(seed))
    return _product(source, target, sight)


def _pagerank(A: Any, decay: float, threshold: float, steps: int) -> Any:
    n = A.shape[0]
    degree = np.maximum(A.sum(axis=1), 1)
    walk = sparse.csr_array(sparse.diags_array(1 / degree) @ A)
    step = sparse.csr_array(sparse.eye_array(n) * (1 - decay))
    total = step.copy()
    for _ in range(steps):
        step = sparse.csr_array(decay * (step @ walk))
        step.data[step.data < threshold] = 0
        step.eliminate_zeros()
        total = sparse.csr_array(total + step)
    return total


def _factors(M: Any, dim: int, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    U, s, Vt = svds(M, k=min(dim, n - 2), v0=rng.normal(size=n))
    root = np.sqrt(s)
    return U * root, Vt.T * root


def _product(source: Array, target: Array, sight: Sight) -> Logits:
    watch = Watch(sight.validation, patience=1)
    watch.see(0, product_logit(source, target))
    return watch.logits()
