"""Random cases of everything in `fuzz.cases`: few by default, many with ``make fuzz``."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.cases import CHECKS, COSTLY
from fuzz.conftest import EXAMPLES
from fuzz.counts import counted

QUICK = 20  # cases of a kind without `FINSLER_FUZZ`


@pytest.mark.parametrize("kind", CHECKS)
def test_random_cases(kind):
    examples = max(5, round((EXAMPLES or QUICK) * COSTLY.get(kind, 1.0)))

    @settings(
        max_examples=examples, derandomize=not EXAMPLES, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.integers(0, 2**62))
    def tried(seed):
        counted(kind, CHECKS[kind](seed))

    tried()


def test_failures_are_seen(monkeypatch):
    """The checks can fail: a solver that is off by one part in a million is caught."""
    import fuzz.cases as cases

    honest = cases.raw_stress
    monkeypatch.setattr(
        cases, "raw_stress", lambda *args, **options: honest(*args, **options) * (1 + 1e-3) + 1e-6
    )
    with pytest.raises(AssertionError):
        [cases.stress(seed) for seed in range(5)]
