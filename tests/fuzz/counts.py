"""How many cases were tried, by class and by how they ended; printed at the end of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

COUNTS: dict[str, Counter[str]] = defaultdict(Counter)


def counted(kind: str, ends: str | Mapping[str, int]) -> None:
    """Note how a case of some kind ended, or several."""
    COUNTS[kind].update([ends] if isinstance(ends, str) else ends)


def table() -> list[str]:
    """Lines that tell the counts."""
    lines = [
        f"{kind:<28} {sum(ends.values()):>9,}  "
        + ", ".join(f"{end} {n:,}" for end, n in sorted(ends.items()))
        for kind, ends in sorted(COUNTS.items())
    ]
    total = sum(sum(ends.values()) for ends in COUNTS.values())
    return [*lines, f"{'all cases':<28} {total:>9,}"]
