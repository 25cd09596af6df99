"""Many cases in a row, without stopping at the first that fails: ``python tests/fuzz/campaign.py --cases 200000``.

Prints how many of each kind ended how, and the numbers of those that failed; ``--only kind --first number --cases 1``
repeats one.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.cases import CHECKS, COSTLY
from fuzz.counts import counted, table


def run(kinds: list[str], first: int, cases: int, seconds: float) -> list[str]:
    """Try the kinds in turn; lines about the cases that failed."""
    began, failed = time.perf_counter(), []
    share = sum(COSTLY.get(kind, 1.0) for kind in kinds)
    turns = max(1, round(cases / share))
    for turn in range(turns):
        for kind in kinds:
            if len(kinds) > 1 and int(turn * COSTLY.get(kind, 1.0)) == int(
                (turn + 1) * COSTLY.get(kind, 1.0)
            ):
                continue
            try:
                counted(kind, CHECKS[kind](first + turn))
            except Exception as error:  # what is looked for; the others go on
                counted(kind, "FAILED")
                failed.append(f"{kind} {first + turn}: {type(error).__name__}: {str(error)[:300]}")
        if time.perf_counter() - began > seconds:
            print(
                f"The time was used up after {turn + 1:,} of {turns:,} turns; go on with --first {first + turn + 1}."
            )
            break
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--only", choices=sorted(CHECKS))
    options = parser.parse_args()
    failed = run(
        [options.only] if options.only else list(CHECKS), options.first, options.cases, options.seconds
    )
    print(*table(), sep="\n")
    print(*failed[:200], sep="\n")
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
